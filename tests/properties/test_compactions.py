"""Any log, any number of compactions, any number of messages kept: pairs hold, requests stay, and
undoing gives back what there was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.compact.boundary import boundary_of, current_request
from detent.context.compact.undoing import undoable
from detent.context.project import effective, project
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Trim,
    Trimmed,
)
from detent.types.outcomes import done
from detent.types.usage import Usage
from detent.types.verdicts import Allow
from kitbench import check_valid, compact_locally


@st.composite
def sessions(draw: st.DrawFn) -> list[Entry]:
    """As the loop writes them: calls may begin, and end, before their answer is whole."""
    log: list[Entry] = []
    number = 0
    for turn in range(draw(st.integers(1, 4))):
        log.append(Prompted(turn=turn, content=(Text(f"request {turn}"),)))
        for step in range(draw(st.integers(0, 4))):
            ids = [f"c{(number := number + 1)}" for _ in range(draw(st.integers(0, 3)))]
            early = draw(st.integers(0, len(ids)))
            answer = Replied(
                turn=turn,
                step=step,
                model="m",
                content=(Text(f"step {turn}.{step}"), *(Call(one, "Edit", "{}") for one in ids)),
                stop="tool_use" if ids else "end_turn",
                usage=Usage(),
            )
            ran: list[list[Entry]] = [
                [
                    CallStarted(
                        call_id=one, name="Edit", arguments="{}", effects=(), verdict=Allow("t")
                    ),
                    CallEnded(call_id=one, name="Edit", outcome=done(f"result of {one}")),
                ]
                for one in ids
            ]
            log += [e for pair in ran[:early] for e in pair]
            log += [answer, *(e for pair in ran[early:] for e in pair)]
            if draw(st.booleans()):
                steered = (Text(f"steered {turn}.{step}"),)
                log.append(Prompted(turn=turn, content=steered, steered=True))
    return [replace(entry, seq=place) for place, entry in enumerate(log, 1)]


def numbered(log: list[Entry], entry: Entry) -> list[Entry]:
    return [*log, replace(entry, seq=log[-1].seq + 1)]


@given(sessions(), st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_pairs_hold_and_the_request_stays(log: list[Entry], keeps: list[int]) -> None:
    request = current_request(log)
    for keep in keeps:
        compacted = compact_locally(log, keep=keep, before_tokens=1)
        if compacted is None:
            continue
        log = numbered(log, compacted)
        messages = project(log)
        check_valid(messages)
        assert "interrupted" not in str(messages), "each kept call has its own result"
        still = effective(log)
        assert [e for e in still if e in request] == request, "word for word, and in order"


@given(sessions(), st.integers(0, 6))
def test_what_is_kept_and_what_is_not_are_the_whole(log: list[Entry], keep: int) -> None:
    boundary = boundary_of(log, keep)
    if boundary is None:
        return
    assert sorted(e.seq for e in (*boundary.older, *boundary.kept)) == [e.seq for e in log]
    replies = sum(isinstance(e, Replied) for e in boundary.kept)
    assert replies <= max(1, keep // 2) if keep else replies == 0


@given(sessions(), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_undoing_all_gives_back_what_there_was(log: list[Entry], keeps: list[int]) -> None:
    before = project(log)
    for keep in keeps:
        compacted = compact_locally(log, keep=keep, before_tokens=1)
        if compacted is not None:
            log = numbered(log, compacted)
    results = [e for e in log if isinstance(e, CallEnded)]
    if results:
        log = numbered(log, Trimmed(stage="micro", trims=(Trim(results[0].seq, "short"),)))
    while undone := undoable(log, last=True):
        log = numbered(log, Restored(entries=undone))
    assert project(log) == before
    assert undoable(log) == ()


@given(sessions(), st.integers(0, 4))
def test_a_compaction_within_another_knows_it(log: list[Entry], keep: int) -> None:
    made: list[int] = []
    for depth in range(1, 4):
        compacted = compact_locally(log, keep=keep, before_tokens=1)
        if compacted is None:
            return
        assert (compacted.depth, list(compacted.lineage)) == (depth, made)
        log = numbered(log, compacted)
        made.append(log[-1].seq)
        log = numbered(log, replace(_answer(), step=depth))
        assert isinstance(log[-2], Compacted)


def _answer() -> Replied:
    content = (Text("and on"),)
    return Replied(turn=9, step=0, model="m", content=content, stop="end_turn", usage=Usage())


def test_files_told_again_are_read_once_when_it_is_undone() -> None:
    def told(seq: int, text: str, path: str = "/p/CLAUDE.md") -> Reminded:
        return Reminded(seq=seq, text=text, source="memory", path=path)

    def texts(entries: list[Entry]) -> list[str]:
        return [entry.text for entry in effective(entries) if isinstance(entry, Reminded)]

    first, cut = told(1, "a"), Compacted(seq=3, summary="s", keeps_from=3)
    said = Prompted(seq=2, turn=1, content=(Text("hi"),))
    undone = Restored(seq=6, entries=(3,))
    same = [first, said, cut, told(4, "a"), undone]
    assert [entry.seq for entry in effective(same) if isinstance(entry, Reminded)] == [1]
    other: list[Entry] = [first, said, cut, told(4, "b"), undone]
    assert texts(other) == ["b"]
    assert texts([*other, told(7, "a")]) == ["b", "a"], "what comes later changes nothing"
    late = [told(7, "b"), told(8, "a")]
    assert texts([first, said, cut, undone, *late]) == ["a", "b", "a"], "nor is it a twin"
    assert texts([first, said, told(4, "a"), undone]) == ["a", "a"], "nothing was undone"
    assert texts([first, said, cut, told(4, "b", "/q"), undone]) == ["a", "b"]
