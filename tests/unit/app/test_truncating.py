"""Going on from an earlier message, as clients of the ecosystem ask for it."""

from __future__ import annotations

import pytest

from detent.app.truncating import REJECTED, cut_point
from detent.types.content import Call, Text
from detent.types.errors import BadInput
from detent.types.events import CallEnded, Entry, Opened, Prompted, Replied, TurnEnded
from detent.types.outcomes import Done
from detent.types.usage import Usage
from detent.types.uuids import seq_in, uuid_of

ID = "11111111-2222-4333-8444-555555555555"
HOSTS = "99999999-2222-4333-8444-555555555555"


def _replied(seq: int, *calls: str) -> Replied:
    content = (Text("well"), *(Call(call, "Bash", "{}") for call in calls))
    return Replied(seq=seq, turn=1, step=1, model="m", content=content, stop="s", usage=Usage(1, 1))


def log() -> list[Entry]:
    return [
        Opened(seq=1, session=ID, cwd="/p", version="0", parent="parent"),
        Prompted(seq=2, turn=1, content=(Text("one"),)),
        _replied(3, "a", "b"),
        CallEnded(seq=4, call_id="a", name="Bash", outcome=Done((Text("ok"),))),
        CallEnded(seq=5, call_id="b", name="Bash", outcome=Done((Text("ok"),))),
        _replied(6),
        TurnEnded(seq=7, turn=1, reason="end_turn"),
        Prompted(seq=8, turn=2, content=(Text("two"),), uuid=HOSTS),
        _replied(9),
        TurnEnded(seq=10, turn=2, reason="end_turn"),
    ]


def test_names_of_entries_can_be_read_back() -> None:
    assert uuid_of(ID, 300) == "11111111-2222-4333-8444-00000000012c"
    assert seq_in(uuid_of(ID, 300), ID) == 300
    assert seq_in(uuid_of("s", 3), "s") == 3
    assert seq_in(HOSTS, ID) == 0 and seq_in("rubbish", ID) == 0 and seq_in("", ID) == 0


def test_an_answer_counts_with_all_of_its_results() -> None:
    for seq in (3, 4, 5):
        assert cut_point(log(), uuid_of(ID, seq), None) == 5
    assert cut_point(log(), uuid_of(ID, 6), None) == 6
    assert cut_point(log(), HOSTS, None) == 8
    assert cut_point(log(), uuid_of("parent", 6), None) == 6


def test_a_message_that_there_is_not_is_an_error() -> None:
    with pytest.raises(BadInput, match="there is no message"):
        cut_point(log(), "11111111-0000-4333-8444-555555555555", None)


@pytest.mark.parametrize(("at", "drops"), [(6, HOSTS), (6, uuid_of(ID, 8)), (3, uuid_of(ID, 2))])
def test_the_one_turn_that_is_named_may_be_lost(at: int, drops: str) -> None:
    entries = log() if drops != uuid_of(ID, 2) else log()[:7]
    assert cut_point(entries, uuid_of(ID, at), drops)


@pytest.mark.parametrize(
    ("at", "drops", "why"),
    [
        (3, HOSTS, "1 more would be lost"),
        (6, uuid_of(ID, 2), "no turn that comes after"),
        (6, "", "no turn that comes after"),
        (9, HOSTS, "nothing comes after"),
    ],
)
def test_anything_else_is_refused_in_the_words_clients_look_for(
    at: int, drops: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        cut_point(log(), uuid_of(ID, at), drops)
    assert str(refused.value).startswith(REJECTED)
