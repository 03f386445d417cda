"""Themes, the terminal's own sayings, notices, and frames line by line."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest

import detent.surfaces.tui as tui
from detent.surfaces.tui.footer import MODES
from detent.surfaces.tui.screen import themes
from detent.surfaces.tui.screen.notifying import notice
from detent.surfaces.tui.screen.painter import BEGIN, END, ERASE_BELOW, Painter
from detent.surfaces.tui.screen.spans import clipped, columns, middle_cut
from detent.surfaces.tui.screen.terminal import INSTEAD, Terminal, is_dumb, is_unicode
from detent.surfaces.tui.screen.themes import NONE, PLAIN, THEMES, Theme, theme_of
from detent.types.errors import BadInput
from terminalbench import Glass, raw_in

COLOURED = [theme for theme in THEMES if theme.name != "plain"]


# --- themes


def colours_of(code: str) -> Iterator[tuple[int, int, int]]:
    """Of `38;5;N` and `48;5;N`, as terminals show them."""
    for found in re.findall(r"[34]8;5;(\d+)", code):
        number = int(found)
        if number >= 232:
            yield (8 + 10 * (number - 232),) * 3
        elif number >= 16:
            levels = (0, 95, 135, 175, 215, 255)
            number -= 16
            yield levels[number // 36], levels[number // 6 % 6], levels[number % 6]


def is_red(colour: tuple[int, int, int]) -> bool:
    red, green, blue = colour
    return red > 150 and green <= 130 and abs(green - blue) < 60


def is_green(colour: tuple[int, int, int]) -> bool:
    red, green, blue = colour
    return green > red + 30 and green > blue + 30


@pytest.mark.parametrize("theme", [one for one in THEMES if "daltonized" in one.name])
def test_themes_for_all_eyes_have_neither_red_nor_green(theme: Theme) -> None:
    found = [
        (role, colour)
        for role, code in theme.codes.items()
        for colour in colours_of(code)
        if is_red(colour) or is_green(colour)
    ]
    assert found == []
    assert not [
        role for role, code in theme.codes.items() if re.search(r"(?:^|;)(?:3|4)[12](?:;|$)", code)
    ]
    assert (
        theme.codes["added"] != theme.codes["removed"] and theme.codes["good"] != theme.codes["bad"]
    )


def test_the_other_themes_have_both() -> None:
    """So that the test above can fail."""
    dark = next(theme for theme in THEMES if theme.name == "dark")
    assert any(map(is_red, colours_of(dark.codes["bad"])))
    assert any(map(is_green, colours_of(dark.codes["good"])))


def test_no_colour_means_none() -> None:
    theme = theme_of("dark", {"NO_COLOR": "1", "COLORTERM": "truecolor"})
    assert theme.codes == PLAIN
    assert all(set(code.split(";")) <= set("123479") for code in PLAIN.values())
    assert theme_of("", {"NO_COLOR": ""}).name == "ansi", "an empty one counts for nothing"


@pytest.mark.parametrize(
    "name, environ, found",
    [
        ("light", {}, "light"),
        ("", {"TERM": "xterm"}, "ansi"),
        ("auto", {"TERM": "xterm-256color"}, "dark"),
        ("", {"COLORTERM": "truecolor"}, "dark"),
        ("", {"COLORTERM": "truecolor", "COLORFGBG": "0;15"}, "light"),
        ("", {"COLORTERM": "truecolor", "COLORFGBG": "15;0"}, "dark"),
        ("", {"COLORTERM": "truecolor", "COLORFGBG": "odd"}, "dark"),
    ],
)
def test_a_theme_that_suits_the_terminal(name: str, environ: dict[str, str], found: str) -> None:
    assert theme_of(name, environ).name == found


def test_a_theme_that_there_is_not() -> None:
    with pytest.raises(BadInput, match="solarized"):
        theme_of("solarized", {})
    assert NONE.paint("bad", "text") == "text"


def roles_used() -> set[str]:
    """Whatever is said to `paint` and `Span` as it stands in the code, and by names of data."""
    found = {f"mode_{mode}" for mode in MODES}
    for path in Path(os.path.dirname(str(tui.__file__))).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            at = {"paint": 0, "Span": 1, "_hanging": 2}.get(name)
            if at is not None and len(node.args) > at:
                found |= {
                    one.value
                    for one in ast.walk(node.args[at])
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return found


def test_every_role_that_a_drawing_uses_looks_like_something() -> None:
    from detent.surfaces.tui.drawing import blocks, cards, highlight, markdown
    from detent.surfaces.tui.editing.text_box import ROLES

    used = {role for role in roles_used() if re.fullmatch(r"[a-z]+(_[a-zA-Z]+)?", role)}
    used |= set(cards.ROLES.values()) | {role for _, role in highlight.ROLES}
    used |= set(markdown.MARKS.values()) | {role for _, role in blocks.LEVELS.values()}
    used |= set(ROLES.values()) | {"added_part", "removed_part"}
    used -= {"equal"}  # what is compared there is no role
    assert {"faint", "strong", "asking", "quote", "mode_plan"} <= used, "they were found"
    for theme in COLOURED:
        assert used - set(theme.codes) == set(), theme.name
    codes = {code for theme in THEMES for code in theme.codes.values()}
    assert all(re.fullmatch(r"\d+(;\d+)*", code) for code in codes)
    assert themes.RESET == "\x1b[0m"


# --- the terminal


@pytest.mark.parametrize(
    "environ, found",
    [
        ({}, True),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "de_DE.utf8"}, True),
        ({"LANG": "C"}, True),
        ({"LC_ALL": "POSIX", "LANG": "en_US.ISO-8859-1"}, True),
        ({"LANG": "en_US.ISO-8859-1"}, False),
        ({"LC_CTYPE": "de_DE", "LANG": "en_US.UTF-8"}, False),
        ({"LC_ALL": "", "LC_CTYPE": "", "LANG": "ja_JP.eucJP"}, False),
    ],
)
def test_what_the_locale_says_the_terminal_can_show(environ: dict[str, str], found: bool) -> None:
    assert is_unicode(environ) is found


def test_a_terminal_that_cannot_move_its_cursor() -> None:
    assert is_dumb({}) and is_dumb({"TERM": "dumb"}) and is_dumb({"TERM": ""})
    assert not is_dumb({"TERM": "xterm"})


def test_signs_have_one_of_ascii_where_there_is_no_other() -> None:
    reading, writing = os.pipe()
    terminal = Terminal({"LANG": "en_US.ISO-8859-1", "TERM": "xterm"}, reading, writing)
    terminal.write("✓ Bash · 日 …")
    assert os.read(reading, 100) == b"+ Bash - ? ."
    os.close(writing)
    terminal.write("nobody is there")
    assert terminal.is_gone, "and nobody is told of it by a failure"
    os.close(reading)
    assert all(len(text) == 1 and text.isascii() for text in INSTEAD.values()), "as wide as before"


# --- notices


@pytest.mark.parametrize(
    "channel, environ, wanted",
    [
        ("notifications_disabled", {"TERM_PROGRAM": "iTerm.app"}, ""),
        ("terminal_bell", {}, "\a"),
        ("auto", {}, "\a"),
        ("auto", {"TERM_PROGRAM": "WezTerm"}, "\x1b]9;Look here\a"),
        ("auto", {"WT_SESSION": "1"}, "\x1b]9;Look here\a"),
        ("iterm2", {}, "\x1b]9;Look here\a"),
        ("iterm2_with_bell", {}, "\x1b]9;Look here\a\a"),
        ("kitty", {}, "\x1b]99;;Look here\x1b\\"),
        ("iterm2", {"TMUX": "/tmp/t"}, "\x1bPtmux;\x1b\x1b]9;Look here\a\x1b\\"),
        ("unheard of", {}, "\a"),
    ],
)
def test_the_person_is_made_to_look(channel: str, environ: dict[str, str], wanted: str) -> None:
    assert notice(channel, "Look\n here", environ) == wanted


def test_a_notice_cannot_end_itself() -> None:
    sent = notice("kitty", "a\x1b\\\x07\x9cb\x1b]0;title" + "x" * 500, {})
    inner = sent.removeprefix("\x1b]99;;").removesuffix("\x1b\\")
    assert inner.startswith("a\\b]0;title") and len(inner) <= 200
    assert inner.isprintable()


# --- frames


def painted(width: int = 20, height: int = 6) -> tuple[Painter, list[str], Glass]:
    writes: list[str] = []
    glass = Glass(width, height)

    def write(text: str) -> None:
        writes.append(text)
        glass.feed(text)

    return Painter(write, width, height), writes, glass


def test_a_frame_is_one_write_and_shown_at_once() -> None:
    painter, writes, _ = painted()
    painter.frame(["done"], ["live", "typed"], (1, 3))
    assert len(writes) == 1 and writes[0].startswith(BEGIN) and writes[0].endswith(END)
    assert raw_in(writes[0]) == []


def test_only_what_differs_is_written() -> None:
    painter, writes, _ = painted()
    painter.frame([], ["one", "two", "three"], (2, 0))
    painter.frame([], ["one", "TWO", "three"], (2, 0))
    assert "TWO" in writes[1] and "one" not in writes[1] and "three" not in writes[1]


def test_a_line_as_wide_as_the_screen_keeps_its_last_character() -> None:
    """Its cursor waits on that character: what is erased behind it would be the character."""
    painter, _, glass = painted()
    painter.frame([], ["x" * 20, "below"], (1, 0))
    painter.frame([], ["y" * 20, "below"], (1, 0))
    assert glass.past[:2] == ["y" * 20, "below"]


@pytest.mark.parametrize("text", ["a\nb", "a\tb", "a\rb", "\n" * 9])
def test_a_live_line_is_one_row_whatever_is_in_it(text: str) -> None:
    painter, writes, glass = painted()
    painter.frame(["above"], [text, "below"], (1, 0))
    painter.frame([], [text, "BELOW"], (1, 0))
    assert glass.past[0] == "above" and glass.past[2] == "BELOW"
    assert raw_in("".join(writes)) == []


def test_more_live_lines_than_rows_show_the_lowest() -> None:
    painter, _, glass = painted(height=5)
    painter.frame(["above"], [f"line {number}" for number in range(9)], (8, 2))
    assert [line for line in glass.past if line] == [
        "above",
        "line 5",
        "line 6",
        "line 7",
        "line 8",
    ]
    assert glass.at == (4, 2)
    painter.frame([], ["short"], (0, 0))
    assert [line for line in glass.past if line] == ["above", "short"]


def test_a_narrower_terminal_that_breaks_lines_is_cleared_of_them() -> None:
    """As terminals do that break anew: a line of 20 columns takes two rows of 12."""
    writes: list[str] = []
    painter = Painter(writes.append, 20, 10)
    painter.frame([], ["x" * 20, "y" * 5, "z"], (2, 1))
    painter.resize(12, 10)
    assert writes[-1] == f"\x1b[3A\r{ERASE_BELOW}"
    assert (painter.width, painter.height) == (12, 10) and painter.live == ()


def test_erasing_leaves_the_cursor_where_the_live_lines_began() -> None:
    painter, writes, glass = painted()
    painter.erase()
    assert writes == [], "there is nothing to erase"
    painter.frame(["above"], ["one", "two"], None)
    painter.erase()
    assert glass.at == (1, 0) and not glass.cursor.hidden
    assert [line for line in glass.past if line] == ["above"]


def test_texts_that_have_no_width_are_cut_in_one_walk() -> None:
    """A hundred thousand accents, as no name has them and a tool may still say them."""
    accents = "\u0301" * 100_000
    assert columns(clipped(f"abcdef{accents}", 4)) <= 4
    assert middle_cut(f"abcdefghij{accents}", 8).startswith("abc…")


def test_colours_of_others_are_no_text() -> None:
    """A status line may set colours the other way (`38:5:1`)."""
    line = "\x1b[38:5:1mred words\x1b[0m"
    assert columns(line) == 9
    assert clipped(line, 5) == "\x1b[38:5:1mred …\x1b[0m"


@pytest.mark.parametrize(
    "before, after",
    [
        ("abcdefghe\u0301", "abcdefghex"),
        ("abcdefghe\u0301", "abcdefghe"),
        ("abcdefghe", "abcdefghe\u0301"),
        ("abcdefghe\u0301x", "abcdefghe\u0302x"),
        ("abcdefgh日x", "abcdefgh日y"),
        ("abcdefgh日", "abcdefghij"),
    ],
)
def test_a_line_of_which_only_the_end_differs(before: str, after: str) -> None:
    painter, writes, glass = painted()
    painter.frame([], [before], (0, 0))
    painter.frame([], [after], (0, 0))
    assert glass.past[0] == normalize("NFC", after)
    assert "abcd" not in writes[1], "the beginning stands there already"
