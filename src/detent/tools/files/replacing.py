"""One exact replacement in a text, or why it cannot be made."""

from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from detent.tools.files.nearest import explain_missing
from detent.tools.files.patches import Hunk, hunks
from detent.tools.files.swaps import Place, swap_for
from detent.tools.files.texts import TextFile, legible, lines_of, unpacked

CANDIDATES = 10
WIDTH = 200
MOST_PLACES = 10_000
"""That a patch is made of; there may be millions."""

Old = Annotated[str, Meta(description="The text to replace, exactly as in the file.")]
New = Annotated[str, Meta(description="The text to put in its place.")]
Everywhere = Annotated[bool, Meta(description="Replace every occurrence.")]


class Replacement(Struct, frozen=True):
    old_string: Old
    new_string: New
    replace_all: Everywhere = False


class Replaced(Struct, frozen=True):
    """The file afterwards, and what was replaced in the body before."""

    file: TextFile
    count: int
    patch: list[Hunk]
    """Empty for an empty file that was filled."""


def replaced(file: TextFile, edit: Replacement) -> Replaced | str:
    """Or a text that tells the model what is wrong. Blocking, with bounded work."""
    body = file.body
    if edit.old_string == edit.new_string:
        return "old_string and new_string are the same; nothing would change."
    if not edit.old_string:
        return _filled(file, edit.new_string)
    swap = swap_for(body, edit.old_string, edit.new_string)
    places = list(islice(swap.places(body), MOST_PLACES))
    if not places:
        return f"old_string is not in the file. {explain_missing(body, swap.old)}"
    count = len(places) if len(places) < MOST_PLACES else swap.count(body)
    if count > 1 and not edit.replace_all:
        return _ambiguous(body, count, places[:CANDIDATES])
    after = _with_body(file, swap.applied(body, 0, len(body)))
    return Replaced(after, count, hunks(body, swap, places))


def _filled(file: TextFile, content: str) -> Replaced | str:
    if file.body:
        return (
            "old_string is empty, but the file is not. Give the text to replace, or use Write to "
            "replace the whole file."
        )
    return Replaced(_with_body(file, content), 1, [])


def _with_body(file: TextFile, body: str) -> TextFile:
    """Packed and unpacked, as if it had been written and read: the change may have made line ends
    alike, or halves of a character meet."""
    return unpacked(TextFile(body, file.bom, file.crlf, file.encoding).packed())


def _ambiguous(body: str, count: int, first: list[Place]) -> str:
    which = f"the first {CANDIDATES} begin" if count > CANDIDATES else "each begins"
    return (
        f"old_string occurs {count} times. Add surrounding lines to make it unique, or set "
        f"replace_all. Where {which} is marked `>`:\n{_candidates(body, first)}"
    )


def _candidates(body: str, places: list[Place]) -> str:
    """The lines where each begins, with a line on both sides."""
    lines = lines_of(body)
    marked, at, line = set(), 0, 0
    for start, _ in places:
        line += body.count("\n", at, start)
        at = start
        marked.add(line)
    around = {line + step for line in marked for step in (-1, 0, 1)}
    near = [line for line in sorted(around) if 0 <= line < len(lines)]
    shown, last = [], near[0]
    for line in near:
        if line > last + 1:
            shown.append("   ...")
        last = line
        mark = ">" if line in marked else " "
        shown.append(f"{mark}{line + 1:>5}\t{legible(lines[line].rstrip()[:WIDTH])}")
    return "\n".join(shown)
