"""What a child knows that begins with its parent's context: nothing of the answer that is being
given, at whatever moment of it the child begins."""

from __future__ import annotations

from detent.app.agents.logs import known_to
from detent.context.project import project
from detent.types.codec import encode
from detent.types.content import Call, Text
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

ASKED = Prompted(seq=1, turn=1, content=(Text("please"),))
LOST = "an answer of yours was lost"


def calls(seq: int, *ids: str) -> Replied:
    content = tuple(Call(one, "Read", "{}") for one in ids)
    return Replied(
        seq=seq, turn=1, step=1, model="m", content=content, stop="tool_use", usage=Usage()
    )


def begun(seq: int, call: str) -> CallStarted:
    return CallStarted(
        seq=seq, call_id=call, name="Read", arguments="{}", effects=(), verdict=Allow("r")
    )


def ended(seq: int, call: str) -> CallEnded:
    return CallEnded(seq=seq, call_id=call, name="Read", outcome=done("ok"))


def test_calls_begin_and_end_before_their_answer_is_whole() -> None:
    """Two answers: the second has a call that is over before it is, and one that still runs."""
    first = [ASKED, calls(2, "a"), begun(3, "a"), ended(4, "a")]
    second = [begun(5, "b"), ended(6, "b"), begun(7, "c"), calls(8, "b", "c")]
    for many in range(len(second) + 1):
        assert known_to([*first, *second[:many]]) == tuple(first), many


def test_the_same_in_the_first_answer_and_with_its_calls_behind_it() -> None:
    assert known_to([ASKED, begun(2, "a"), calls(3, "a")]) == (ASKED,)
    assert known_to([ASKED, calls(2, "a", "b"), begun(3, "a"), ended(4, "a")]) == (ASKED,)


def test_what_was_really_lost_is_still_told() -> None:
    """A run died in an answer; the next one was told of it, and so is whoever knows what it
    knows."""
    goes_on = Prompted(seq=4, turn=2, content=(Text("go on"),))
    entries: list[Entry] = [ASKED, begun(2, "a"), ended(3, "a"), goes_on]
    assert known_to([*entries, begun(5, "b")]) == tuple(entries)
    assert LOST in encode(project(list(known_to(entries)))).decode()
