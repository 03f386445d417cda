"""What is counted while nobody reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from detent.context.conversation import Conversation
from detent.context.tokens import (
    IMAGE_TOKENS,
    PER_ENTRY,
    PER_TOOL,
    Family,
    estimate,
    family_of,
    of_blocks,
    of_system,
    of_text,
    of_tool,
    of_tools,
)
from detent.types.content import Call, Document, Opaque, Redacted, Result, Text, Thinking
from detent.types.events import CallEnded, Compacted, Prompted, Reminded, Replied, Rewound
from detent.types.messages import ToolSpec
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
        usage=Usage(15, 5),
    )
    result = CallEnded(seq=8, call_id="a", name="Read", outcome=done("some words " * 600))
    prompt = Prompted(seq=1, turn=1, content=(Text("hi"),))
    early, late = Conversation([prompt, result, answer]), Conversation([prompt, answer, result])
    assert early.tokens() == late.tokens() > 1_000


def test_every_kind_of_block_has_a_size() -> None:
    def prompted(*content: Text | Document | Result) -> int:
        return estimate(Prompted(turn=1, content=content)) - PER_ENTRY

    def replied(*content: Opaque | Thinking | Redacted | Call) -> int:
        usage = Usage()
        entry = Replied(turn=1, step=1, model="m", content=content, stop="end_turn", usage=usage)
        return estimate(entry) - PER_ENTRY

    words = "some words of ten tokens or so, not more than that"
    pdf = Document("application/pdf", "x" * 160_000)
    assert prompted(pdf) == prompted(Result("a", (pdf,))) == IMAGE_TOKENS + 10_000
    assert prompted(Text(words)) == of_text(words) == 12
    assert replied(Opaque(words)) == replied(Thinking(words, "not counted")) == 12
    assert replied(Redacted(words)) == 12
    assert replied(Call("id", "Read", words)) == 12 + of_text("Read")


def test_a_summary_and_a_reminder_are_texts() -> None:
    summary = Compacted(summary="all that was said", keeps_from=9)
    reminder = Reminded(text="all that was said", source="memory")
    assert estimate(summary) == estimate(reminder) == PER_ENTRY + of_text("all that was said")
    assert estimate(Rewound(to=1)) == 0


def test_tools_and_system_parts_have_a_size() -> None:
    schema = Raw(b'{"type":"object","properties":{"path":{"type":"string"}}}')
    spec = ToolSpec("Read", "Reads a file.", schema)
    text = f"Read Reads a file. {bytes(schema).decode()}\n"
    assert of_tools([spec]) == of_tool(spec) == PER_TOOL + of_text(text)
    assert of_tools([spec, spec]) == 2 * PER_TOOL + of_text(2 * text)
    assert of_system(("one part", "and another")) == of_text("one part") + of_text("and another")
    assert of_blocks((Text("one part"), Text("and another"))) == of_system(
        ("one part", "and another")
    )


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-4-5", "claude"),
        ("us.anthropic.claude-3-haiku", "claude"),
        ("anthropic/claude-opus-4", "claude"),
        ("gpt-5-mini", "o200k"),
        ("openai/gpt-4o", "o200k"),
        ("o3", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("qwen3-coder:30b", "cl100k"),
        ("gemini-2.5-pro", "cl100k"),
        ("", "cl100k"),
    ],
)
def test_the_tokenizer_is_chosen_by_name(model: str, family: str) -> None:
    assert family_of(model) == family


TEXTS = st.text(max_size=300) | st.text(alphabet="ab01 ._-{}\n", max_size=3_000)


@given(text=TEXTS, family=st.sampled_from(["claude", "o200k", "cl100k"]))
def test_an_estimate_is_never_below_one_nor_absurd(text: str, family: Family) -> None:
    guess = of_text(text, family)
    assert (guess > 0) == bool(text)
    assert guess <= 4 * len(text.encode("utf-8", "surrogatepass"))
