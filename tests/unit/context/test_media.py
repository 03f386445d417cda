"""Pictures and documents that no provider takes never get into a request twice."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from detent.context.conversation import Conversation
from detent.context.media import (
    LARGEST_DOCUMENT,
    LARGEST_IMAGE,
    sound,
    sound_outcome,
    suspects,
    without_media,
)
from detent.context.project import effective, project
from detent.types.content import Call, Document, Image, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Replied,
    Rewound,
    Withheld,
)
from detent.types.outcomes import Done, Failed
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid

PICTURE = Image("image/png", base64.b64encode(b"\x89PNG picture").decode())
PAPER = Document("application/pdf", base64.b64encode(b"%PDF-1.7").decode(), "paper.pdf")


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_what_models_can_see_stays_as_it_is(kind: str) -> None:
    content = (Text("look"), Image(f"image/{kind}", PICTURE.data), PAPER)
    assert sound(content) == content
    assert sound_outcome(Done(content)) == Done(content)


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (Image("image/tiff", PICTURE.data), "image/tiff is not one of image/png"),
        (Image("", PICTURE.data), "no type is not one of"),
        (Image("application/pdf", PICTURE.data), "is not one of"),
        (Image("image/png", "not base64!"), "not valid Base64"),
        (Image("image/png", "QUJ"), "not valid Base64"),
        (Image("image/png", "ÄÖ=="), "not valid Base64"),
        (Image("image/png", ""), "not valid Base64"),
        (Image("image/png", "QUJD!"), "not valid Base64"),
        (Image("image/png", "A" * (LARGEST_IMAGE + 4)), "5,242,884 bytes as Base64"),
        (Document("application/zip", PAPER.data), "application/zip is not one of"),
        (Document("application/pdf", "%%%", "x.pdf"), "The document x.pdf was left out"),
        (Document("application/pdf", "A" * (LARGEST_DOCUMENT + 4)), "33,554,432 is the most"),
    ],
    ids=range(12),
)
def test_what_would_spoil_every_later_request_is_a_note(block: Any, says: str) -> None:
    (note,) = sound((block,))
    assert isinstance(note, Text)
    assert says in note.text
    assert sound_outcome(Done((Text("a"), block), {"k": 1})) == Done((Text("a"), note), {"k": 1})


def test_the_largest_that_goes_goes() -> None:
    block = Image("image/png", "A" * LARGEST_IMAGE)
    assert sound((block,)) == (block,)


def test_an_outcome_without_pictures_is_the_same_object() -> None:
    for outcome in (Done((Text("a"),)), Failed("x")):
        assert sound_outcome(outcome) is outcome


# Withheld: what a provider refused although it looked sound


def prompted(seq: int, *blocks: Any) -> Prompted:
    return Prompted(seq=seq, turn=1, content=blocks)


def replied(seq: int, *blocks: Any) -> Replied:
    return Replied(
        seq=seq, turn=1, step=1, model="m", content=blocks, stop="end_turn", usage=Usage()
    )


def ended(seq: int, call_id: str, *blocks: Any) -> CallEnded:
    return CallEnded(seq=seq, call_id=call_id, name="Read", outcome=Done(blocks))


def started(seq: int, call_id: str) -> CallStarted:
    return CallStarted(
        seq=seq, call_id=call_id, name="Read", arguments="{}", effects=(), verdict=Allow("t")
    )


LOG: list[Entry] = [
    prompted(1, Text("first"), PICTURE),
    replied(2, Text("seen")),
    prompted(3, Text("second")),
    started(4, "c1"),
    ended(5, "c1", Text("two pictures"), PICTURE, PICTURE),  # ended before its answer was whole
    replied(6, Call("c1", "Read", "{}")),
]


def test_what_is_new_since_the_last_accepted_request_is_suspected_first() -> None:
    assert suspects(LOG) == (5,)
    assert suspects([*LOG, ended(7, "c1", Text("x")), prompted(8, PAPER)]) == (5, 8)


def test_else_all_that_is_left_is_suspected() -> None:
    still = effective([*LOG, Withheld(seq=7, entries=(5,), reason="too big")])
    assert suspects(still) == (1,)
    assert suspects(effective([*LOG, Withheld(seq=7, entries=(1, 5), reason="r")])) == ()
    assert suspects([prompted(1, PICTURE)]) == (1,)
    assert suspects([prompted(1, Text("words"))]) == ()


def test_withheld_pictures_are_notes_from_then_on_and_only_they() -> None:
    withheld = Withheld(seq=7, entries=(5,), reason="image exceeds 5 MB maximum")
    messages = project([*LOG, withheld])
    check_valid(messages)
    assert PICTURE in messages[0].content
    (result,) = messages[2].content[:1] if len(messages) == 3 else messages[-1].content[:1]
    notes = [part.text for part in result.content]  # type: ignore[union-attr]
    assert notes[0] == "two pictures"
    assert notes[1:] == ["[An image was left out: image exceeds 5 MB maximum]"] * 2
    grown = Conversation(LOG)
    grown.add(withheld)
    assert grown.messages() == messages == Conversation([*LOG, withheld]).messages()


def test_the_estimate_follows() -> None:
    conversation = Conversation([prompted(1, *[PICTURE] * 100)])
    before = conversation.tokens()
    conversation.add(Withheld(seq=2, entries=(1,), reason="r"))
    assert conversation.tokens() < before / 10


def test_going_back_behind_it_brings_the_picture_back() -> None:
    log = [*LOG, Withheld(seq=7, entries=(1, 5), reason="r"), Rewound(seq=8, to=6)]
    assert project(log) == project(LOG)


def test_a_compaction_on_top_changes_nothing_about_it() -> None:
    log = [
        *LOG,
        Withheld(seq=7, entries=(5,), reason="r"),
        Compacted(seq=8, summary="s", keeps_from=4),
    ]
    assert "left out: r" in repr(project(log))
    assert PICTURE.data not in repr(project(log))


def test_entries_without_pictures_have_nothing_to_withhold() -> None:
    for entry in (replied(1, Text("x")), started(2, "c"), Rewound(seq=3, to=1)):
        assert without_media(entry, "r") is entry
