"""What a model reads instead of the older conversation, whole, as on file.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/context/test_summary_snapshots.py` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.context.compact.boundary import boundary_of
from detent.context.compact.contract import restored
from detent.context.compact.local import summary_of
from detent.context.compact.summary import Summary, render
from detent.types.content import Call, Text
from detent.types.effects import Effect, Reads, Runs, Writes
from detent.types.events import CallEnded, CallStarted, Compacted, Entry, Prompted, Replied
from detent.types.outcomes import Done, Failed, Outcome, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

SNAPSHOTS = Path(__file__).parents[2] / "requests" / "summaries"


class Talk:
    """A session, written down."""

    def __init__(self) -> None:
        self.log: list[Entry] = []
        self._turn = self._calls = 0

    def add(self, entry: Entry) -> None:
        self.log.append(replace(entry, seq=len(self.log) + 1))

    def says(self, text: str) -> None:
        self._turn += 1
        self.add(Prompted(turn=self._turn, content=(Text(text),)))

    def answers(self, text: str, *calls: tuple[str, Effect | None, Outcome]) -> None:
        ids = [f"c{self._calls + n}" for n in range(len(calls))]
        self._calls += len(calls)
        named = [Call(one, name, "{}") for one, (name, _, _) in zip(ids, calls, strict=True)]
        content: Any = (Text(text), *named) if text else tuple(named)
        self.add(
            Replied(turn=self._turn, step=1, model="m", content=content, stop="", usage=Usage())
        )
        for one, (name, effect, outcome) in zip(ids, calls, strict=True):
            effects = (effect,) if effect else ()
            self.add(CallStarted(call_id=one, name=name, arguments="{}", effects=effects,
                                 verdict=Allow("t")))  # fmt: skip
            self.add(CallEnded(call_id=one, name=name, outcome=outcome))

    def compacts(self, model: Summary | None = None, keep: int = 4) -> str:
        boundary = boundary_of(self.log, keep)
        assert boundary is not None
        text = render(model) if model else summary_of(boundary, self.log)
        whole = restored(text, self.log, boundary.kept)
        self.add(
            Compacted(
                summary=whole.text,
                keeps_from=boundary.keeps_from,
                keeps=boundary.keeps,
                depth=boundary.depth,
                lineage=boundary.lineage,
            )
        )
        return whole.text


def read(path: str) -> tuple[str, Effect, Outcome]:
    return "Read", Reads(path), done("1\timport decimal\n" * 40)


def edit(path: str) -> tuple[str, Effect, Outcome]:
    return "Edit", Writes(path), done(f"{path} was changed")


def bash(command: str, text: str = "", code: int = 0) -> tuple[str, Effect, Outcome]:
    outcome: Outcome = Failed(text, {"exitCode": code}) if code else done(text or "ok")
    return "Bash", Runs(command), outcome


def todos(*items: tuple[str, str]) -> tuple[str, None, Outcome]:
    listed = [{"content": content, "status": status} for content, status in items]
    return "TodoWrite", None, Done((Text("kept"),), {"newTodos": listed})


RED = """F...
FAILED tests/test_rates.py::test_half - assert Decimal('0.12') == Decimal('0.13')
1 failed, 3 passed"""


def coding() -> Talk:
    talk = Talk()
    talk.says(
        "The invoice totals in `src/rates.py` are off by a cent. Make tests/test_rates.py pass. "
        "Never change the tests, and keep `round_half` public. The customer is ACME-4711."
    )
    talk.answers(
        "I'll look at the code first.", read("/p/src/rates.py"), read("/p/tests/test_rates.py")
    )
    talk.answers("", bash("pytest -q tests/test_rates.py", RED, 1))
    talk.answers(
        "Rounding is half-even. I decided to use ROUND_HALF_UP instead of floats.",
        todos(
            ("Round half up", "in_progress"),
            ("Run all tests", "pending"),
            ("Read the code", "completed"),
        ),
    )
    talk.answers("", edit("/p/src/rates.py"))
    talk.answers("Next: run the tests again.", bash("pytest -q tests/test_rates.py", RED, 1))
    talk.answers("", bash("ruff check src"))
    talk.answers("The table is rounded as well.", read("/p/src/table.py"), edit("/p/src/table.py"))
    talk.answers("", bash("git diff --stat", " src/rates.py | 4 +-"))
    talk.answers("Still red; the quantum is wrong.", read("/p/src/quantum.py"))
    return talk


def chats() -> Talk:
    talk = Talk()
    for question, answer in (
        ("What does `git bisect` do?", "It finds the commit that broke something by halving."),
        ("And how do I stop it?", "`git bisect reset` brings you back."),
        ("I prefer short answers without code blocks.", "Understood."),
        ("What is a worktree?", "A second checkout of the same repository."),
        (
            "Let's use worktrees for the release branch then.",
            "Good. `git worktree add ../rel release`.",
        ),
        ("ok thanks", "You are welcome."),
        ("Which branch did I say?", "The release branch."),
        ("How large is port 8443's backlog on host db-7?", "I cannot know that from here."),
        ("Then write down what to look for.", "`ss -ltn` shows it in Send-Q."),
    ):
        talk.says(question)
        talk.answers(answer)
    return talk


def resumed() -> Talk:
    talk = coding()
    talk.compacts()
    talk.answers("", edit("/p/src/quantum.py"), bash("pytest -q tests/test_rates.py"))
    talk.answers("All four tests pass now.")
    talk.says("Good. Now the docs: mention the rounding in README.md, at most two sentences.")
    talk.answers("", read("/p/README.md"))
    talk.answers("Remaining: the sentence itself.", bash("grep -n round README.md", "", 0))
    talk.answers("", edit("/p/README.md"))
    talk.answers("", bash("make docs", "make: *** [docs] Error 2", 2))
    return talk


TOLD = Summary(
    goal="Invoice totals are right to the cent; tests/test_rates.py passes.",
    constraints=("Never change the tests", "round_half stays public"),
    decisions=("ROUND_HALF_UP instead of floats",),
    failed_approaches=("Rounding only in rates.py: test_half stays red",),
    open_todos=("Round half up", "Run all tests"),
    files_touched=("src/rates.py: rounding", "src/table.py: the same"),
    last_request="make the tests pass",
    current_state="test_half still fails; src/quantum.py is being read.",
    next_step="Mend the quantum and run the tests.",
)
SITUATIONS = {
    "coding-local": lambda: coding().compacts(),
    "coding-by-the-model": lambda: coding().compacts(TOLD),
    "chats-local": lambda: chats().compacts(),
    "resumed-local": lambda: resumed().compacts(keep=2),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_text_is_the_one_on_file(name: str) -> None:
    text, file = SITUATIONS[name]() + "\n", SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(text)
    assert text == file.read_text()
