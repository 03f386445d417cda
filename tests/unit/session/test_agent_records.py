"""What is known of subagents, from the entries of their parent."""

from __future__ import annotations

from detent.session.agent_records import Records, fold
from detent.types.agents import AgentEnded, AgentRecord, AgentStarted, GroupEnded
from detent.types.budget import Spent
from detent.types.events import CallEnded, Entry, Rewound
from detent.types.outcomes import done
from detent.types.usage import Usage


def started(agent: str = "a1", **given: object) -> AgentStarted:
    fields = {"kind": "explore", "call_id": "c1", "at": 5.0, **given}
    return AgentStarted(agent=agent, **fields)  # type: ignore[arg-type]


def ended(agent: str = "a1", state: str = "completed", **given: object) -> AgentEnded:
    return AgentEnded(agent=agent, state=state, **given)  # type: ignore[arg-type]


def spent(tokens: int) -> Spent:
    return Spent(usage=Usage(input=tokens), dollars=0.5, requests=1)


def test_a_record_says_where_an_agent_belongs_and_what_came_of_it() -> None:
    begun = started(
        name="scout", description="Look around", parent="a0", group="g1", index=2, depth=3,
        model="m", background=True, worktree="/w",
    )  # fmt: skip
    end = ended(reason="end_turn", answer="found", steps=4, calls=6, spent=spent(9), ms=70)
    (record,) = fold([begun, end], "/logs").values()
    assert record == AgentRecord(
        agent="a1", kind="explore", state="completed", name="scout", description="Look around",
        call_id="c1", parent_agent_id="a0", group_id="g1", child_index=2, depth=3, model="m",
        background=True, worktree="/w", session_path="/logs/a1.jsonl", turns=4, tool_calls=6,
        stop_reason="end_turn", answer="found", spent=spent(9), begun=5.0, ms=70,
    )  # fmt: skip


def test_one_whose_call_went_on_without_it_works_in_the_background() -> None:
    data = {"agentId": "a1", "isAsync": True}
    call = CallEnded(call_id="c1", name="Agent", outcome=done("it works on", data))
    assert fold([started(), call])["a1"].background
    assert not fold([started(), call, ended(), started(goes_on=True)])["a1"].background
    assert not fold([started(), CallEnded(call_id="c1", name="Agent", outcome=done("x"))])[
        "a1"
    ].background
    assert fold([call]) == {}


def test_a_record_is_made_anew_with_every_entry() -> None:
    records = Records()
    records.take(started())
    before = records.agents["a1"]
    records.take(ended(error="it broke", state="failed"))
    assert (before.state, before.error) == ("running", "")
    assert (records.agents["a1"].state, records.agents["a1"].error) == ("failed", "it broke")


def test_one_that_goes_on_is_one_record_and_what_it_spends_adds_up() -> None:
    entries: list[Entry] = [
        started(name="scout", description="Look", group="g1", index=2, model="m", worktree="/w"),
        ended(state="interrupted", steps=1, calls=2, spent=spent(3), ms=40, error="died"),
        started(goes_on=True, call_id="c2", at=9.0),
    ]
    running = fold(entries)["a1"]
    assert (running.state, running.error, running.answer) == ("running", "", "")
    assert (running.turns, running.tool_calls, running.ms) == (1, 2, 40)
    entries.append(ended(answer="yes", steps=10, calls=20, spent=spent(30), ms=400))
    (record,) = fold(entries).values()
    assert (record.turns, record.tool_calls, record.ms) == (11, 22, 440)
    assert record.spent == spent(3) + spent(30)
    assert (record.state, record.answer, record.error) == ("completed", "yes", "")
    assert (record.group_id, record.child_index, record.name) == ("g1", 2, "scout")
    assert (record.description, record.model, record.worktree) == ("Look", "m", "/w")
    assert (record.call_id, record.begun) == ("c2", 5.0)


def test_in_another_group_it_has_another_place() -> None:
    entries = [started(group="g1", index=2), ended(), started(group="g2", index=0, goes_on=True)]
    record = fold(entries)["a1"]
    assert (record.group_id, record.child_index) == ("g2", 0)


def test_what_was_rewound_has_happened() -> None:
    assert fold([started(), ended(spent=spent(3)), Rewound(to=0)])["a1"].spent == spent(3)


def test_groups_and_names() -> None:
    first = GroupEnded(group="g1", call_id="c1", completed=1, failed=1, batches=1, skipped=2)
    second = GroupEnded(group="g1", call_id="c2", completed=4, batches=2, largest_batch=3)
    records = Records().read([started(name="x"), first, started("a2", name="x"), second])
    assert records.groups == {"g1": second}
    assert list(records.agents) == ["a1", "a2"]
    assert records.named("x") is records.agents["a2"], "the one that began last"
    assert records.named("a1") is records.agents["a1"]
    assert records.named("y") is None


def test_only_new_entries_are_read() -> None:
    log: list[Entry] = [started(), ended(spent=spent(3))]
    records = Records().read(log)
    log.append(started("a2"))
    assert records.read(log) is records
    assert records.agents == fold(log)
    assert records.agents["a1"].spent == spent(3)


def test_one_that_was_skipped_has_no_log() -> None:
    record = fold([started(), ended(state="skipped", reason="b")], "/logs")["a1"]
    assert (record.state, record.stop_reason, record.session_path) == ("skipped", "b", "")


def test_an_end_whose_beginning_is_lost_is_not_lost() -> None:
    record = fold([ended(spent=spent(3), steps=1)])["a1"]
    assert (record.kind, record.turns, record.spent) == ("", 1, spent(3))
