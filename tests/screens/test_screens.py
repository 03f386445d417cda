"""Every state looks as the file says that somebody has looked at. `make screens` writes them."""

from __future__ import annotations

import pytest

from .files import differences, kept, wanted
from .picture import shot_of
from .screen import MemoryTerminal
from .states import all_states

STATES = all_states()


@pytest.mark.parametrize("name", STATES)
def test_it_looks_as_it_was_approved(name: str) -> None:
    difference = differences(name, STATES[name].shot())
    assert not difference, f"{name} looks otherwise; if it should: make screens\n{difference}"


def test_there_are_files_for_these_states_and_no_others() -> None:
    assert kept() == wanted()


def test_a_picture_has_the_colours_the_cursor_and_what_has_gone_up() -> None:
    terminal = MemoryTerminal(10, 2)
    terminal.write("gone\r\n\x1b[1;38;5;80mbold\x1b[0m \x1b[7m<&\x1b[0m\r\n漢x\x1b[2mdim\x1b[0m")
    shot = shot_of(terminal.screen, "dark")
    place = "-- cursor: line 3, column 7; 1 above the screen"
    assert shot.text == f"gone\nbold <&\n漢xdim\n{place}\n"
    assert 'class="x5fd7d7 b">bold</text>' in shot.picture
    assert 'class="x1b1d1f">&lt;&amp;</text>' in shot.picture, "reversed"
    assert '<text x="26" y="57" textLength="8" class="xd4d4d4">x</text>' in shot.picture
    assert 'class="xd4d4d4 f">dim</text>' in shot.picture
    assert '<rect x="58" y="44" width="8" height="17" class="at"/>' in shot.picture
    assert shot_of(terminal.screen, "dark") == shot
    assert shot_of(terminal.screen, "light").picture != shot.picture
