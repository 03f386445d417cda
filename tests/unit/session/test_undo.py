"""Planning an undo: pure, over entries."""

from __future__ import annotations

import msgspec

from detent.session.undo import (
    Deed,
    Move,
    cut_off,
    deeds_of,
    last_standing,
    moves_since,
    redoable,
    standing,
    undone_since,
)
from detent.types.agents import AgentStarted, ChildChanged
from detent.types.content import Call, Text
from detent.types.effects import Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

A, B, C, X = (FileState("file", 0o644, 1, digest) for digest in "abcx")
NONE = FileState()


def prompted(seq: int, *, steered: bool = False) -> Entry:
    return Prompted(seq=seq, turn=1, content=(Text("go"),), steered=steered)


def replied(seq: int, *calls: str) -> Entry:
    content = tuple(Call(call, "Bash", "{}") for call in calls)
    return Replied(seq=seq, turn=1, step=1, model="m", content=content, stop="s", usage=Usage(1, 1))


def started(seq: int, call: str, *effects: Runs | Writes) -> Entry:
    return CallStarted(
        seq=seq, call_id=call, name="Bash", arguments="{}", effects=effects, verdict=Allow("t")
    )


def ended(seq: int, call: str, *changed: Change) -> Entry:
    return CallEnded(
        seq=seq, call_id=call, name="Bash", outcome=Done((Text("ok"),)), changed=changed
    )


def change(before: FileState, after: FileState, path: str = "/p/f") -> Change:
    return Change(path, before, after)


def log() -> list[Entry]:
    """Two steps of one prompt, one of the next; the second call ran before its answer was whole."""
    return [
        prompted(1),
        replied(2, "one"),
        started(3, "one", Runs("make")),
        ended(4, "one", change(A, B)),
        started(5, "two", Writes("/p/f")),
        ended(6, "two", change(B, C)),
        replied(7, "two"),
        prompted(8, steered=True),
        prompted(9),
        replied(10, "three"),
        started(11, "three"),
        ended(12, "three", change(NONE, X, "/p/new")),
    ]


def test_deeds_know_step_prompt_and_what_they_are_about() -> None:
    deeds = deeds_of(log())
    assert [(d.seq, d.step, d.prompt, d.about) for d in deeds] == [
        (4, 1, 1, "make"),
        (6, 2, 1, "/p/f"),
        (12, 3, 2, ""),
    ]


def test_calls_without_changes_are_no_deeds() -> None:
    assert deeds_of([prompted(1), replied(2, "one"), started(3, "one"), ended(4, "one")]) == []


def test_moves_are_composed_path_by_path() -> None:
    deeds = deeds_of(log())
    assert set(moves_since(deeds, 3)) == {Move("/p/f", C, A), Move("/p/new", X, NONE)}
    assert moves_since(deeds, 4) == (Move("/p/f", C, B), Move("/p/new", X, NONE))
    assert moves_since(deeds, 12) == ()


def test_what_somebody_else_did_in_between_ends_the_way_back() -> None:
    entries = [
        replied(1, "one", "two"),
        ended(2, "one", change(A, B)),
        ended(3, "two", change(X, C)),  # somebody had made X of B
    ]
    assert moves_since(deeds_of(entries), 1) == (Move("/p/f", C, X, "between"),)


def test_a_change_and_its_undo_are_nothing() -> None:
    undone = Undone(seq=13, of=(6,), changes=(change(C, B),))
    assert moves_since(deeds_of([*log(), undone]), 4) == (Move("/p/new", X, NONE),)


def test_undone_calls_do_not_stand_until_the_undo_is_undone() -> None:
    entries = log()
    assert standing(deeds_of(entries)) == {4: True, 6: True, 12: True}
    entries.append(Undone(seq=13, of=(6, 12)))
    assert standing(deeds_of(entries)) == {4: True, 6: False, 12: False}
    assert last_standing(deeds_of(entries)) == deeds_of(entries)[0]
    entries.append(Undone(seq=14, of=(13,)))
    assert standing(deeds_of(entries)) == {4: True, 6: True, 12: True}
    entries.append(Undone(seq=15, of=(14,)))
    assert standing(deeds_of(entries)) == {4: True, 6: False, 12: False}


def test_the_last_undo_that_was_not_redone_is_redone_next() -> None:
    entries = [*log(), Undone(seq=13, of=(12,)), Undone(seq=14, of=(6,))]

    def next_one() -> int:
        found = redoable(deeds_of(entries))
        return found.seq if found is not None else 0

    assert next_one() == 14
    entries.append(Undone(seq=15, of=(14,)))
    assert next_one() == 13
    entries.append(Undone(seq=16, of=(13,)))
    assert next_one() == 0
    entries.append(Undone(seq=17, of=(12,)))
    assert next_one() == 17


def test_going_back_before_an_undo_names_the_undo() -> None:
    entries = [*log(), Undone(seq=13, of=(6,), changes=(change(C, B),))]
    deeds = deeds_of(entries)
    assert undone_since(deeds, 7) == (13, 12)
    assert set(moves_since(deeds, 7)) == {Move("/p/f", B, C), Move("/p/new", X, NONE)}


def test_going_back_before_a_redo_takes_that_back_too() -> None:
    """Call 6 is undone, then there is call 12, then 6 is redone: before 12 it did not stand."""
    undone = Undone(seq=9, of=(6,), changes=(change(C, B),))
    redone = Undone(seq=14, of=(9,), changes=(change(B, C),))
    entries = [*log()[:8], undone, *log()[9:], redone]
    deeds = deeds_of(entries)
    assert standing(deeds) == {4: True, 6: True, 12: True}
    of = undone_since(deeds, 11)
    back = [*entries, Undone(seq=15, of=of)]
    assert standing(deeds_of(back)) == {4: True, 6: False, 12: False}
    again = [*back, Undone(seq=16, of=(15,))]
    assert standing(deeds_of(again)) == {4: True, 6: True, 12: True}
    of = undone_since(deeds_of(again), 6)
    assert standing(deeds_of([*again, Undone(seq=17, of=of)])) == {4: True, 6: True, 12: False}


def test_a_file_whose_bytes_nobody_kept_is_never_as_it_was() -> None:
    dark = FileState("file", 0o644, 5)
    (move,) = moves_since(deeds_of([ended(1, "one", change(dark, dark))]), 0)
    assert move.is_dark


def test_only_an_undo_without_an_end_was_cut_off() -> None:
    begun = Undone(seq=13, of=(12,), begun=True)
    assert cut_off([*log(), begun]) == begun
    assert cut_off([*log(), begun, Undone(seq=14, of=(12,))]) is None
    assert cut_off(log()) is None
    deeds = deeds_of([*log(), begun])
    assert standing(deeds)[12] and all(isinstance(deed, Deed) for deed in deeds)


def test_what_a_call_that_was_cut_off_may_have_done_is_taken_back_only_on_demand() -> None:
    late = msgspec.structs.replace(ended(2, "one", change(A, B)), late=True)
    deeds = deeds_of([replied(1, "one", "two"), late, ended(3, "two", change(B, C))])
    assert moves_since(deeds, 1) == (Move("/p/f", C, B, "late"),)
    assert moves_since(deeds, 1, late=True) == (Move("/p/f", C, A),)


def test_what_was_taken_back_of_a_call_that_was_cut_off_is_in_doubt_no_more() -> None:
    late = msgspec.structs.replace(ended(2, "one", change(A, B)), late=True)
    deeds = deeds_of([replied(1, "one"), late, Undone(seq=3, of=(2,), changes=(change(B, A),))])
    assert moves_since(deeds, 1) == (), "a second undo must not bring it back"


def child_changed(seq: int, agent: str, *changed: Change) -> Entry:
    return ChildChanged(seq=seq, agent=agent, call_id="one", changed=changed)


def with_agents() -> list[Entry]:
    """A step that sets two agents to work, one in the background, and a step after it."""
    return [
        prompted(1),
        started(2, "one"),
        AgentStarted(seq=3, agent="a", kind="explore", call_id="one", description="look"),
        child_changed(4, "a", change(A, B)),
        replied(5, "one"),
        child_changed(6, "deeper", change(B, C)),
        ended(7, "one"),
        child_changed(8, "a", change(NONE, X, "/p/new")),
        started(9, "two", Writes("/p/f")),
        ended(10, "two", change(C, A)),
        replied(11, "two"),
        prompted(12),
        child_changed(13, "", change(X, NONE, "/p/new")),
    ]


def test_what_agents_did_belongs_to_the_step_that_was_under_way() -> None:
    found = [(deed.seq, deed.step, deed.prompt, deed.name) for deed in deeds_of(with_agents())]
    assert found == [
        (4, 1, 1, "explore"),
        (6, 1, 1, "agent"),
        (8, 1, 1, "explore"),
        (10, 2, 1, "Bash"),
        (13, 2, 2, "call"),
    ]
    assert [deed.about for deed in deeds_of(with_agents())][:2] == ["look", "deeper"]


def test_what_agents_did_is_taken_back_in_order() -> None:
    deeds = deeds_of(with_agents())
    assert moves_since(deeds, 7) == (Move("/p/f", A, C),), "made and removed: nothing is left to do"
    assert moves_since(deeds, 0) == ()
    assert moves_since(deeds_of(with_agents()[:8]), 0) == (
        Move("/p/f", C, A), Move("/p/new", X, NONE),
    )  # fmt: skip
    undone = [*with_agents()[:8], Undone(seq=9, of=(4, 6, 8), changes=(change(C, A),))]
    assert last_standing(deeds_of(undone)) is None
