"""Sessions as people read them: nothing that a terminal obeys, and no line wider than it."""

from __future__ import annotations

import pytest

from detent.app.sessions.records import Overview, TurnView
from detent.session.facts import SessionCard
from detent.session.index.searching import Hit
from detent.surfaces.tables.choice import (
    DOWN,
    ERASE,
    ERASE_ALL,
    ERASE_WORD,
    PAGE_DOWN,
    UP,
    Choice,
)
from detent.surfaces.tables.session_table import found, listed, told
from detent.surfaces.tables.widths import fitted, width_of
from detent.types.budget import Spent

HOSTILE = "\x1b]0;x\x07red\u202e\u200b\x9b2J 日本語\n\tnext\x00"


def card(
    id: str = "0b4cf9a2-7c1e", title: str = "fix it", name: str = "", cwd: str = "/p"
) -> SessionCard:
    return SessionCard(id, f"/h/{id}", cwd, 1000.0, title, 2, 900.0, name)


def hit(snippet: str, *marks: tuple[int, int]) -> Hit:
    return Hit("0b4cf9a2-7c1e", "", HOSTILE, "/p", "/h", 3, 9, 1000.0, "result", snippet, marks)


def is_plain(line: str) -> bool:
    return all(char.isprintable() for char in line) and "\u202e" not in line


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🎉", 2), ("", 0), ("ａ", 2)]
)
def test_widths(text: str, width: int) -> None:
    assert width_of(text) == width
    assert fitted(text, width) == text


@pytest.mark.parametrize("width", range(12))
def test_what_does_not_fit_is_cut(width: int) -> None:
    for text in ("abcdefghijkl", "日本語テストです", "a日b本c語d"):
        cut = fitted(text, width)
        assert width_of(cut) <= width
        assert cut == text or not width or cut.endswith("…")


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    cards = [card(title=HOSTILE * 9, name=HOSTILE, cwd=HOSTILE * 9), card("9c")]
    for line in listed(cards, width, everywhere=True):
        assert width_of(line) <= width and is_plain(line)
    text = "x" * 50 + " walrus " + "日本" * 50
    for line in found([hit(text, (51, 57)), hit("walrus", (0, 6))], width, is_coloured=False):
        assert width_of(line) <= width + 2 and is_plain(line)
    marked = list(found([hit(text, (51, 57))], width, is_coloured=False))[1]
    assert "»walrus«" in marked, "what was looked for is inside, however narrow it is"


def test_where_nothing_is_a_terminal_nothing_is_cut() -> None:
    (line,) = listed([card(title="x" * 80)], 0, everywhere=True)
    assert line.startswith("0b4cf9a2-7c1e  ") and line.endswith("x" * 80 + "  /p")


def test_ids_are_short_in_a_terminal_as_long_as_they_differ() -> None:
    (line,) = listed([card()], 100, everywhere=False)
    assert line.startswith("0b4cf9a2  ")
    one, two = listed([card(), card("0b4cf9a2-ffff")], 100, everywhere=False)
    assert one.startswith("0b4cf9a2-7c1e  ") and two.startswith("0b4cf9a2-ffff  ")


def test_colours_end_where_the_words_do() -> None:
    _, line = found([hit("a walrus \x1b[31m here", (2, 8))], 80, is_coloured=True)
    assert line == "    a \x1b[1mwalrus\x1b[0m [31m here"


def test_a_session_at_a_glance_is_plain() -> None:
    turn = TurnView(3, 1000.0, HOSTILE, HOSTILE, (1, 2), 1, (HOSTILE,), "", HOSTILE, 5, True)
    one = Overview(card(name=HOSTILE, cwd=HOSTILE), (turn,), (HOSTILE,), Spent(dollars=0.5))
    lines = list(told(one, 60))
    assert all(is_plain(line) and width_of(line) <= 60 for line in lines if "begun" not in line)
    assert "$0.5000" in "\n".join(lines)
    assert any("steps 1–2 · 1 call · no end · rewound" in line for line in told(one, 0))


def test_a_turn_without_an_answer_and_times_that_cannot_be() -> None:
    turn = TurnView(3, 1e300, "go", "", (), 0, (), "", "", 0, False)
    lines = "\n".join(told(Overview(card(), (turn,), (), Spent()), 0))
    assert "Turn 1 · ????-??-?? ??:?? · no answer · 0 calls · no end" in lines


@pytest.mark.parametrize("width", [20, 31, 80])
def test_wide_characters_leave_no_more_room_than_there_is(width: int) -> None:
    wide = "漢字" * 60
    for text, marks in ((wide, ((4, 6), (20, 22))), (wide, ((90, 94),))):
        line = list(found([hit(text, *marks)], width, is_coloured=True))[1]
        assert width_of(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= width
        assert "\x1b[1m" in line


# Choosing


def cards() -> list[SessionCard]:
    names = ("apple pie", "banana split", "apple tart", "cherry cake")
    return [card(f"{n}000000{n}-x", name) for n, name in enumerate(names, 1)]


def chosen(*keys: str) -> str:
    choice = Choice(cards())
    for key in keys:
        choice.press(key)
    assert all(width_of(line) < 50 for line in choice.lines(50, 24))
    return choice.chosen.title if choice.chosen else ""


def test_typing_narrows_and_arrows_move() -> None:
    assert chosen() == "apple pie"
    assert chosen(DOWN) == "banana split"
    assert chosen(DOWN, DOWN, UP, UP, UP) == "apple pie"
    assert chosen(*"apple", DOWN) == "apple tart"
    assert chosen(*"TART app") == "apple tart"
    assert chosen(PAGE_DOWN) == "cherry cake"
    assert chosen(*"xyz") == "" == chosen(*"xyz", DOWN)
    assert chosen(*"apple x", ERASE, ERASE, DOWN) == "apple tart"
    assert chosen(*"apple tart x", ERASE_WORD) == "apple tart"
    assert chosen(*"cherry", ERASE_ALL) == "apple pie"
    assert chosen(*"cherry", "\x00", "\x1b[Z") == "cherry cake", "other keys do nothing"


def test_a_number_chooses_its_line() -> None:
    assert chosen("3") == "apple tart"
    assert chosen("0", ERASE, "4") == "cherry cake"
    assert chosen("2", DOWN) == "apple tart"
    assert chosen("9", "9") == "" == chosen(*"99999999999999999999")
    assert chosen(*"30000003") == "apple tart", "one that no line has is looked for, as words are"


@pytest.mark.parametrize("width", [20, 30, 58, 200])
def test_what_is_typed_can_be_seen_however_narrow_it_is(width: int) -> None:
    choice = Choice(cards())
    for key in "a very long 日本語 apple":
        choice.press(key)
    question = choice.lines(width, 24)[-1]
    assert question.endswith("apple") and width_of(question) < width


def test_a_long_list_shows_the_part_around_the_choice() -> None:
    many = Choice([card(f"{n:08}", f"title {n}") for n in range(100)])
    for _ in range(60):
        many.press(DOWN)
    for height in (1, 5, 24):
        lines = many.lines(80, height)
        assert len(lines) <= max(2, height - 1)
        (mark,) = [line for line in lines if line.startswith(">")]
        assert "61  " in mark and "title 60" in mark
