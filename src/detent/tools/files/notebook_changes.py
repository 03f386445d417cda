"""Changes of a notebook's text: one cell is written anew in the style of the file."""

import json
import re

from detent.tools.files.notebooks import Cell, Notebook

_FIRST_KEY = re.compile(r"\s*\{(\n[ \t]+)")
_FOREIGN = {"code": ("attachments",), "markdown": ("execution_count", "outputs")}
"""What a cell of a kind must not have; one that changes its kind loses it."""


def replaced(notebook: Notebook, index: int, kind: str, source: str) -> str:
    """Outputs belong to the old source: they go."""
    old = notebook.cells[index]
    foreign = _FOREIGN.get(kind, ())
    cell = {key: value for key, value in old.items() if key not in foreign}
    cell |= {"cell_type": kind, "source": _as_written(old.get("source"), source)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    start, end = notebook.spans[index]
    written = _written(notebook, _in_order_of(old, cell))
    return notebook.text[:start] + written + notebook.text[end:]


def inserted(notebook: Notebook, index: int, kind: str, source: str, own_id: str) -> str:
    """At this index; those from there on move back."""
    cell: Cell = {"cell_type": kind}
    if kind == "code":
        cell["execution_count"] = None
    if own_id:
        cell["id"] = own_id
    cell["metadata"] = {}
    if kind == "code":
        cell["outputs"] = []
    cell["source"] = _as_written([], source)
    text, spans, written = notebook.text, notebook.spans, _written(notebook, cell)
    between, closing = _margins(notebook)
    if not spans:
        start, end = notebook.array
        return f"{text[:start]}[{between}{written}{closing}]{text[end:]}"
    if index < len(spans):
        at = spans[index][0]
        return f"{text[:at]}{written},{between}{text[at:]}"
    at = spans[-1][1]
    return f"{text[:at]},{between}{written}{text[at:]}"


def deleted(notebook: Notebook, index: int) -> str:
    """With the comma that parted it from its neighbour."""
    text, spans = notebook.text, notebook.spans
    if len(spans) == 1:
        start, end = notebook.array
        return f"{text[:start]}[]{text[end:]}"
    if index + 1 < len(spans):
        return text[: spans[index][0]] + text[spans[index + 1][0] :]
    return text[: spans[index - 1][1]] + text[spans[index][1] :]


def _as_written(old: object, source: str) -> str | list[str]:
    """As a list of lines, unless the cell had it in one piece."""
    return source if isinstance(old, str) else source.splitlines(keepends=True)


def _in_order_of(old: Cell, cell: Cell) -> Cell:
    """Keys that are new come where sorting puts them, if the old ones were sorted."""
    return dict(sorted(cell.items())) if sorted(old) == list(old) else cell


def _written(notebook: Notebook, cell: Cell) -> str:
    text, unit = notebook.text, _unit(notebook)
    # Characters beyond ASCII are written out, unless the file shows that it escapes them.
    escapes = text.isascii() and "\\u" in text
    if not unit:
        spaced = '": ' in text
        separators = (", ", ": ") if spaced else (",", ":")
        return json.dumps(cell, ensure_ascii=escapes, separators=separators)
    written = json.dumps(cell, ensure_ascii=escapes, indent=unit)
    # Newlines inside of strings are escaped: these are all of the layout.
    return written.replace("\n", "\n" + 2 * unit)


def _margins(notebook: Notebook) -> tuple[str, str]:
    """What comes before a cell, and what before the end of the list."""
    unit = _unit(notebook)
    if unit:
        return "\n" + 2 * unit, "\n" + unit
    spaced = len(notebook.spans) > 1 and notebook.text[notebook.spans[1][0] - 1] == " "
    return (" " if spaced else ""), ""


def _unit(notebook: Notebook) -> str:
    """One step of indentation; empty for a file that is not laid out in lines."""
    found = _FIRST_KEY.match(notebook.text)
    return found.group(1)[1:] if found else ""
