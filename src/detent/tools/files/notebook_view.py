"""A notebook as a model reads it: cells with their ids, sources and outputs."""

import binascii
from base64 import b64decode
from typing import Any

from detent.tools.files.images import ENCODED_LIMIT, fault_of, media_type
from detent.tools.files.notebooks import Cell, Notebook, joined, source_of
from detent.tools.files.texts import counted, legible, shortened
from detent.tools.terminal import plain
from detent.types.content import Image, Text
from detent.types.outcomes import Done, Failed, Outcome

OUTPUT = 4_000
"""Characters of one cell's outputs."""
MOST_IMAGES = 5
TEXTS = ("text/plain", "text/markdown", "text/latex", "text/html")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def viewed(path: str, notebook: Notebook, offset: int, limit: int, room: int) -> Outcome:
    """`offset` and `limit` count cells."""
    total, first = len(notebook.cells), max(offset, 1)
    if first > max(total, 1):
        return Failed(
            f"Read: offset {first} is past the end: {path} has {counted(total, 'cell')}; in a "
            "notebook offset counts cells."
        )
    album = _Album()
    parts: list[str] = []
    about: list[Cell] = []
    for index in range(first - 1, min(total, first - 1 + limit)):
        pictures = len(album.images)
        part = _cell(notebook, index, album)
        if len(part) + 2 > room and parts:
            del album.images[pictures:]
            break
        parts.append(shortened(part, room))
        about.append(_about(notebook, index, room))
        room -= len(part) + 2
    last = first + len(parts) - 1
    head = f"{path}: a notebook in {legible(notebook.language)} with {counted(total, 'cell')}"
    if last < total:
        head += f", {first}-{last} shown; go on with offset={last + 1}"
    data = {"type": "notebook", "file": {"filePath": path, "totalCells": total, "cells": about}}
    return Done((Text("\n\n".join([f"[{head}.]", *parts])), *album.images), data)


class _Album:
    """The pictures among the outputs, as far as models take them."""

    def __init__(self) -> None:
        self.images: list[Image] = []

    def put(self, encoded: str) -> str:
        """What the text says in its place."""
        encoded = "".join(encoded.split())
        try:
            raw = b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return "[a damaged picture]"
        kind = media_type(raw)
        fault = fault_of(raw, kind) if kind else "of an unknown kind"
        if not fault and not self._has_room(encoded):
            fault = "left out: no more are shown in one go"
        if fault:
            return f"[a picture, {fault}]"
        self.images.append(Image(kind, encoded))
        return f"[picture {len(self.images)}, below]"

    def _has_room(self, encoded: str) -> bool:
        size = sum(len(image.data) for image in self.images) + len(encoded)
        return len(self.images) < MOST_IMAGES and size <= ENCODED_LIMIT


def _cell(notebook: Notebook, index: int, album: _Album) -> str:
    cell = notebook.cells[index]
    head = f"=== cell {legible(notebook.id_of(index))}, {legible(str(cell.get('cell_type')))}"
    parts = [head, legible(source_of(cell))]
    outputs = cell.get("outputs")
    if isinstance(outputs, list) and outputs:
        shown = [_output(output, album) for output in outputs if isinstance(output, dict)]
        parts += ["--- output", _without_middle("\n".join(text.rstrip("\n") for text in shown))]
    return "\n".join(parts)


def _output(output: dict[str, Any], album: _Album) -> str:
    match output.get("output_type"):
        case "stream":
            return _clean(output.get("text"))
        case "error":
            trace = output.get("traceback")
            lines = [_clean(line) for line in trace] if isinstance(trace, list) else []
            return "\n".join(lines) or _clean(f"{output.get('ename')}: {output.get('evalue')}")
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    for kind in PICTURES:
        if kind in data:
            return album.put(joined(data[kind]))
    for kind in TEXTS:
        if kind in data:
            return _clean(data[kind])
    return f"[{', '.join(sorted(data))}]"


def _clean(value: Any) -> str:
    return plain(legible(joined(value)))


def _without_middle(text: str) -> str:
    if len(text) <= OUTPUT:
        return text
    half = OUTPUT // 2
    return f"{text[:half]}\n[... {len(text) - OUTPUT:,} characters left out ...]\n{text[-half:]}"


def _about(notebook: Notebook, index: int, room: int) -> Cell:
    cell = notebook.cells[index]
    return {
        "cell_id": legible(notebook.id_of(index)),
        "cellType": legible(str(cell.get("cell_type"))),
        "source": shortened(legible(source_of(cell)), room),
    }
