"""Every block of a request knows its entry."""

from __future__ import annotations

from detent.context.project import effective, project
from detent.context.provenance import origins, sent_before
from detent.types.content import Call, Image, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Trim,
    Trimmed,
)
from detent.types.outcomes import Cut, Done, Failed, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow


def replied(seq: int, *blocks: object) -> Replied:
    return Replied(
        seq=seq,
        turn=1,
        step=1,
        model="m",
        content=blocks,
        stop="x",
        usage=Usage(),  # type: ignore[arg-type]
    )


LOG: list[Entry] = [
    Opened(seq=1, session="s", cwd="/", version="0"),
    Prompted(seq=2, turn=1, content=(Text("do"), Image("image/png", "cGl4"))),
    Reminded(seq=3, text="rules", source="memory", path="/CLAUDE.md", leads=True),
    CallStarted(seq=4, call_id="a", name="B", arguments="{}", effects=(), verdict=Allow("rule")),
    CallEnded(seq=5, call_id="a", name="B", outcome=done("one")),
    replied(6, Text("ok"), Call("a", "B", "{}"), Call("b", "B", ""), Call("c", "B", "{}"),
            Call("d", "B", "{}"), Call("e", "B", "{}")),
    CallEnded(seq=7, call_id="b", name="B", outcome=Failed("no")),
    CallEnded(seq=8, call_id="c", name="B", outcome=Refused("never", "rule")),
    CallEnded(seq=9, call_id="d", name="B", outcome=Cut("late", "half")),
    CallEnded(seq=10, call_id="e", name="B", outcome=Done((Text(" "),))),
    Reminded(seq=11, text="news", source="background"),
    replied(12, Text("done")),
    Prompted(seq=13, turn=2, content=(Text("more"),)),
]  # fmt: skip


def test_every_block_has_its_entry() -> None:
    assert origins(effective(LOG)) == [
        (3, 2, 2),
        (6, 6, 6, 6, 6, 6),
        (5, 7, 8, 9, 10, 11),
        (12,),
        (13,),
    ]


def test_a_call_without_a_result_has_one_from_its_answer() -> None:
    assert origins(effective(LOG[:6]))[-1] == (5, 6, 6, 6, 6)


def test_after_a_compaction_and_a_trim() -> None:
    log: list[Entry] = [
        *LOG,
        Trimmed(seq=14, stage="micro", trims=(Trim(7, "short"),)),
        Compacted(seq=15, summary="so far", keeps_from=7, keeps=(2,)),
    ]
    assert origins(effective(log))[0] == (15, 2, 2, 11)
    assert origins(effective(log[:-1])) == origins(effective(LOG))


def test_the_request_of_an_answer_is_without_what_ran_while_it_streamed() -> None:
    first, second = LOG[5], LOG[11]
    assert isinstance(first, Replied)
    assert isinstance(second, Replied)
    assert [entry.seq for entry in sent_before(LOG, first)] == [1, 2, 3]
    assert sent_before(LOG, second) == LOG[:11]
    assert project(sent_before(LOG, second)) == project(LOG)[:3]
