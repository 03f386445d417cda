"""An edit as lines: whoever decides sees all that changes."""

from __future__ import annotations

from typing import Any

import pytest

from detent.surfaces.wording import change
from detent.surfaces.wording.change import change_lines


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a", "b", ["-a", "+b"]),
        ("", "b\n", ["+b", "+"]),
        ("a\nb", "", ["-a", "-b"]),
        ("-- a\n@@ b", "++ a\n@@ b", ["--- a", "+++ a", " @@ b"]),
        ("a", "a\n", [" a", "+"]),
        ("a", "a\u2028b", ["-a", "+a<U+2028>b"]),
        ("1\n2\n3\n4\n5", "1\n2\n3\n4\n6", [" 3", " 4", "-5", "+6"]),
    ],
)
def test_an_edit(old: str, new: str, lines: list[str]) -> None:
    given = {"file_path": "f", "old_string": old, "new_string": new, "replace_all": True}
    assert change_lines("Edit", given) == (lines, {"file_path": "f", "replace_all": True})


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Edit", {"old_string": "a", "new_string": "a"}),
        ("Edit", {"old_string": "a"}),
        ("Write", {"content": 5}),
        ("Other", {"content": "a"}),
    ],
)
def test_what_cannot_be_shown_so(tool: str, given: dict[str, Any]) -> None:
    assert change_lines(tool, given) == ([], given)


def test_long_texts_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "LONGEST", 3)
    lines, _ = change_lines("Edit", {"old_string": "a\nb", "new_string": "a\nc"})
    assert lines == ["-a", "-b", "+a", "+c"]
