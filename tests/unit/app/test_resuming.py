"""What is said of a call that was cut off with the agent."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from detent.app.resuming import outcome_of
from detent.context.project import project
from detent.context.unfinished import unfinished
from detent.host.notes import Line
from detent.types.content import Call, Text
from detent.types.effects import Effect, Reads, Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied, Rewound
from detent.types.files import FileState
from detent.types.outcomes import INTERRUPTED, Cut, done, text_of
from detent.types.usage import Usage
from detent.types.verdicts import Allow


def started(call: str = "c1", name: str = "Write", *effects: Effect, **more: Any) -> CallStarted:
    given: dict[str, Any] = {"arguments": "{}", "verdict": Allow("x"), **more}
    return CallStarted(call_id=call, name=name, effects=effects, **given)


def replied(*calls: str) -> Replied:
    content = tuple(Call(call, "Bash", "{}") for call in calls) or (Text("said"),)
    return Replied(turn=1, step=1, model="m", content=content, stop="tool_use", usage=Usage())


def ended(call: str) -> CallEnded:
    return CallEnded(call_id=call, name="Bash", outcome=done("ok"))


def numbered(*entries: Any) -> list[Entry]:
    from msgspec.structs import replace

    return [replace(entry, seq=number) for number, entry in enumerate(entries, 1)]


PROMPT = Prompted(turn=1, content=(Text("go"),))


@pytest.mark.parametrize(
    ("entries", "left"),
    [
        ((PROMPT, started("a"), replied("a")), ["a"]),
        ((PROMPT, replied("a", "b"), started("a"), started("b"), ended("a")), ["b"]),
        ((PROMPT, started("a")), ["a"]),
        ((PROMPT, replied("a"), started("a"), ended("a")), []),
        ((PROMPT, replied("a"), started("a"), PROMPT, replied()), []),
        ((PROMPT, replied("a"), started("a"), Rewound(to=1)), []),
    ],
)
def test_which_calls_are_unfinished(entries: tuple[Entry, ...], left: list[str]) -> None:
    assert [one.call_id for one in unfinished(numbered(*entries))] == left


def kept(path: Path, text: str) -> dict[str, FileState]:
    data = text.encode()
    path.write_bytes(data)
    path.chmod(0o644)
    return {str(path): FileState("file", 0o644, len(data), sha256(data).hexdigest())}


def said(call: CallStarted, notes: dict[str, Line] | None = None, *folders: Path) -> str:
    outcome = outcome_of(call, notes or {}, [str(folder) for folder in folders])
    assert isinstance(outcome, Cut)
    return outcome.reason


def test_a_file_that_is_as_before(tmp_path: Path) -> None:
    path = tmp_path / "a"
    call = started("c1", "Write", Writes(str(path)), kept=kept(path, "old"))
    assert f"{path} is unchanged: it did not take effect." in said(call)


@pytest.mark.parametrize("how", ["other", "mode", "gone"])
def test_a_file_that_has_changed(tmp_path: Path, how: str) -> None:
    path = tmp_path / "a"
    call = started("c1", "Write", Writes(str(path)), kept=kept(path, "old"))
    if how == "other":
        path.write_text("new")  # of the same length
    elif how == "mode":
        path.chmod(0o600)
    else:
        path.unlink()
    assert f"{path} has changed since: it has probably taken effect." in said(call)


def test_a_file_that_was_to_be_made(tmp_path: Path) -> None:
    path = tmp_path / "new"
    call = started("c1", "Write", Writes(str(path)), kept={str(path): FileState()})
    assert "is unchanged" in said(call)
    path.write_text("x")
    assert "has changed since" in said(call)


def test_one_that_only_reads_may_be_repeated() -> None:
    assert "repeat it if you still need it" in said(started("c1", "Read", Reads("/a")))


def test_one_of_which_nothing_is_known() -> None:
    assert said(started("c1", "mcp__x", Runs("x"))) == INTERRUPTED


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Line(began=1.0, ended="itself", code=3), "had come to its end (Exit code 3)"),
        (Line(began=1.0, ended="gone", code=-15), "was ended with the agent (Killed by SIGTERM)"),
        (Line(began=1.0, sandbox="bwrap"), "was ended with the agent."),
        (Line(began=1.0), "had been started; how it ended is not known"),
        (Line(began=1.0, ended="failed", code=2), "could not be started"),
        (Line(began=1.0, ended="asked", code=-15), "was being ended"),
        (Line(), "no sign that the command was started"),
    ],
)
def test_what_was_noted_of_a_command(line: Line, text: str) -> None:
    assert text in said(started("c1", "Bash", Runs("x")), {"c1": line})


def test_without_notes_it_may_have_run(tmp_path: Path) -> None:
    call = started("c1", "Bash", Runs("x"))
    assert "may have run" in said(call, {}, tmp_path)
    (tmp_path / "commands.jsonl").write_text("")
    assert "no sign" in said(call, {}, tmp_path)


def test_a_job_in_the_background_went_with_the_agent() -> None:
    call = started("c1", "Bash", Runs("x"), arguments=json.dumps({"run_in_background": True}))
    assert "was ended with the agent" in said(call)


def test_the_file_with_its_output_is_named(tmp_path: Path) -> None:
    (tmp_path / "Bash-c1.txt").write_text("1")
    told = said(started("c1", "Bash", Runs("x")), {"c1": Line(began=1.0, ended="gone")}, tmp_path)
    assert f"What it had printed is in {tmp_path / 'Bash-c1.txt'}." in told


def test_a_lost_answer_is_told_with_the_outcome_of_its_call() -> None:
    entries = numbered(PROMPT, started("a", "Bash"), ended("a"), PROMPT)
    told = str(project(entries))
    assert "was lost after its call Bash {} had begun. It came to: ok]" in told
    bare = str(project(numbered(PROMPT, started("a", "Bash"), PROMPT)))
    assert "had begun: it may have run]" in bare


def test_a_repaired_log_reads_the_same_ever_after() -> None:
    entries = numbered(PROMPT, replied("a"), started("a", "Bash"))
    assert [one.call_id for one in unfinished(entries)] == ["a"]
    mended = [*entries, *numbered(CallEnded(call_id="a", name="Bash", outcome=Cut("x")))]
    assert unfinished(mended) == []
    assert "[x]" in str(project(mended)) and text_of(Cut("x")) == "[x]"
