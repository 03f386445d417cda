"""Shares that add up, and how far a cache reached."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from detent.context.ledger import Sent, blocks_of, carried_over, counted, marked, rows_of, shares
from detent.context.project import project
from detent.types.content import Call, Image, Text, Thinking
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Trim,
    Trimmed,
    Withheld,
)
from detent.types.messages import Request, ToolSpec
from detent.types.outcomes import Done, done
from detent.types.usage import Usage
from detent.types.weights import Weights

TOOLS = [ToolSpec(name, "Does it. " * 20, Raw(b"{}")) for name in ("Bash", "Read")]
NOTHING = Usage()
SYSTEM = ("You are Detent.\n\n# Work\n" + "Be brief. " * 40, "Folder: /p")


def replied(seq: int, *blocks: object, usage: Usage = NOTHING) -> Replied:
    return Replied(
        seq=seq,
        turn=1,
        step=1,
        model="m",
        content=blocks,
        stop="x",
        usage=usage,  # type: ignore[arg-type]
    )


LOG: list[Entry] = [
    Opened(seq=1, session="s", cwd="/", version="0"),
    Prompted(seq=2, turn=1, content=(Text("build it"), Image("image/png", "cGl4"))),
    Reminded(seq=3, text="rules", source="memory", path="/p/CLAUDE.md", why="project", leads=True),
    replied(4, Thinking("hm", "sig"), Text("ok"), Call("a", "Bash", '{"command":"make test"}')),
    CallEnded(seq=5, call_id="a", name="Bash", outcome=done("passed " * 200)),
    Reminded(seq=6, text="a job ended", source="background"),
]


def sent(entries: list[Entry], marks: bool = True) -> Sent:
    request = Request(SYSTEM, project(entries), TOOLS)
    sizes = tuple(tuple(100 for _ in message.content) for message in request.messages)
    total = 10 + 500 + 50 * 3 + sum(map(sum, sizes))
    return Sent(request, Weights(total, 10, (500, 50), (50, 50), sizes, marks), entries)


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_shares_add_up(total: int, estimates: list[int]) -> None:
    found = shares(total, estimates)
    assert sum(found) == total
    assert len(found) == len(estimates)
    if whole := sum(estimates):
        for share, estimate in zip(found, estimates, strict=True):
            assert abs(share - total * estimate / whole) <= 1


def test_each_block_says_what_it_is() -> None:
    blocks = blocks_of(sent(LOG))
    assert [(b.category, b.kind, b.origin, b.reason) for b in blocks] == [
        ("frame", "frame", 0, "names, limits, brackets"),
        ("tools", "tool", 0, "Bash"),
        ("tools", "tool", 0, "Read"),
        ("system prompt", "stable prompt", 0, "You are Detent."),
        ("system prompt", "stable prompt", 0, "Work"),
        ("system prompt", "session's prompt", 0, "Folder: /p"),
        ("memory", "memory", 3, "/p/CLAUDE.md (project)"),
        ("messages", "prompt", 2, "what you said"),
        ("images", "image", 2, "what you said"),
        ("messages", "thinking", 4, "m"),
        ("messages", "answer", 4, "m"),
        ("messages", "call", 4, "Bash: make test"),
        ("results", "result", 5, "result of Bash: make test"),
        ("messages", "reminder", 6, "background"),
    ]
    assert [b.number for b in blocks] == list(range(14))
    assert [b.bytes for b in blocks[3:6]] == [19, 481, 50], "a section has its own, as JSON"
    rows = rows_of(blocks)
    assert sum(row.bytes for row in rows) == sum(b.bytes for b in blocks) == 1460
    assert [row.name for row in rows][:3] == ["system prompt", "tools", "memory"]


def test_what_reads_otherwise_than_it_was_recorded_says_why() -> None:
    log: list[Entry] = [
        *LOG,
        Trimmed(seq=7, stage="micro", trims=(Trim(5, "short"),)),
        Withheld(seq=8, entries=(2,), reason="too large"),
    ]
    reasons = {b.origin: b.reason for b in blocks_of(sent(log))}
    assert reasons[5] == "result of Bash: make test, shortened by micro"
    assert reasons[2] == "what you said, without pictures"
    assert reasons[4] == "Bash: make test"
    whole = {b.origin: b.reason for b in blocks_of(sent([*log, Restored(seq=9, entries=(7,))]))}
    assert whole[5] == "result of Bash: make test"


def test_a_summary_says_of_what() -> None:
    log = [*LOG, Compacted(seq=7, summary="so far", keeps_from=7, replaced=3)]
    block = blocks_of(sent(log))[-1]
    assert (block.category, block.origin) == ("summary", 7)
    assert block.reason == "summary of 3 messages (auto)"


def test_a_picture_in_a_result_is_one() -> None:
    shown = Done((Text("see"), Image("image/png", "cGl4")))
    log = [*LOG[:4], CallEnded(seq=5, call_id="a", name="Bash", outcome=shown)]
    assert blocks_of(sent(log))[-1].category == "images"


def test_what_was_billed_is_shared_out() -> None:
    blocks = counted(blocks_of(sent(LOG)), Usage(100, 7, 2000, 300), is_marked=True)
    assert sum(b.billed or 0 for b in blocks) == 2400
    assert all(b.tokens == b.billed for b in blocks)
    assert max(blocks, key=lambda b: b.tokens).kind == "image"


def test_nothing_reported_leaves_estimates() -> None:
    blocks = blocks_of(sent(LOG))
    assert counted(blocks, Usage(), is_marked=True) == blocks


def test_marks_stand_at_the_ends() -> None:
    log = [*LOG, replied(7, Text("x")), Prompted(seq=8, turn=2, content=(Text("more"),))]
    blocks = blocks_of(sent(log))
    assert [blocks[n].reason for n in marked(blocks)] == [
        "Read", "Work", "background", "what you said",
    ]  # fmt: skip


def test_the_cache_ends_at_a_mark() -> None:
    log = [*LOG, replied(7, Text("x")), Prompted(seq=8, turn=2, content=(Text("more " * 99),))]
    blocks = blocks_of(sent(log))
    total = sum(b.estimate for b in blocks)
    kept = sum(b.estimate for b in blocks if b.origin < 7)
    usage = Usage(0, 1, kept + 9, total - kept - 9)
    found = counted(blocks, usage, is_marked=True)
    assert {b.cache for b in found if b.origin < 7} == {"read"}
    assert [b.cache for b in found if b.origin >= 7] == ["written", "written"]
    cold = counted(blocks, Usage(5, 1, 0, total - 5), is_marked=True)
    assert {b.cache for b in cold} == {"written"}


def test_without_marks_the_cache_ends_anywhere() -> None:
    blocks = blocks_of(sent(LOG))
    head = sum(b.estimate for b in blocks[:6])
    total = sum(b.estimate for b in blocks)
    found = counted(blocks, Usage(total - head, 1, head), is_marked=False)
    assert [b.cache for b in found] == ["read"] * 6 + ["fresh"] * 8
    silent = counted(blocks, Usage(total, 1), is_marked=False)
    assert {b.cache for b in silent} == {""}


def test_the_next_request_knows_what_the_last_one_cost() -> None:
    reply = replied(7, Text("x" * 40), usage=Usage(500, 60, 1000, 900))
    last = counted(blocks_of(sent(LOG)), reply.usage, is_marked=True)
    log = [*LOG, reply, Prompted(seq=8, turn=2, content=(Text("more words to read. " * 9),))]
    now = carried_over(blocks_of(sent(log)), last, reply)
    assert [(b.tokens, b.billed, b.cache) for b in now[1:14]] == [
        (b.tokens, b.billed, b.cache) for b in last[1:]
    ]
    assert (now[14].tokens, now[14].billed, now[14].cache) == (60, None, "unsent")
    scale = 2400 / sum(b.estimate for b in last)
    assert (now[15].tokens, now[15].cache) == (round(now[15].estimate * scale), "unsent")
    assert now[15].tokens != now[15].estimate


def test_after_a_compaction_only_the_head_is_known() -> None:
    reply = replied(7, Text("x"), usage=Usage(500, 60, 1000, 900))
    last = counted(blocks_of(sent(LOG)), reply.usage, is_marked=True)
    log = [*LOG, reply, Compacted(seq=8, summary="so far", keeps_from=8)]
    now = carried_over(blocks_of(sent(log)), last, reply)
    assert [b.billed is not None for b in now] == [True] * 6 + [False]
    assert now[6].cache == "unsent"
