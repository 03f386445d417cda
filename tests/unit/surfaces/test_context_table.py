"""The ledger as people and hosts see it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from detent.context.ledger import rows_of
from detent.surfaces.commands.context_table import bar, printed, usual_width
from detent.surfaces.headless.context_usage import context_usage, lengths
from detent.types.budget import Spent
from detent.types.events import Reminded
from detent.types.ledger import ContextLedger, LedgerBlock
from detent.types.usage import Usage

BLOCKS = (
    LedgerBlock(0, "frame", "frame", 0, "names", 150, 0, 0),
    LedgerBlock(1, "tools", "tool", 0, "mcp__git__log", 900, 300, 310, 310, "read"),
    LedgerBlock(2, "system prompt", "stable prompt", 0, "Work", 400, 90, 100, 100, "read"),
    LedgerBlock(3, "memory", "memory", 3, "/p/CLAUDE.md (project)", 50, 9, 10, 10, "written", 0),
    LedgerBlock(4, "results", "result", 5, "result of Bash: \x1b[2Jls", 4000, 999, 999, None,
                "unsent", 0),
)  # fmt: skip
LEDGER = ContextLedger(
    session="s-1",
    model="m",
    step=0,
    steps=2,
    bytes=5500,
    tokens=1419,
    window=10_000,
    reserved=1_000,
    free=7_581,
    state="NORMAL",
    is_automatic=True,
    is_exact=True,
    differs="",
    usage=Usage(5, 1, 400, 10),
    rows=rows_of(BLOCKS),
    blocks=BLOCKS,
    missed="2,000 tokens were not read",
    spent={"main": Spent(usage=Usage(400, 20), dollars=0.5)},
)


@pytest.mark.parametrize("width", [20, 40, 80, 120, 300])
def test_the_bar_is_as_wide_as_the_terminal(width: int) -> None:
    plain = bar(LEDGER, width, is_coloured=False)
    assert len(plain) == min(width, 120)
    assert set("STMR·o") <= set(plain), "however small, it is there"
    coloured = bar(LEDGER, width, is_coloured=True)
    assert len(re.sub(r"\x1b\[\d+m", "", coloured)) == len(plain)


def test_lengths_fill_the_room() -> None:
    assert lengths([0, 1, 10_000], 50) == [0, 1, 49]
    assert sum(lengths([5, 5, 5], 100)) == 100
    assert lengths([0, 0], 10) == [10, 0]


def test_what_people_read() -> None:
    lines = list(printed(LEDGER, 100, is_whole=True, is_coloured=False))
    text = "\n".join(lines)
    assert "Session s-1 · m · the next request" in text
    assert "1,419 of 10,000 tokens (14%) · NORMAL · 5,500 bytes" in text
    assert "400 tokens read, 10 written, 5 fresh" in text
    assert "Last miss: 2,000 tokens were not read" in text
    assert "Spent by the session: main 420 tokens ($0.5000)" in text
    assert "\x1b" not in text, "nothing from a result reaches the terminal"
    assert lines[-1].split()[:4] == ["~999", "4,000", "5", "unsent"]
    assert "result: Bash: " in lines[-1]


def test_what_a_host_reads() -> None:
    entries = [Reminded(seq=3, text="t", source="memory", path="/p/CLAUDE.md", why="project")]
    told = context_usage(LEDGER, entries)
    assert told["memoryFiles"] == [{"path": "/p/CLAUDE.md", "type": "project", "tokens": 10}]
    assert told["mcpTools"] == [
        {"name": "mcp__git__log", "serverName": "git", "tokens": 310, "isLoaded": True}
    ]
    assert (told["totalTokens"], told["maxTokens"], told["percentage"]) == (1419, 10_000, 14)
    assert [len(row) for row in told["gridRows"]] == [10] * 10
    shown = {square["categoryName"] for row in told["gridRows"] for square in row}
    assert {"Tools", "Memory", "Results", "Free space", "Reserved output"} <= shown
    assert sum(one["tokens"] for one in told["categories"]) == 10_000


@pytest.mark.parametrize("width", [40, 47, 59, 60, 80])
@pytest.mark.parametrize("state", ["NORMAL", "CRITICAL"])
def test_a_narrow_terminal_wraps_nothing(width: int, state: Any) -> None:
    wide = replace(
        LEDGER,
        session="0f8fad5b-d9cb-469f-a165-70867728950e",
        model="claude-sonnet-5-5",
        tokens=1_061_309,
        window=2_000_000,
        bytes=4_244_850,
        state=state,
        spent={},
        missed="",
        usage=None,
    )
    lines = list(printed(wide, width, is_whole=True, is_coloured=False))
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("Session 0f8fad5b") and state in lines[2]
    assert any(line.startswith("  S system prompt") and line.endswith("%") for line in lines)
    if width == 40:
        assert lines[0].endswith("…")


def test_without_a_terminal_the_table_has_its_usual_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    assert usual_width() == 100
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert usual_width() == 44
