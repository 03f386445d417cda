"""Jupyter notebooks as text: which cells there are, and where in the file each one lies.

A change is put in at its place, so that every byte outside it stays what it was.
"""

import json
import re
from typing import Any

from msgspec import Struct

Cell = dict[str, Any]

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


class Notebook(Struct, frozen=True):
    text: str
    cells: tuple[Cell, ...]
    spans: tuple[tuple[int, int], ...]
    """Of each cell."""
    array: tuple[int, int]
    """Of the list of them, brackets included."""
    has_ids: bool
    """Cells have ids since version 4.5 of the format."""
    language: str

    def id_of(self, index: int) -> str:
        """The cell's own id, or one from its position."""
        own = self.cells[index].get("id")
        return own if isinstance(own, str) and own else f"cell-{index}"

    def find(self, cell_id: str) -> int:
        """The index of a cell, -1 when there is none."""
        ids = [self.id_of(index) for index in range(len(self.cells))]
        if cell_id in ids:
            return ids.index(cell_id)
        position = cell_id.removeprefix("cell-")
        if position != cell_id and position.isdecimal() and int(position) < len(ids):
            return int(position)
        return -1


def parsed(text: str) -> Notebook:
    """Raises ValueError with the reason when it is no notebook that we know."""
    try:
        whole = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("cells"), list):
        older = isinstance(whole, dict) and "worksheets" in whole
        raise ValueError(
            "it is of an older format; convert it with `jupyter nbconvert --to notebook`"
            if older
            else "it has no list of cells"
        )
    cells = whole["cells"]
    if not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("one of its cells is not an object")
    spans, array = _placed(text)
    version = (_number(whole, "nbformat"), _number(whole, "nbformat_minor"))
    return Notebook(text, tuple(cells), spans, array, version >= (4, 5), _language(whole))


def source_of(cell: Cell) -> str:
    return joined(cell.get("source", ""))


def joined(value: Any) -> str:
    """Long texts are kept as lists of lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _number(whole: dict[str, Any], name: str) -> int:
    value = whole.get(name)
    return value if isinstance(value, int) else 0


def _language(whole: dict[str, Any]) -> str:
    about = whole.get("metadata")
    info = about.get("language_info") if isinstance(about, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else "python"


def _placed(text: str) -> tuple[tuple[tuple[int, int], ...], tuple[int, int]]:
    """Where the cells lie in a text that is known to be good. Of two lists the last one counts, as
    it does for every reader."""
    spans: tuple[tuple[int, int], ...] = ()
    array = (0, 0)
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        key, at = _decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, at = _decoder.raw_decode(text, start)
        if key == "cells":
            spans, array = _elements(text, start), (start, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return spans, array


def _elements(text: str, at: int) -> tuple[tuple[int, int], ...]:
    spans = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _decoder.raw_decode(text, at)
        spans.append((at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return tuple(spans)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
