"""What is counted while nobody reports."""

from detent.context.conversation import Conversation
from detent.context.tokens import IMAGE_TOKENS, PER_ENTRY, estimate
from detent.types.content import Call, Document, Opaque, Result, Text, Thinking
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


def test_every_kind_of_block_has_a_size() -> None:
    def prompted(*content: Text | Document | Result) -> int:
        return estimate(Prompted(turn=1, content=content)) - PER_ENTRY

    def replied(*content: Opaque | Thinking) -> int:
        usage = Usage()
        entry = Replied(turn=1, step=1, model="m", content=content, stop="end_turn", usage=usage)
        return estimate(entry) - PER_ENTRY

    pdf = Document("application/pdf", "x" * 160_000)
    assert prompted(pdf) == prompted(Result("a", (pdf,))) == IMAGE_TOKENS + 10_000
    assert prompted(Text("x" * 40)) == 10
    assert replied(Opaque("x" * 40)) == replied(Thinking("x" * 40, "not counted")) == 10
