"""The upper bound of a request: what the provider has counted is not guessed again."""

from __future__ import annotations

from detent.context.conversation import Conversation
from detent.loop.worst import measured_by, most_input
from detent.types.content import Call, Text
from detent.types.events import CallEnded, Prompted, Replied
from detent.types.messages import Reply, Request
from detent.types.outcomes import done
from detent.types.usage import Usage

LONG = "a long prompt " * 1_000


def test_the_next_request_is_longer_by_what_is_new() -> None:
    """The last message was open when it was measured and is closed now: another object that says
    the same. A long history must not be looked at again for each request."""
    one = Conversation([Prompted(seq=1, turn=1, content=(Text(LONG),))])
    asked = Request((), one.messages())
    call = (Call("c1", "Look", "{}"),)
    reply = Reply(call, "tool_use", Usage(3_000, 20), "m")
    measured = measured_by(asked, reply)
    usage = reply.usage
    one.add(Replied(seq=2, turn=1, step=1, model="m", content=call, stop="tool_use", usage=usage))
    one.add(CallEnded(seq=3, call_id="c1", name="Look", outcome=done("short")))
    following = Request((), one.messages())
    assert 3_020 < most_input(following, measured, "m") < 3_200
    assert most_input(following, measured, "another") > len(LONG)
    assert most_input(following, None, "m") > len(LONG)


def test_a_history_that_has_changed_is_counted_anew() -> None:
    before = Conversation([Prompted(seq=1, turn=1, content=(Text(LONG),))])
    reply = Reply((Text("yes"),), "end_turn", Usage(3_000, 20), "m")
    measured = measured_by(Request((), before.messages()), reply)
    after = Conversation([Prompted(seq=1, turn=1, content=(Text(LONG + "!"),))])
    assert most_input(Request((), after.messages()), measured, "m") > len(LONG)
