"""What is counted while nobody reports."""

from detent.context.conversation import Conversation
from detent.types.content import Call, Text
from detent.types.events import CallEnded, Prompted, Replied
from detent.types.outcomes import done
from detent.types.usage import Usage


def test_a_result_that_came_before_its_answer_counts_too() -> None:
    answer = Replied(
        seq=9,
        turn=1,
        step=1,
        model="m",
        content=(Call("a", "Read", "{}"),),
        stop="tool_use",
        usage=Usage(10, 5),
    )
    result = CallEnded(seq=8, call_id="a", name="Read", outcome=done("x" * 4_000))
    prompt = Prompted(seq=1, turn=1, content=(Text("hi"),))
    early, late = Conversation([prompt, result, answer]), Conversation([prompt, answer, result])
    assert early.tokens() == late.tokens() > 1_000
