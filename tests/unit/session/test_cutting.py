"""A session cut anywhere is whole."""

from __future__ import annotations

from detent.session.cutting import after_step, moved, results_lacking, whole
from detent.types.agents import ChildChanged
from detent.types.content import Call, Text
from detent.types.effects import Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Cut, Done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

FILE = FileState("file", 0o644, 1, "a")


def log() -> list[Entry]:
    """The first answer has two calls; of the second, one began while it still streamed."""
    return [
        Prompted(seq=1, turn=1, content=(Text("go"),)),
        _replied(2, "a", "b"),
        _started(3, "a"),
        _ended(4, "a"),
        _started(5, "b"),
        _ended(6, "b"),
        _started(7, "c"),
        _replied(8, "c"),
        _ended(9, "c"),
    ]


def _replied(seq: int, *calls: str) -> Replied:
    content = tuple(Call(call, "Bash", "{}") for call in calls)
    return Replied(seq=seq, turn=1, step=1, model="m", content=content, stop="s", usage=Usage(1, 1))


def _started(seq: int, call: str) -> CallStarted:
    return CallStarted(
        seq=seq, call_id=call, name="Bash", arguments="{}", effects=(), verdict=Allow("t")
    )


def _ended(seq: int, call: str) -> CallEnded:
    return CallEnded(seq=seq, call_id=call, name="Bash", outcome=Done((Text("ok"),)))


def test_a_step_ends_with_its_last_call() -> None:
    assert after_step(log(), 1) == 6
    assert after_step(log(), 2) == 9
    assert after_step(log(), 3) is None and after_step(log(), 0) is None


def test_calls_without_their_answer_are_left_out() -> None:
    assert whole(log(), 7) == 6
    assert [whole(log(), seq) for seq in (1, 4, 6, 8, 9)] == [1, 4, 6, 8, 9]


def test_calls_without_a_result_get_one() -> None:
    at = [entry for entry in log() if entry.seq <= 4]
    (lacking,) = results_lacking(at)
    assert lacking.call_id == "b" and isinstance(lacking.outcome, Cut)
    assert results_lacking(log()) == []


def test_what_is_said_of_files_moves_along() -> None:
    started = CallStarted(
        call_id="a",
        name="Write",
        arguments='{"file_path":"/old/f"}',
        effects=(Writes("/old/f"), Runs("cat /old/f"), Writes("/older/f")),
        verdict=Allow("t"),
        kept={"/old/f": FILE},
    )
    there = moved(started, "/old", "/new")
    assert isinstance(there, CallStarted)
    assert there.effects == (Writes("/new/f"), Runs("cat /old/f"), Writes("/older/f"))
    assert there.kept == {"/new/f": FILE}
    ended = CallEnded(
        call_id="a",
        name="Write",
        outcome=Done((Text("wrote /old/f"),)),
        seen={"/old/f": "d"},
        cwd="/old",
        changed=(Change("/old/f", after=FILE),),
    )
    after = moved(ended, "/old", "/new")
    assert isinstance(after, CallEnded)
    assert (after.seen, after.cwd) == ({"/new/f": "d"}, "/new")
    assert after.changed == (Change("/new/f", after=FILE),)
    assert after.outcome == ended.outcome
    child = moved(ChildChanged(agent="a", call_id="c", changed=ended.changed), "/old", "/new")
    assert isinstance(child, ChildChanged) and child.changed == after.changed
    undone = moved(Undone(of=(1,), changes=after.changed, left=("/old/x",)), "/old", "/new")
    assert isinstance(undone, Undone) and undone.left == ("/new/x",)
