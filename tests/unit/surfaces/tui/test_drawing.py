"""How single things look."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.surfaces.tui.blocks import (
    Card,
    Check,
    FileTally,
    Finished,
    Output,
    Prose,
    Said,
    Thought,
    Told,
)
from detent.surfaces.tui.drawing import diff, live, markdown
from detent.surfaces.tui.drawing.amounts import bar, dollars, seconds, tokens
from detent.surfaces.tui.drawing.blocks import drawn, is_apart
from detent.surfaces.tui.drawing.flow import Chunk
from detent.surfaces.tui.drawing.highlight import highlighted
from detent.surfaces.tui.screen.spans import columns, plain
from detent.surfaces.tui.transcript import Transcript
from detent.surfaces.tui.view import Running, Tally, View, Worker
from detent.types.events import TurnEnded
from detent.types.outcomes import Cut, Done, Failed, Refused, done
from detent.types.usage import Usage
from terminalbench import DARK, Written, look, raw_in_line


def lines(block: Any, width: int = 60, **more: Any) -> list[str]:
    return drawn(block, look(width, **more))


def card(outcome: Any, arguments: str = '{"command":"make"}', **more: Any) -> Card:
    return Card(more.pop("name", "Bash"), arguments, outcome, **more)


# --- cards


def test_a_call_that_went_well_is_one_line() -> None:
    assert lines(card(done("fine"), ms=2_500)) == ["✓ Bash make · fine · 2.5s"]
    read = card(done("x\ny"), '{"file_path":"/p/a/b.py"}', name="Read")
    assert lines(read, cwd="/p")[0].startswith("✓ Read a/b.py"), "files by their name in the folder"
    assert "/p/a/b.py" in lines(read, cwd="/q")[0]


def test_others_stand_open() -> None:
    text = "\n".join(f"line {number}" for number in range(15))
    found = lines(card(Failed(text, {"exitCode": 2})))
    assert found[0] == "✗ Bash make · exit 2"
    assert found[1] == "  … 5 lines above (ctrl+o shows all)" and found[-1] == "  line 14"
    assert len(found) == 12
    assert lines(card(Refused("A rule\nsays no", "rule"))) == [
        "⊘ Bash make · not permitted", "  A rule", "  says no",
    ]  # fmt: skip
    assert lines(card(Cut("timed out", "so far")))[0] == "✂ Bash make · cut off"


def test_an_edit_shows_what_it_changed() -> None:
    hunk = {"oldStart": 9, "newStart": 9, "lines": [" a", "-old\tx", "+new\x1b x", " b"]}
    data = {"filePath": "/p/a.py", "structuredPatch": [hunk]}
    edit = card(Done((), data), '{"file_path":"/p/a.py"}', name="Edit")
    found = lines(edit, cwd="/p")
    assert found[0] == "✓ Edit a.py · +1 -1"
    assert [line.strip() for line in found[1:]] == [
        "9   a", "10 - old x", "10 + new<U+001B> x", "11   b",
    ]  # fmt: skip


def test_a_long_change_is_shown_in_part_and_whole_in_the_transcript() -> None:
    data = {"type": "create", "filePath": "/p/a", "content": "line\n" * 100, "structuredPatch": []}
    made = card(Done((), data), '{"file_path":"/p/a"}', name="Write")
    found = lines(made)
    assert found[0].endswith("new, 100 lines") and len(found) < 40
    assert "76 more lines" in found[-1]
    assert len(lines(made, detailed=True)) > 100


def test_the_transcript_tells_every_argument_and_every_line() -> None:
    long = "word " * 60
    told = card(done(f"{long}\n\ttab"), '{"command":"a\\nb","bad\\u001b[2J":{"x":1}}')
    found = lines(told, detailed=True)
    text = "\n".join(found)
    assert "command: a" in text and "bad[2J: {'x': 1}" in text
    assert " ".join(text.split()).count("word") >= 60, "nothing is cut"
    assert all(columns(line) <= 60 and raw_in_line(line) == [] for line in found)


@pytest.mark.parametrize("name", ["A\nB", "A\x1b[2J", "A\tB" * 40])
def test_names_cannot_pass_for_lines_of_ours(name: str) -> None:
    for told in (
        card(done("x"), name=name),
        card(done("x"), agent=name),
        card(done("x"), f'{{"pattern":"a","path":{name!r}}}'.replace("'", '"')),
        card(Done((), {"totalSteps": 1, "status": name})),
    ):
        found = lines(told)
        assert len(found) == 1 and raw_in_line(found[0]) == [] and columns(found[0]) <= 60


# --- changes


def test_the_part_of_a_line_that_differs_is_marked() -> None:
    hunk = {"oldStart": 1, "newStart": 1, "lines": ["-return a - b", "+return a + b"]}
    old, new = diff.drawn([hunk], "", 80, DARK, 99)
    assert DARK.paint("removed_part", "-") in old and DARK.paint("added_part", "+") in new
    other = {"oldStart": 1, "newStart": 1, "lines": ["-abcdef", "+123456"]}
    assert DARK.codes["added_part"] not in "".join(diff.drawn([other], "", 80, DARK, 99))


def test_hunks_are_told_apart_and_numbered() -> None:
    hunks = [
        {"oldStart": 1, "newStart": 1, "lines": ["-a", "-b", "+c"]},
        {"oldStart": 99, "newStart": 98, "lines": [" x", "+y"]},
    ]
    found = [plain(line) for line in diff.drawn(hunks, "a.py", 80, DARK, 99)]
    assert found == [" 1 - a", " 2 - b", " 1 + c", "   …", "98   x", "99 + y"]
    assert diff.counted_lines(hunks) == (2, 2)


# --- Markdown


def md(text: str, width: int = 30, kind: Any = "prose", **more: Any) -> list[str]:
    return [plain(line) for line in markdown.drawn(Chunk(kind, text, **more), width, DARK)]


def test_markdown() -> None:
    assert md("# Head") == ["Head"]
    assert md("a **b** `c` _d_ ~~e~~") == ["a b c d e"]
    assert md("- one\n- two\n  1. x\n  2. y", kind="item") == ["• one", "• two", "  1. x", "  2. y"]
    assert md("> quoted words") == ["▎ quoted words"]
    assert md("[here](https://a.b) <https://c.d>", 60) == ["here (https://a.b) https://c.d"]
    assert md("![a cat](x.png)") == ["[a cat]"]
    assert md("one  \ntwo\nthree") == ["one", "two three"]
    assert md("---")[0].startswith("───")
    assert md("x = 1", kind="code", language="python") == ["  x = 1"]
    assert md("| a | bb |\n|---|---|\n| 1 | 2 |") == ["a  bb", "─────", "1  2"]


def test_a_table_is_narrowed_until_it_fits() -> None:
    found = md("| " + "x" * 50 + " | short |\n|---|---|\n| 日本語日本語日本語日本語 | y |", 24)
    assert all(columns(line) <= 24 for line in found) and "…" in found[0]


@pytest.mark.parametrize(
    "text",
    [
        "&#x202e;evil",
        "a&NewLine;b",
        "a&#10;b",
        "&#13;x",
        "&Tab;|",
        "| a&#10;b |\n|---|\n| c |",
        "# a&#10;b",
    ],
)
def test_characters_that_are_written_by_their_number_are_not_obeyed(text: str) -> None:
    for line in markdown.drawn(Chunk("prose", text), 30, DARK):
        assert raw_in_line(line) == []


def test_what_belongs_to_an_item_stands_under_it_but_not_outside_of_the_screen() -> None:
    assert md("words", indent=4) == ["    words"]
    found = md("some words in a row", width=24, indent=200)
    assert all(columns(line) <= 24 for line in found)


def test_code_in_colours() -> None:
    roles = {span.text: span.role for span in highlighted("def f(): return 'x'  # no", "python")}
    assert roles["def"] == "keyword" and roles["f"] == "name" and roles["# no"] == "comment"
    assert [span.role for span in highlighted("def f()", "no such language")] == [""]
    assert [span.role for span in highlighted("x" * 600, "python")] == [""], "that is data"
    for line in ("  indented", "\\", "'''", "日本 = 1", ""):
        assert "".join(span.text for span in highlighted(line, "python")) == line


# --- what is at work


def test_a_call_at_work_tells_how_long_it_takes_and_what_it_prints() -> None:
    call = Running("c", "Bash", '{"command":"make"}', 10.0, "one\ntwo\n\n\tthree\nfour\n")
    found = live.running([call], 11.0, look())
    assert found == ["▸ Bash make", "  two", "      three", "  four"]
    assert live.running([call], 75.0, look())[0].endswith(" · 1m 05s")
    many = live.running([Running(str(n), "T", "{}", 0.0) for n in range(9)], 0.0, look())
    assert many[-1] == "  … and 3 more calls"


@pytest.mark.parametrize(
    "text, share",
    [
        ("3 of 12 files", 0.25),
        ("12 of 12: done", 1.0),
        ("9 of 0", 1.0),
        ("50 of 12", 1.0),
        ("9" * 500 + " of 1", 1.0),
        ("one of 12", None),
        ("3 of", None),
        ("", None),
    ],
)
def test_how_much_of_a_known_length_is_done(text: str, share: float | None) -> None:
    assert live._share(text) == share


def running(**more: Any) -> View:
    return View(tally=Tally(begun=100.0, usage=Usage(1_200, 40), written=400), **more)


def test_one_line_says_that_it_lives() -> None:
    numbers = live.Numbers(dollars=0.5, left="$1.5000 left")
    line = live.live_line(running(phase="thinking"), numbers, 112.0, "", look(100))
    assert line.endswith(
        "Thinking… (12s · ↑ 1.2k ↓ 140 tokens · $0.5000 · $1.5000 left · esc to interrupt)"
    )
    assert live.live_line(View(), numbers, 1.0, "", look()) == "", "no turn runs"
    unpriced = live.live_line(running(), live.Numbers(is_unpriced=True), 112.0, "", look(100))
    assert "$" not in unpriced
    narrow = live.live_line(running(), numbers, 112.0, "", look(44))
    assert "esc to interrupt" in narrow and columns(narrow) <= 44


def test_an_error_of_many_lines_is_told_in_one() -> None:
    note = "overloaded\nTry\x1b[2J later; retry 1/3 in 2 s"
    line = live.live_line(
        running(phase="retrying", note=note), live.Numbers(), 100.0, "", look(100)
    )
    assert "Overloaded Try[2J later; retry 1/3" in line and raw_in_line(line) == []


def test_a_subagent_tells_what_it_does_and_what_it_costs() -> None:
    worker = Worker(
        "a", "find it", "explore", 100.0, background=True, depth=2, calls=1, doing="Bash ls",
        usage=Usage(900, 100), model="m",
    )  # fmt: skip
    numbers = live.Numbers(price=lambda model, usage: 0.25 if model == "m" else None)
    (line,) = live.workers([worker], numbers, 103.0, look(100))
    assert line == (
        "  ◦ explore find it (background) · 3.0s · 1 call · 1k tokens · $0.2500 · Bash ls"
    )
    assert "more agents" in live.workers([worker] * 12, numbers, 103.0, look())[-1]


# --- the end of a turn


def test_the_end_of_a_turn_tells_files_checks_and_cost() -> None:
    ended = TurnEnded(turn=1, reason="max_turns", ms=65_000)
    block = Finished(
        ended,
        (FileTally("/p/a.py", "changed", 3, 1, is_counted=True), FileTally("/q/b\nc", "made")),
        (Check("pytest -q", 1), Check("mypy", 0, is_stale=True)), 12_345, 0.5,
    )  # fmt: skip
    text = " ".join(lines(block, 200, cwd="/p"))
    for part in (
        "limit of steps", "M a.py +3 -1", "A /q/b c", "pytest -q → exit 1",
        "mypy → exit 0 (before the last edit)", "12.3k tokens", "$0.5000", "1m 05s",
    ):  # fmt: skip
        assert part in text, part
    many = tuple(FileTally(f"/f{number}", "made") for number in range(20))
    assert "14 more files" in " ".join(lines(Finished(ended, many), 300))


# --- what is said


def test_what_the_person_said_hangs_and_is_shown_in_part() -> None:
    assert lines(Said("go\nthere")) == ["❯ go", "  there"]
    assert lines(Said("wait", steered=True, attached=2)) == ["+ wait", "  (with 2 attachments)"]
    long = Said("\n".join("x" for _ in range(100)))
    assert lines(long)[-1] == "  … 60 more lines" and len(lines(long, detailed=True)) == 100


def test_thinking_is_told_and_shown_to_who_wants_it() -> None:
    thought = Thought("because\nof", 65.0)
    assert lines(thought) == ["∴ Thought for 1m 05s"]
    assert lines(thought, shows_thinking=True) == ["∴ Thought for 1m 05s", "  because", "  of"]


def test_outputs() -> None:
    assert lines(Output("/x", "a\tb\n\x1b[31mc")) == ["❯ /x", "a   b", "[31mc"]
    assert lines(Output("", "# A\n\n- b", is_markdown=True)) == ["A", "", "• b"]
    coloured = drawn(Output("", "+a\n-b\n c", is_diff=True), look(theme=DARK))
    assert coloured[0] == DARK.paint("added", "+a") and coloured[1] == DARK.paint("removed", "-b")


def test_blank_lines_stand_between_what_is_of_another_kind() -> None:
    prose, near = Prose(Chunk("prose", "a", spaced=True)), Prose(Chunk("item", "b"))
    assert not is_apart(None, prose)
    assert is_apart(prose, prose) and not is_apart(prose, near)
    assert not is_apart(card(done("")), card(done(""))) and not is_apart(Told("a"), Told("b"))
    assert is_apart(prose, card(done(""))) and is_apart(Said("x"), prose)


# --- amounts


def test_amounts() -> None:
    assert [tokens(n) for n in (0, 999, 1_000, 1_250, 999_949, 999_950, 3_400_000)] == [
        "0", "999", "1k", "1.2k", "999.9k", "1M", "3.4M",
    ]  # fmt: skip
    assert [seconds(n) for n in (-1, 0.44, 9.9, 12.9, 65, 3_725)] == [
        "0.0s", "0.4s", "9.9s", "12s", "1m 05s", "1h 02m",
    ]  # fmt: skip
    assert dollars(0.5) == "$0.5000" and dollars(1234.5) == "$1,234.50"
    assert bar(0.5, 4) == "██░░" and bar(9, 4) == "████" and bar(-1, 4) == "░░░░"


# --- the transcript


def test_the_transcript_is_looked_at_in_pages() -> None:
    async def play() -> None:
        terminal = Written(40, 11)
        blocks = [Told(f"line {number}") for number in range(500)]
        found = Transcript(blocks, look(40), terminal.size)

        def press(key: str) -> list[str]:
            found.press(key, terminal.write)
            return [row.strip() for row in terminal.glass.display]

        assert press("end")[:2] == ["· line 490", "· line 491"]
        assert press("up")[0] == "· line 489" and "1 lines below" in press("x")[-1]
        assert press("page up")[0] == "· line 480"
        assert press("home")[0] == "· line 0"
        assert press("up")[0] == "· line 0", "there is nothing above"
        assert press("page down")[0] == "· line 9"
        assert press("end")[0] == "· line 490"
        assert not found.over.done()
        press("q")
        assert found.over.done()
        press("escape")

    asyncio.run(play())


def test_only_what_is_looked_at_is_drawn() -> None:
    async def play() -> None:
        terminal = Written(40, 11)
        found = Transcript([Told("x")] * 100_000, look(40), terminal.size)
        found.paint(terminal.write)
        assert len(found._lines) < 1_000

    asyncio.run(play())
