"""How much of the window is in use, and what the projection says of calls that were cut short."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.bounds import MOST_CHARACTERS, bounded, shortened
from detent.context.conversation import Conversation
from detent.context.project import DUPLICATE, MAY_HAVE_RUN, NEVER_RAN, project
from detent.context.tokens import IMAGE_TOKENS
from detent.types.content import (
    Call,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
    plain_text,
)
from detent.types.effects import Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Rewound,
    TurnEnded,
)
from detent.types.messages import Assistant, User
from detent.types.outcomes import Cut, Done, Failed, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import compact_locally


def prompt(text: str) -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


NO_USAGE = Usage()


def replied(*blocks: Text | Call, usage: Usage = NO_USAGE) -> Replied:
    return Replied(turn=1, step=1, model="m", content=blocks, stop="end_turn", usage=usage)


def started(call_id: str, *effects: Reads | Writes) -> CallStarted:
    return CallStarted(
        call_id=call_id, name="T", arguments="{}", effects=effects, verdict=Allow("test")
    )


def ended(call_id: str, text: str = "out") -> CallEnded:
    return CallEnded(call_id=call_id, name="T", outcome=done(text))


def log(*entries: Entry) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(entries, 1)]


def texts(entries: Sequence[Entry]) -> list[str]:
    """The text of every result in the last message."""
    last = project(entries)[-1]
    return [plain_text(b.content) for b in last.content if isinstance(b, Result)]


A, B = Call("a", "T", "{}"), Call("b", "T", "{}")


def test_a_call_that_never_started_is_said_so() -> None:
    assert texts(log(prompt("x"), replied(A))) == [NEVER_RAN]


def test_a_call_that_started_may_have_run() -> None:
    assert texts(log(prompt("x"), replied(A, B), started("a"))) == [MAY_HAVE_RUN, NEVER_RAN]


def test_a_call_that_ran_before_its_answer_was_whole() -> None:
    assert texts(log(prompt("x"), started("a"), ended("a"), replied(A))) == ["out"]


def test_the_first_end_of_a_call_counts() -> None:
    assert texts(log(prompt("x"), replied(A), ended("a", "one"), ended("a", "two"))) == ["one"]


def test_the_same_id_twice_in_one_answer() -> None:
    entries = log(prompt("x"), replied(A, A), ended("a"))
    assert texts(entries) == ["out", DUPLICATE]
    message = project(entries)[1]
    assert isinstance(message, Assistant)
    assert [b.id for b in message.content if isinstance(b, Call)] == ["a", "a_2"]


def test_the_same_id_in_two_answers() -> None:
    entries = log(prompt("x"), replied(A), ended("a", "one"), replied(A), ended("a", "two"))
    found = [b for m in project(entries) for b in m.content if isinstance(b, Result)]
    assert [(b.call_id, plain_text(b.content)) for b in found] == [("a", "one"), ("a_2", "two")]


def test_results_come_before_what_was_said_meanwhile() -> None:
    entries = log(prompt("x"), replied(A), prompt("hurry"), ended("a"))
    assert project(entries)[-1] == User((Result("a", (Text("out"),)), Text("hurry")))


def test_prompts_in_a_row_are_one_message() -> None:
    assert project(log(prompt("a"), Reminded(text="b", source="hook"), prompt("c"))) == [
        User((Text("a"), Text("b"), Text("c")))
    ]


def test_answers_in_a_row_are_one_message() -> None:
    assert project(log(prompt("a"), replied(Text("b")), replied(Text("c")))) == [
        User((Text("a"),)),
        Assistant((Text("b"), Text("c")), "m"),
    ]


def test_answers_of_two_authors_in_a_row_keep_only_the_state_of_the_last() -> None:
    sealed = (Thinking("hm", "s"), Redacted("r"), Opaque('{"type":"x"}'))
    first = replace(replied(Text("b")), content=(*sealed, Text("b")), provider="p")
    last = replace(first, content=(*sealed, Text("c")))
    for other in (replace(last, model="n"), replace(last, provider="q")):
        assert project(log(prompt("a"), first, other))[1:] == [
            Assistant((Text("b"), *sealed, Text("c")), other.model, other.provider)
        ]
    whole = (*sealed, Text("b"), *sealed, Text("c"))
    assert project(log(prompt("a"), first, last))[1:] == [Assistant(whole, "m", "p")]


def test_a_renamed_call_keeps_its_state() -> None:
    twice = replied(replace(A, signature="s"), replace(A, signature="t"))
    answer = project(log(prompt("x"), replace(twice, provider="p")))[1]
    assert isinstance(answer, Assistant)
    assert answer.provider == "p"
    calls = [block for block in answer.content if isinstance(block, Call)]
    assert [(call.id, call.signature) for call in calls] == [("a", "s"), ("a_2", "t")]


def test_blank_texts_are_left_out() -> None:
    entries = log(
        prompt(" "),
        prompt("a"),
        Reminded(text="\n", source="hook"),
        replied(Text(""), A),
        CallEnded(call_id="a", name="T", outcome=Done((Text(""), Text("  ")))),
    )
    assert project(entries) == [
        User((Text("a"),)),
        Assistant((A,), "m"),
        User((Result("a", (Text("(no output)"),)),)),
    ]


def test_a_result_inside_a_prompt_answers_nothing() -> None:
    stray = Prompted(turn=1, content=(Result("x", (Text("?"),)), Text("a")))
    assert project(log(stray)) == [User((Text("a"),))]


def test_empty_arguments_are_an_object() -> None:
    message = project(log(prompt("x"), replied(Call("a", "T", " "))))[1]
    assert message.content == (Call("a", "T", "{}"),)


def test_errors_are_marked() -> None:
    for outcome in (Failed("no"), Refused("no", "rule"), Cut("interrupted", "half")):
        entries = log(prompt("x"), replied(A), CallEnded(call_id="a", name="T", outcome=outcome))
        (result,) = project(entries)[-1].content
        assert isinstance(result, Result)
        assert result.is_error


# Known calls


def test_a_call_is_known_however_it_was_met() -> None:
    one = Conversation(log(prompt("x"), replied(A), started("s"), ended("e")))
    assert [one.knows_call(name) for name in ("a", "s", "e", "z")] == [True, True, True, False]
    one.add(Rewound(seq=9, to=1))
    assert one.knows_call("a")  # the log still holds it, and an id is one call's for good


def test_a_call_that_was_summed_up_is_known() -> None:
    """Servers that count from zero would give its id to another."""
    entries = log(prompt("x"), replied(A), ended("a"), Compacted(summary="s", keeps_from=9))
    assert Conversation(entries).knows_call("a")


# Size


def test_the_size_is_what_the_provider_said_and_an_estimate_of_the_rest() -> None:
    one = Conversation(log(prompt("word " * 100)))
    guessed = one.tokens()
    assert 100 <= guessed <= 120
    one.add(replied(Text("y"), usage=Usage(100, 20, 3, 1)))
    assert one.tokens() == 124
    one.add(prompt("word " * 100))
    assert one.tokens() == pytest.approx(124 + guessed, abs=3)


@pytest.mark.parametrize(("reported", "factor"), [(180, 1.5), (60, 0.5), (10, 0.5), (9_000, 2.0)])
def test_what_is_estimated_is_as_far_off_as_what_was_measured(reported: int, factor: float) -> None:
    """F194, and bounded: a server may report anything."""
    one = Conversation(log(prompt("word " * 100), replied(Text("y"), usage=Usage(reported))))
    one.add(prompt("word " * 1_000))
    added = one.tokens() - reported
    assert added == pytest.approx(1_070 * factor, rel=0.05)


def test_an_answer_without_counts_measures_nothing() -> None:
    one = Conversation(log(prompt("x"), replied(Text("y"), usage=Usage(5_000))))
    one.add(replied(Text("cut off")))
    assert one.tokens() >= 5_000


def test_an_image_costs_by_its_area() -> None:
    one = Conversation(log(Prompted(turn=1, content=(Image("image/png", "x" * 4_000_000),))))
    assert one.tokens() < 2 * IMAGE_TOKENS


def test_what_no_model_reads_costs_nothing() -> None:
    one = Conversation(log(prompt("x")))
    before = one.tokens()
    one.add(TurnEnded(seq=2, turn=1, reason="end_turn", error="x" * 4_000))
    one.add(
        CallEnded(seq=3, call_id="a", name="T", outcome=done("y", {"structured": "x" * 40_000}))
    )
    assert one.tokens() < before + 20


def test_after_a_compaction_only_what_is_left_is_counted() -> None:
    """F183: or every further step would compact again."""
    one = Conversation(log(prompt("word " * 10_000), replied(Text("y"), usage=Usage(10_000))))
    one.add(Compacted(seq=3, summary="short", keeps_from=3))
    assert one.tokens() < 50
    one.add(Rewound(seq=4, to=1))
    assert one.tokens() == pytest.approx(10_000, rel=0.01)


# Compaction without a model


def long_session(steps: int = 6) -> list[Entry]:
    entries: list[Entry] = [prompt("the first wish")]
    for step in range(steps):
        name = f"c{step}"
        effect = Writes("/p/w.py") if step == 1 else Reads(f"/p/r{step}.py")
        entries += [
            replied(Text(f"step {step}\nTODO: part {step}"), Call(name, "Look", "{}")),
            started(name, effect),
            ended(name, f"result {step}"),
        ]
    return log(*entries, prompt("the last wish"))


def test_a_summary_keeps_what_matters() -> None:
    entries = long_session()
    compacted = compact_locally(entries, before_tokens=123)
    assert compacted is not None
    assert compacted.before_tokens == 123
    for word in ("the first wish", "Look", "/p/w.py", "TODO: part"):
        assert word in compacted.summary
    messages = project([*entries, replace(compacted, seq=99)])
    assert "the last wish" in repr(messages), "as it was said, beside the summary"
    assert len(messages) == 5, "the summary and the last two answers with their results"
    assert "result 5" in repr(messages)
    assert "result 3" not in repr(messages)


def test_nothing_old_is_nothing_to_leave_out() -> None:
    assert compact_locally([], before_tokens=1) is None
    entries = log(replied(Text("a")))
    assert compact_locally(entries, before_tokens=1) is None


def test_a_second_summary_holds_the_first() -> None:
    entries = long_session()
    first = compact_locally(entries, before_tokens=1)
    assert first is not None
    entries = [*entries, replace(first, seq=len(entries) + 1)]
    for entry in long_session(3):
        entries.append(replace(entry, seq=len(entries) + 1))
    second = compact_locally(entries, before_tokens=1)
    assert second is not None
    assert "Before that" in second.summary
    assert project([*entries, replace(second, seq=99)])[0].content == (Text(second.summary),)


# Bounds


def test_short_outcomes_stay_as_they_are() -> None:
    for outcome in (done("x"), Failed("x"), Cut("r", "x"), Refused("r", "b")):
        assert bounded(outcome) is outcome


@pytest.mark.parametrize("kind", ["done", "failed", "cut"])
def test_long_outcomes_keep_head_and_tail(kind: str) -> None:
    text = "a" * 40_000 + "middle" + "z" * 40_000
    outcome = {"done": done(text, {"k": 1}), "failed": Failed(text), "cut": Cut("r", text)}[kind]
    kept: list[str] = []
    short = bounded(outcome, lambda text: kept.append(text) or "/o/full.txt")  # type: ignore[func-returns-value]
    assert type(short) is type(outcome)
    said = plain_text(short.content) if isinstance(short, Done) else short.text  # type: ignore[union-attr]
    assert len(said) <= MOST_CHARACTERS
    assert kept == [text] and "/o/full.txt" in said
    assert said.startswith("aaa")
    assert said.endswith("zzz")
    assert "amiddlez" not in said
    assert "80,006 characters in all" in said
    if isinstance(short, Done):
        assert short.data == {"k": 1}, "programs read the whole result"


def test_images_pass_the_bounds() -> None:
    image = Image("image/png", "x" * 100_000)
    assert bounded(Done((Text("x" * 40_000), image))).content[1] is image  # type: ignore[union-attr]


def test_the_exact_length_is_not_too_long() -> None:
    assert shortened("x" * 10, 10) == "x" * 10
    short = shortened("a" * 50 + "b" * 51, 100)
    assert len(short) == 100
    assert short.startswith("aaa") and short.endswith("bbb") and "101 characters in all" in short


def test_a_text_that_cannot_be_put_away_is_cut_all_the_same() -> None:
    assert "the whole is in" not in shortened("x" * 200, 150, lambda text: "")
    assert "the whole is in /o.txt" in shortened("x" * 200, 150, lambda text: "/o.txt")


@given(
    text=st.text(max_size=400),
    most=st.integers(min_value=0, max_value=300),
    path=st.sampled_from(["", "/outputs/Bash-call_1.txt"]),
)
def test_a_bound_is_never_exceeded(text: str, most: int, path: str) -> None:
    short = shortened(text, most, lambda text: path)
    assert len(short) <= most
    short.encode()  # whole characters only


def test_a_call_of_an_answer_that_was_lost_is_told() -> None:
    """Killed after the call had begun and before its answer was whole."""
    log: list[Entry] = [
        Prompted(seq=1, turn=1, content=(Text("first"),)),
        CallStarted(
            seq=2,
            call_id="a",
            name="Bash",
            arguments='{"command": "deploy"}',
            effects=(),
            verdict=Allow("test"),
        ),
        Prompted(seq=3, turn=2, content=(Text("second"),)),
    ]
    (message,) = Conversation(log).messages()
    said = [block.text for block in message.content if isinstance(block, Text)]
    assert said[0] == "first" and said[-1] == "second"
    assert "deploy" in said[1] and "may have run" in said[1]
    assert Conversation(log).knows_call("a")


def test_a_session_that_was_compacted_is_read_without_looking_at_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def estimate(entry: Entry, family: str) -> int:
        looked.append(entry.seq)
        return 1

    monkeypatch.setattr("detent.context.tokens.estimate", estimate)
    log: list[Entry] = [
        Prompted(seq=number, turn=1, content=(Text("hm"),)) for number in range(1, 500)
    ]
    log.append(Compacted(seq=500, summary="so", keeps_from=490))
    log.append(Prompted(seq=501, turn=2, content=(Text("hm"),)))
    conversation = Conversation(log)
    assert looked == [], "nobody has asked"
    assert conversation.tokens() == 12
    assert sorted(looked) == [*range(490, 502)]


@pytest.mark.parametrize("usage", [Usage(), Usage(input=-5_000, output=3), Usage(input=10**10)])
def test_a_count_that_cannot_be_is_none(usage: Usage) -> None:
    def log(reported: Usage) -> list[Entry]:
        said = (Text("so " * 50),)
        return [
            Prompted(seq=1, turn=1, content=said),
            Replied(
                seq=2, turn=1, step=1, model="m", content=said, stop="end_turn", usage=reported
            ),
        ]

    assert Conversation(log(usage)).tokens() == Conversation(log(Usage())).tokens() < 200
    assert Conversation(log(usage)).new_since >= 0
