"""Whatever the log holds, the request made from it is one that every provider takes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.conversation import Conversation
from detent.context.media import is_media, suspects
from detent.context.project import effective, project
from detent.context.provenance import origins
from detent.types.content import (
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
)
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Switched,
    TurnEnded,
    Withheld,
)
from detent.types.messages import User
from detent.types.outcomes import Cut, Done, Failed, Refused, content_of
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid, compact_locally

# Few ids and few texts, so that they collide often.
ids = st.sampled_from(["", "a", "b", "a_2", "call", "call_2"])
texts = st.sampled_from(["", " ", "\n\t", "one", "two", "  three "])
images: st.SearchStrategy[Image | Document] = st.sampled_from(
    [Image("image/png", "aGk="), Document("application/pdf", "aGk=")]
)
results = st.builds(Result, ids, st.tuples(st.builds(Text, texts)), st.booleans())
outcomes = st.one_of(
    st.builds(Done, st.lists(st.builds(Text, texts) | images, max_size=2).map(tuple)),
    st.builds(Failed, texts),
    st.builds(Refused, texts, st.just("rule")),
    st.builds(Cut, texts, texts),
)
calls = st.builds(Call, ids, st.just("Tool"), st.sampled_from(["", "{}", '{"a":1}', "{bad"]))
assistant_blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, st.sampled_from(["", "sig"])),
    st.builds(Redacted, st.just("xx")),
    st.builds(Opaque, st.just('{"type":"x"}')),
    calls,
)
user_blocks = st.one_of(st.builds(Text, texts), images, results)
seqs = st.integers(0, 30)
kinds: list[st.SearchStrategy[Entry]] = [
    st.builds(Opened, session=st.just("s"), cwd=st.just("/p"), version=st.just("0")),
    st.builds(Prompted, turn=st.just(1), content=st.lists(user_blocks, max_size=3).map(tuple)),
    st.builds(
        Reminded,
        text=texts,
        source=st.just("hook"),
        path=st.sampled_from(["", "/a"]),
        leads=st.booleans(),
    ),
    st.builds(
        Replied,
        turn=st.just(1),
        step=st.just(1),
        model=st.sampled_from(["m", "n"]),
        provider=st.sampled_from(["", "p"]),
        content=st.lists(assistant_blocks, max_size=4).map(tuple),
        stop=st.just("end_turn"),
        usage=st.just(Usage(1, 1)),
    ),
    st.builds(
        CallStarted,
        call_id=ids,
        name=st.just("Tool"),
        arguments=st.just("{}"),
        effects=st.just(()),
        verdict=st.just(Allow("test")),
    ),
    st.builds(CallEnded, call_id=ids, name=st.just("Tool"), outcome=outcomes),
    st.builds(Compacted, summary=texts, keeps_from=seqs),
    st.builds(Restored, entries=st.lists(seqs, max_size=4).map(tuple)),
    st.builds(Switched, model=st.just("n")),
    st.builds(Rewound, to=seqs),
    st.builds(Withheld, entries=st.lists(seqs, max_size=4).map(tuple), reason=st.just("r")),
    st.builds(TurnEnded, turn=st.just(1), reason=st.just("end_turn")),
]
# Replies, prompts and outcomes are what a projection is made of.
entries = st.one_of(*kinds, kinds[3], kinds[3], kinds[1], kinds[5], kinds[4])


def numbered(found: Sequence[Entry]) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(found, 1)]


logs = st.lists(entries, max_size=24).map(numbered)


@given(logs)
@settings(max_examples=400)
def test_every_log_gives_a_valid_history_at_every_prefix(log: list[Entry]) -> None:
    kept = Conversation()
    for length in range(len(log) + 1):
        messages = project(log[:length])
        if messages and not isinstance(messages[-1], User):
            # An answer stands last: it is whole but for its results, and so has no calls.
            assert not [block for block in messages[-1].content if isinstance(block, Call)]
        check_valid(messages)
        if length:
            kept.add(log[length - 1])
        assert kept.messages() == messages, "kept up to date entry by entry, or made at once"
    assert Conversation(log).messages() == project(log)


@given(logs)
@settings(max_examples=100)
def test_an_answer_shown_once_is_not_shown_differently_later(log: list[Entry]) -> None:
    """What was sent stays as it was: a later request begins with the earlier one's messages."""
    plain = [entry for entry in log if not isinstance(entry, Rewound | Compacted)]
    for length in range(len(plain)):
        # All but the two last: two answers without a prompt between them become one message.
        before, after = project(plain[:length]), project(plain[: length + 1])
        fixed = max(0, len(before) - 2)
        assert after[:fixed] == before[:fixed]


@given(logs, seqs)
@settings(max_examples=150)
def test_going_back_gives_what_was_there_then(log: list[Entry], to: int) -> None:
    """Whatever came between, a compaction too."""
    straight = [entry for entry in log if not isinstance(entry, Rewound)]
    back = Rewound(seq=len(log) + 1, to=to)
    assert project([*straight, back]) == project([e for e in straight if e.seq <= to])


@given(logs)
@settings(max_examples=150)
def test_resuming_twice_is_resuming_once(log: list[Entry]) -> None:
    assert project(effective(log)) == project(log)


def session(shape: list[list[bool]]) -> list[Entry]:
    """A log as the loop writes it: per step its calls, run before (True) or after the reply."""
    log: list[Entry] = [Prompted(turn=1, content=(Text("the wish"),))]
    for step, early in enumerate(shape):
        names = [f"c{step}_{number}" for number in range(len(early))]
        ran = [
            (
                CallStarted(
                    call_id=name, name="T", arguments="{}", effects=(), verdict=Allow("test")
                ),
                CallEnded(call_id=name, name="T", outcome=Done((Text(f"result of {name}"),))),
            )
            for name in names
        ]
        reply = Replied(
            turn=1,
            step=step + 1,
            model="m",
            content=(Text(f"step {step}"), *(Call(name, "T", "{}") for name in names)),
            stop="tool_use",
            usage=Usage(1, 1),
        )
        log += [entry for pair, first in zip(ran, early, strict=True) if first for entry in pair]
        log.append(reply)
        log += [
            entry for pair, first in zip(ran, early, strict=True) if not first for entry in pair
        ]
        if not early:
            log.append(Prompted(turn=1, content=(Text(f"further {step}"),)))
    return numbered(log)


shapes = st.lists(st.lists(st.booleans(), max_size=3), min_size=1, max_size=8)


@given(shapes, st.integers(0, 8), st.booleans())
@settings(max_examples=200)
def test_a_compaction_never_parts_a_call_from_its_result(
    shape: list[list[bool]], keep: int, again: bool
) -> None:
    log = session(shape)
    for _ in range(2 if again else 1):
        compacted = compact_locally(log, keep=keep, before_tokens=9)
        if compacted is not None:
            log = [*log, replace(compacted, seq=len(log) + 1)]
    messages = project(log)
    check_valid(messages)
    shown = {
        block.call_id: block.content
        for message in messages
        if isinstance(message, User)
        for block in message.content
        if isinstance(block, Result)
    }
    for name, content in shown.items():
        assert content == (Text(f"result of {name}"),), "a call that ran is not said to be cut"
    told = "".join(
        block.text for message in messages for block in message.content if isinstance(block, Text)
    )
    latest = [e for e in log if isinstance(e, Prompted)][-1].content[0]
    assert isinstance(latest, Text)
    assert latest.text in told, "the last wish of the user survives"


@given(outcomes)
def test_a_result_says_what_the_outcome_says(outcome: Done | Failed | Refused | Cut) -> None:
    log = session([[False]])
    log[-1] = CallEnded(seq=log[-1].seq, call_id="c0_0", name="T", outcome=outcome)
    last = project(log)[-1]
    (result,) = last.content
    assert isinstance(result, Result)
    assert result.is_error == (not isinstance(outcome, Done))
    visible = tuple(
        p for p in content_of(outcome) if not (isinstance(p, Text) and not p.text.strip())
    )
    assert result.content == (visible or (Text("(no output)"),))


@given(logs)
def test_withholding_what_is_suspected_leaves_no_picture_after_two_rounds(log: list[Entry]) -> None:
    for _ in range(2):
        if found := suspects(effective(log)):
            log = [*log, Withheld(seq=len(log) + 1, entries=found, reason="refused")]
    assert suspects(effective(log)) == ()
    messages = project(log)
    check_valid(messages)
    for message in messages:
        for block in message.content:
            parts = block.content if isinstance(block, Result) else (block,)
            assert not any(map(is_media, parts))


@settings(max_examples=300, deadline=None)
@given(logs)
def test_every_block_has_an_origin_that_still_counts(entries: list[Entry]) -> None:
    still = effective(entries)
    messages, found = project(entries), origins(still)
    assert [len(own) for own in found] == [len(message.content) for message in messages]
    seqs = {entry.seq for entry in still}
    assert all(seq in seqs for own in found for seq in own)


@given(logs, seqs, logs)
@settings(max_examples=200)
def test_a_rewind_that_is_taken_back_is_as_if_it_had_never_been(
    log: list[Entry], to: int, later: list[Entry]
) -> None:
    """Whatever comes behind it, further rewinds too."""
    back, restored = Rewound(seq=101, to=to), Restored(seq=102, entries=(101,))
    behind = [replace(entry, seq=entry.seq + 200) for entry in later]
    assert project([*log, back, restored, *behind]) == project([*log, *behind])
    kept = Conversation([*log, back])
    for entry in (restored, *behind):
        kept.add(entry)
    assert kept.messages() == project([*log, *behind])
