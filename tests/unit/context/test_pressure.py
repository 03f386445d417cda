"""From when on room is made: the usual rule, and what a user sets, up, down and off."""

from __future__ import annotations

import pytest

from detent.context.conversation import Conversation
from detent.context.pressure import has_read_enough, room_of, state_of, widest, window_of
from detent.context.shaping import Shaping
from detent.types.content import Text
from detent.types.events import (
    Compacted,
    Entry,
    Learned,
    Prompted,
    Replied,
    Rewound,
    Switched,
    Trim,
    Trimmed,
)
from detent.types.usage import Usage


@pytest.mark.parametrize(
    ("used", "state"),
    [(79_999, "NORMAL"), (80_000, "WARNING"), (94_999, "WARNING"), (95_000, "CRITICAL")],
)
def test_the_states(used: int, state: str) -> None:
    assert state_of(used, 100_000) == state


@pytest.mark.parametrize("window", [8_000, 128_000, 1_000_000])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_a_share_counts_as_it_is(window: int, share: float) -> None:
    assert room_of(Shaping(share=share), window, output=32_000) == round(window * share)


@pytest.mark.parametrize("tokens", [5_000, 150_000, 900_000])
def test_a_number_of_tokens_counts_as_it_is(tokens: int) -> None:
    """Also above what we believe the window of an unknown model to be."""
    assert room_of(Shaping(tokens=tokens), 128_000, output=32_000) == tokens
    assert widest(Shaping(tokens=tokens), 128_000) >= tokens


def test_of_two_thresholds_the_first_to_be_reached_counts() -> None:
    assert room_of(Shaping(share=0.5, tokens=90_000), 100_000) == 50_000
    assert room_of(Shaping(share=0.5, tokens=40_000), 100_000) == 40_000
    assert room_of(Shaping(share=0.5, tokens=0), 100_000) == 50_000


def test_none_at_all() -> None:
    assert room_of(Shaping(share=0), 100_000) is None
    assert room_of(Shaping(tokens=0), 100_000) is None


def test_a_window_of_the_users_own() -> None:
    wished = Shaping(window=1_000_000)
    assert room_of(wished, 128_000, output=32_000) == 800_000
    assert widest(wished, 128_000) == 1_000_000
    assert room_of(Shaping(window=50_000), 200_000) == 40_000
    assert widest(Shaping(window=50_000), 200_000) == 200_000, "nothing is held back for it"


def test_what_the_provider_says_of_its_window_counts_more_than_anything() -> None:
    wished = Shaping(tokens=900_000)
    assert window_of(wished, 128_000, 32_000) == widest(wished, 128_000, 32_000) == 32_000
    assert room_of(wished, 128_000, 8_000, learned=32_000) == 24_000


def test_what_the_answer_may_take_is_counted_on_wish() -> None:
    usual, projected = Shaping(share=0.8), Shaping(share=0.8, is_projected=True)
    assert room_of(usual, 100_000) == 80_000
    assert room_of(projected, 100_000) == 80_000 - 4_000 - 2_000
    assert room_of(projected, 100_000, output=30_000) == 80_000 - 30_000 - 2_000
    assert room_of(projected, 10_000, output=32_000) == 2_000, "some is left in any case"


@pytest.mark.parametrize(
    ("shaping", "everything", "afresh", "due"),
    [
        (Shaping(), 10**9, 200_000, False),
        (Shaping(), 10**9, 200_001, True),
        (Shaping(cumulative=250), 250, 0, False),
        (Shaping(cumulative=250), 251, 0, True),
        (Shaping(cumulative=900_000), 10**6, 10**6, True),
        (Shaping(cumulative=900_000), 800_000, 800_000, False),
        (Shaping(cumulative=0), 10**9, 10**9, False),
        (Shaping(tokens=500_000), 10**9, 10**9, False),
        (Shaping(share=0.9), 10**9, 10**9, False),
        (Shaping(window=10**6), 10**9, 10**9, False),
    ],
)
def test_what_was_read_since_the_last_compaction(
    shaping: Shaping, everything: int, afresh: int, due: bool
) -> None:
    """The usual threshold counts only where nobody has set one of any kind."""
    assert has_read_enough(shaping, everything, afresh) is due


def replied(seq: int, usage: Usage) -> Replied:
    content = (Text("y"),)
    return Replied(
        seq=seq, turn=1, step=1, model="m", content=content, stop="end_turn", usage=usage
    )


def test_a_provider_that_caches_tells_what_is_new() -> None:
    one = Conversation([replied(1, Usage(100, 5, 0, 4_000)), replied(2, Usage(50, 5, 4_000, 200))])
    assert (one.read_since, one.new_since) == (8_350, 4_350)


def test_without_a_word_of_caches_what_is_new_is_what_it_has_grown_by() -> None:
    """Or every healthy session of such a server would be summed up every few steps."""
    one = Conversation([replied(n, Usage(10_000 + n * 100, 5)) for n in range(1, 101)])
    assert one.read_since > 1_000_000
    assert one.new_since == 20_000


def test_a_compaction_begins_the_count_anew_and_a_resumed_session_knows_it() -> None:
    entries: list[Entry] = [
        replied(1, Usage(9_000, 5)),
        Compacted(seq=2, summary="s", keeps_from=2),
        replied(3, Usage(700, 5)),
        Rewound(seq=4, to=2),
    ]
    one = Conversation(entries)
    assert (one.read_since, one.new_since) == (700, 700)


def test_the_window_that_was_learned_is_forgotten_with_its_model() -> None:
    one = Conversation([Learned(seq=1, window=32_000)])
    assert one.window == 32_000
    one.add(Compacted(seq=2, summary="s", keeps_from=1))
    assert one.window == 32_000
    one.add(Switched(seq=3, mode="plan"))
    assert one.window == 32_000
    one.add(Switched(seq=4, model="n"))
    assert one.window == 0


def test_before_the_first_answer_prompt_and_tools_count() -> None:
    one = Conversation([Prompted(seq=1, turn=1, content=(Text("hello"),))])
    alone = one.tokens()
    one.base = 5_000
    assert one.tokens() == alone + 5_000
    one.add(replied(2, Usage(7_000, 5)))
    assert one.tokens() == 7_005, "and then what the provider says"


def test_after_a_trim_the_estimate_follows_what_the_provider_counted() -> None:
    long = Replied(
        seq=2, turn=1, step=1, model="m", content=(Text("word " * 4_000),), stop="x", usage=Usage()
    )
    one = Conversation([Prompted(seq=1, turn=1, content=(Text("hello"),)), long])
    estimated = one.tokens()
    one.add(replied(3, Usage(round(estimated * 1.5), 0)))
    one.add(Trimmed(seq=4, stage="x", trims=(Trim(2, "word " * 2_000, 0),)))
    assert one.tokens() == pytest.approx(estimated * 1.5 / 2, rel=0.02)


@pytest.mark.parametrize(
    ("shaping", "everything", "afresh", "enough"),
    [
        (Shaping(cumulative=1_000), 1_000, 0, False),
        (Shaping(cumulative=1_000), 1_001, 0, True),
        (Shaping(), 0, 200_000, False),
        (Shaping(), 0, 200_001, True),
    ],
)
def test_what_was_read_must_be_more_than_the_threshold(
    shaping: Shaping, everything: int, afresh: int, enough: bool
) -> None:
    assert has_read_enough(shaping, everything, afresh) is enough
