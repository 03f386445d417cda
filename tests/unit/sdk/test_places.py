"""Between the judgement and the opening of a file nobody can bend its name elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sdkbench import Settings, run

from detent.ports import Answer, Question
from detent.sdk.query import run as run_once
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.effects import Reads, Writes
from detent.types.outcomes import Done, Failed, Outcome, text_of


class Bending:
    """Says yes, and uses the time."""

    def __init__(self, bend: Callable[[], object]) -> None:
        self._bend = bend
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        self._bend()
        return Answer(True)


def outcome_of(settings: Settings, approver: Bending, tool: str, **arguments: str) -> Outcome:
    async def body() -> Outcome:
        model = ScriptedModel(reply(call(tool, arguments)), "done")
        summary = await run_once("go", settings(model, approver=approver))
        return summary.tool_results[0].outcome

    outcome: Outcome = run(body)
    return outcome


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "a.txt").write_text("secret")
    return folder


def test_the_file_that_was_judged_is_written_though_the_link_leads_elsewhere_now(
    settings: Settings, outside: Path
) -> None:
    link = settings.cwd / "link.txt"
    link.symlink_to("here.txt")

    def bend() -> None:
        link.unlink()
        link.symlink_to(outside / "a.txt")

    approver = Bending(bend)
    written = outcome_of(settings, approver, "Write", file_path=str(link), content="new")
    assert isinstance(written, Done)
    assert (settings.cwd / "here.txt").read_text() == "new"
    assert (outside / "a.txt").read_text() == "secret"
    effects = approver.asked[0].proposal.effects
    assert effects == (Writes(str(link)), Writes(str(settings.cwd / "here.txt")))


def test_a_folder_that_became_a_link_meanwhile_is_not_entered(
    settings: Settings, outside: Path
) -> None:
    folder = settings.cwd / "docs"
    folder.mkdir()

    def bend() -> None:
        folder.rmdir()
        folder.symlink_to(outside)

    written = outcome_of(
        settings, Bending(bend), "Write", file_path=str(folder / "b.txt"), content="new"
    )
    assert isinstance(written, Failed)
    assert "a link has come to stand in its way" in text_of(written)
    assert [path.name for path in outside.iterdir()] == ["a.txt"]


def test_reading_as_well(settings: Settings, outside: Path) -> None:
    notes = outside / "notes.txt"
    notes.write_text("notes")

    def bend() -> None:
        notes.unlink()
        notes.symlink_to(outside / "a.txt")

    approver = Bending(bend)
    seen = outcome_of(settings, approver, "Read", file_path=str(notes))
    assert isinstance(seen, Failed) and "secret" not in text_of(seen)
    assert approver.asked[0].proposal.effects == (Reads(str(notes)),)
