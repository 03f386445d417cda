"""Without a record there is no effect: calls that act are refused while the log is in trouble."""

from __future__ import annotations

from typing import Any

from detent.ports import Answer, Desk
from detent.testing import call, reply
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Writes
from detent.types.events import Answered, CallEnded
from detent.types.outcomes import Done, Refused
from kitbench import Approving, BenchTool, bench, check_calls

ran: list[str] = []


def tool(name: str, *effects: Effect) -> BenchTool:
    async def body(args: dict[str, Any], desk: Desk) -> str:
        ran.append(name)
        return "ran"

    return BenchTool(name, body, effects=effects)


TOOLS = [
    tool("looks", Reads("/p/a.txt")),
    tool("thinks"),
    tool("asks", Asks()),
    tool("fetches", Connects("example.org", only_asks=True)),
    tool("lists", Runs("ls /p")),
    tool("writes", Writes("/p/a.txt")),
    tool("sends", Connects("example.org")),
    tool("removes", Runs("rm /p/a.txt")),
]


def outcomes(trouble: str) -> dict[str, Any]:
    ran.clear()
    calls = [call(each.spec.name) for each in TOOLS]
    b = bench(reply(*calls), "done", tools=TOOLS, unsaved=lambda: trouble)
    b.run()
    check_calls(b.log.entries)
    return {entry.name: entry.outcome for entry in b.of(CallEnded)}


def test_only_what_changes_nothing_runs() -> None:
    found = outcomes("No space left on device (/x.jsonl)")
    refused = {name for name, outcome in found.items() if isinstance(outcome, Refused)}
    assert refused == {"writes", "sends", "removes"}
    assert set(ran) == {"looks", "thinks", "asks", "fetches", "lists"}
    reason = found["writes"].reason
    assert "No space left on device (/x.jsonl)" in reason
    assert "--allow-unsaved" in reason


def test_a_person_who_knows_may_let_it_run() -> None:
    ran.clear()
    b = bench(
        reply(call("writes")), "done", tools=TOOLS, mode="default", unsaved=lambda: "full",
        approver=Approving(Answer(True)),
    )  # fmt: skip
    b.run()
    assert ran == ["writes"]


def test_a_person_who_did_not_know_is_no_reason() -> None:
    ran.clear()
    troubles: list[str] = []
    b = bench(
        reply(call("writes")), "done", tools=TOOLS, mode="default",
        unsaved=lambda: "".join(troubles), approver=Approving(Answer(True)),
    )  # fmt: skip

    def fill(event: object) -> None:
        if isinstance(event, Answered):
            troubles.append("full")

    b.on_event = fill
    b.run()
    assert ran == []


def test_with_a_log_all_run() -> None:
    assert all(isinstance(outcome, Done) for outcome in outcomes("").values())
    assert len(ran) == len(TOOLS)


def test_the_trouble_counts_that_comes_with_the_record_of_the_intent() -> None:
    """Not the one of before: the disk may have recovered, or just have filled up."""
    ran.clear()
    troubles: list[str] = []
    b = bench(
        reply(call("writes")), reply(call("writes")), "done", tools=TOOLS,
        unsaved=lambda: "".join(troubles),
    )  # fmt: skip

    def fill(event: object) -> None:
        if type(event).__name__ == "CallStarted":
            troubles.clear() if troubles else troubles.append("full")

    b.on_event = fill
    b.run()
    first, second = b.of(CallEnded)
    assert isinstance(first.outcome, Refused)
    assert isinstance(second.outcome, Done)
    assert ran == ["writes"]
