"""Whatever a file holds: an edit changes what it says it changes, and not a byte besides."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.ports import Desk
from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.tools.files.notebooks import parsed
from detent.tools.files.replacing import Replacement, replaced
from detent.tools.files.swaps import swap_for
from detent.tools.files.texts import excerpt, first_difference, is_binary, unpacked
from detent.tools.registry import Registry
from detent.types.outcomes import Failed, Outcome

PATH = "/p/a.ipynb"
TOOLS = Registry()


class Session:
    """One file, and the calls of a session that has read it."""

    def __init__(self, data: bytes) -> None:
        self.host = MemoryHost({PATH: data})
        self.known: dict[str, str] = {}
        self.noted: dict[str, str] = {}
        self.call("Read", file_path=PATH)

    def remember(self, path: str, digest: str) -> None:
        self.known[path] = digest

    def recall(self, path: str) -> str | None:
        return self.known.get(path)

    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        return ""

    @property
    def data(self) -> bytes:
        return self.host.files[PATH]

    def call(self, name: str, **arguments: Any) -> Outcome:
        tool = TOOLS.find(name)
        assert tool is not None
        desk = Desk("call", "/p", self.host, self, lambda text: None, BareShop("/p", self.host))
        return asyncio.run(tool.run(tool.parse(json.dumps(arguments)), desk))


# Few letters, so that texts meet; every line end, a mark, half a character, a byte that is none.
pieces = st.sampled_from(
    [b"a", b"b", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"\xc3", b"\xa9", b"\xff", b"\xef\xbb\xbf"]
)
files = st.one_of(
    st.lists(pieces, max_size=30).map(b"".join),
    st.lists(st.sampled_from([b"a", b"b", b"\r\n"]), max_size=20).map(b"".join),
    st.text("ab\n", max_size=20).map(lambda text: ("\ufeff" + text).encode("utf-16-le")),
    st.text("ab\n", max_size=20).map(
        lambda text: ("\ufeff" + text.replace("\n", "\r\n")).encode("utf-16-be")
    ),
)
strings = st.text("ab\né", max_size=4)


def plain_text(data: bytes) -> str:
    """What a model could send of it."""
    text = unpacked(data).body.replace("\r\n", "\n")
    return "".join(char for char in text if char in "ab\né")


@given(files)
def test_what_is_unpacked_can_be_packed(data: bytes) -> None:
    assert unpacked(data).packed() == data


@settings(max_examples=300)
@given(files, st.data())
def test_an_edit_and_its_inverse_leave_the_file_as_it_was(data: bytes, draw: st.DataObject) -> None:
    assume(not is_binary(data))
    session = Session(data)
    text = plain_text(data)
    start = draw.draw(st.integers(0, max(0, len(text) - 1)))
    old = text[start : start + draw.draw(st.integers(1, 5))] or "a"
    new = "<🙂>" + "\n" * old.count("\n")
    there = session.call("Edit", file_path=PATH, old_string=old, new_string=new)
    event("refused" if isinstance(there, Failed) else "changed")
    if isinstance(there, Failed):
        assert session.data == data
        return
    assert session.data != data
    back = session.call("Edit", file_path=PATH, old_string=new, new_string=old)
    assert not isinstance(back, Failed), back
    assert session.data == data


@given(files, st.text("ab\n", min_size=1, max_size=3), strings)
def test_only_the_place_changes(data: bytes, old: str, new: str) -> None:
    file = unpacked(data)
    made = replaced(file, Replacement(old, new))
    if isinstance(made, str):
        return
    swap = swap_for(file.body, old, new)
    ((start, end),) = swap.places(file.body)
    gone, come = file.body[start:end], swap.applied(file.body, start, end)
    before, behind = file.body[:start], file.body[end:]
    assert (gone.replace("\r\n", "\n"), come.replace("\r\n", "\n")) == (old, new)
    assert made.file.packed() == replace(file, body=before + come + behind).packed()


@given(files, st.text("ab\n", min_size=1, max_size=3), strings)
def test_line_ends_do_not_decide_what_is_found(data: bytes, old: str, new: str) -> None:
    """As if all were plain, but for those that stay."""
    body = unpacked(data).body
    swap = swap_for(body, old, new)
    plain = body.replace("\r\n", "\n")
    made = swap.applied(body, 0, len(body))
    assert made.replace("\r\n", "\n") == plain.replace(old, new)
    assert swap.count(body) == len(list(swap.places(body))) == plain.count(old)


@given(st.text("ab", max_size=12), st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_where_two_texts_part(head: str, one: str, other: str) -> None:
    one, other = head + one, head + other
    at = first_difference(one, other)
    assert one[:at] == other[:at]
    assert one[at : at + 1] != other[at : at + 1] or one == other


@given(st.integers(0, 2_000), st.integers(0, 2_000))
def test_an_excerpt_shows_its_place(before: int, behind: int) -> None:
    line = "-" * before + "#" + "-" * behind
    shown = excerpt(line, before)
    assert "#" in shown and len(shown) <= 310
    assert shown.replace("[...]", "") in line


@st.composite
def files_with_edits(draw: st.DrawFn) -> tuple[bytes, list[dict[str, Any]]]:
    """Mostly edits of something that is there, or was put there by one before."""
    data = draw(files)
    text = plain_text(data)
    edits = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        old = text[start : start + draw(st.integers(1, 3))] or draw(strings)
        new, everywhere = draw(strings), draw(st.booleans())
        edits.append({"old_string": old, "new_string": new, "replace_all": everywhere})
        text = text.replace(old, new) if old else text
    return data, edits


@settings(max_examples=400)
@given(files_with_edits())
def test_many_edits_are_the_edits_one_by_one_or_nothing(
    drawn: tuple[bytes, list[dict[str, Any]]],
) -> None:
    data, edits = drawn
    assume(not is_binary(data))
    many, one_by_one = Session(data), Session(data)
    failed = any(
        isinstance(one_by_one.call("Edit", file_path=PATH, **edit), Failed) for edit in edits
    )
    outcome = many.call("MultiEdit", file_path=PATH, edits=edits)
    assert isinstance(outcome, Failed) == failed
    assert many.data == (data if failed else one_by_one.data)
    assert failed or many.known == one_by_one.known
    event("refused" if failed else "changed")


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
sources = st.one_of(st.text(max_size=10), st.lists(st.text(max_size=4), max_size=3))
cells = st.lists(
    st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["code", "markdown", "raw"]), "source": sources},
        optional={"metadata": values, "outputs": st.just([]), "attachments": values},
    ),
    min_size=1,
    max_size=4,
)
layouts = st.sampled_from(
    [
        {"indent": 1, "ensure_ascii": False},
        {"indent": 4},
        {"indent": "\t", "sort_keys": True},
        {"separators": (",", ":")},
        {"separators": (" , ", " : ")},
        {},
    ]
)


@settings(max_examples=400)
@given(st.just([]) | cells | cells, layouts, st.booleans(), st.data())
def test_a_notebook_keeps_every_other_cell_to_the_byte(
    given_cells: list[dict[str, Any]], layout: dict[str, Any], crlf: bool, data: st.DataObject
) -> None:
    whole = {"x": 1.50, "cells": given_cells, "nbformat": 4, "nbformat_minor": 4, "z": "é\u2028"}
    text = json.dumps(whole, **layout) + "\n"
    session = Session((text.replace("\n", "\r\n") if crlf else text).encode())
    mode = data.draw(st.sampled_from(["replace", "insert", "delete"]))
    index = data.draw(st.integers(-1 if mode == "insert" else 0, max(0, len(given_cells) - 1)))
    cell_id = {} if index < 0 else {"cell_id": f"cell-{index}"}
    event(f"{mode} {'at the end' if index == len(given_cells) - 1 else 'before others'}")
    source = data.draw(st.text(max_size=8))
    outcome = session.call(
        "NotebookEdit", notebook_path=PATH, new_source=source, edit_mode=mode, **cell_id
    )
    if not given_cells and index >= 0:
        assert isinstance(outcome, Failed)
        return
    assert not isinstance(outcome, Failed), outcome
    before, after = parsed(text), parsed(unpacked(session.data).body)
    assert (b"\r\n" in session.data) == crlf
    was, now = _spelled(before), _spelled(after)
    at = index + 1 if mode == "insert" else index
    others = was if mode == "insert" else was[:at] + was[at + 1 :]
    assert now[:at] + now[at + (mode != "delete") :] == others
    ends = [
        (found.text[: found.array[0]], found.text[found.array[1] :]) for found in (before, after)
    ]
    assert ends[0] == ends[1], "and all that is around the cells"
    if mode != "delete":
        written = after.cells[at]["source"]
        assert "".join(written) == source


def _spelled(notebook: Any) -> list[str]:
    return [notebook.text[start:end] for start, end in notebook.spans]
