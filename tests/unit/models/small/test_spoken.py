"""An answer is shown while its JSON is still being written."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from detent.models.small.spoken import SpokenText


@given(st.text(), st.integers(1, 7), st.booleans())
def test_whatever_the_pieces_the_text_comes_out_whole(
    text: str, size: int, ascii_only: bool
) -> None:
    raw = json.dumps({"tool": "answer", "text": text}, ensure_ascii=ascii_only, indent=2)
    spoken = SpokenText()
    heard = "".join(spoken.feed(raw[at : at + size]) for at in range(0, len(raw), size))
    assert heard == spoken.text == text


def test_it_comes_before_the_end() -> None:
    assert SpokenText().feed('{"tool": "answer", "text": "one two') == "one two"


def test_other_actions_say_nothing() -> None:
    assert SpokenText().feed('{"tool": "run", "command": "answer"}') == ""
