"""What is said of subagents, and how texts share the room there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.tools.delegation.sharing import shares, within
from detent.tools.delegation.telling import came_to, data_of, told
from detent.types.agents import AgentRecord
from detent.types.budget import Spent
from detent.types.usage import Usage

SPENT = Spent(usage=Usage(input=1_000, output=200, cache_read=30, cache_write=4), dollars=0.0123)
RECORD = AgentRecord(
    agent="agent_1",
    kind="explore",
    state="completed",
    answer="here\n",
    turns=1,
    tool_calls=5,
    spent=SPENT,
    ms=4_249,
)


def record(**facts: object) -> AgentRecord:
    return AgentRecord(**{"agent": "a", "kind": "k", **facts})  # type: ignore[arg-type]


def test_steps_and_costs_on_one_line() -> None:
    assert told(RECORD) == "1 step, 5 tool calls, 1,234 tokens, $0.0123, 4.2 s"
    unknown = record(turns=2, spent=Spent(usage=Usage(output=1), unpriced=1))
    assert told(unknown) == "2 steps, 0 tool calls, 1 token, price unknown, 0.0 s"
    assert told(record()) == "0 steps, 0 tool calls, 0 tokens, 0.0 s"


def test_the_answer_or_why_there_is_none() -> None:
    assert came_to(RECORD) == "here"
    assert came_to(record(state="completed")) == "(it ended without an answer)"
    assert came_to(record(state="skipped", stop_reason="x failed")) == "Not begun: x failed."
    failed = record(state="failed", stop_reason="max_turns", error="Too many steps.", answer="half")
    assert came_to(failed) == "half\n\n[failed: max_turns: Too many steps.]"
    assert came_to(record(state="stopped")) == "[stopped]"


def test_data_for_programs() -> None:
    data = data_of(RECORD)
    assert data["status"] == "completed" and data["agentId"] == "agent_1"
    assert data["content"] == [{"type": "text", "text": "here\n"}]
    assert data["totalTokens"] == 1_234 and data["totalToolUseCount"] == 5
    assert data["totalDurationMs"] == 4_249
    assert data["usage"] == {
        "input_tokens": 1_000,
        "output_tokens": 200,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 4,
    }
    assert data_of(record())["content"] == []


@given(st.lists(st.integers(0, 500), min_size=1, max_size=20), st.integers(-10, 3_000))
def test_room_is_shared_fairly(lengths: list[int], room: int) -> None:
    given_room = shares(lengths, room)
    assert sum(given_room) <= max(0, room)
    assert sum(given_room) == sum(lengths) or sum(given_room) == max(0, room)
    cut = [got for got, length in zip(given_room, lengths, strict=True) if got < length]
    assert not cut or max(cut) - min(cut) <= 1, "those that are cut get the same"
    assert not cut or all(got <= max(cut) for got in given_room), "and no other gets more"


@given(st.integers(0, 2_000), st.integers(0, 1_000))
def test_a_text_never_takes_more_than_its_room(length: int, room: int) -> None:
    text = "".join(chr(97 + n % 26) for n in range(length))
    cut = within(text, room)
    assert len(cut) <= room or cut == text
    if length > room > 300:
        assert cut.startswith(text[:100]) and cut.endswith(text[-50:])
        assert f"{length:,} characters in all" in cut
