"""One exact replacement in a text, or why it cannot be made."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.tools.files.nearest import explain_missing
from detent.tools.files.texts import TextFile, legible, lines_of, unpacked

CANDIDATES = 10
WIDTH = 200


class Replacement(Struct, frozen=True):
    old_string: Annotated[str, Meta(description="The text to replace, exactly as in the file.")]
    new_string: Annotated[str, Meta(description="The text to put in its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


class Replaced(Struct, frozen=True):
    """The file afterwards, and what was replaced where in the body before."""

    file: TextFile
    old: str
    new: str
    starts: tuple[int, ...]


def replaced(file: TextFile, edit: Replacement) -> Replaced | str:
    """Or a text that tells the model what is wrong. Blocking, with bounded work."""
    body = file.body
    if edit.old_string == edit.new_string:
        return "old_string and new_string are the same; nothing would change."
    if not edit.old_string:
        return _filled(file, edit.new_string)
    old, new = _in_style_of(body, edit)
    starts = _places(body, old)
    if not starts:
        return f"old_string is not in the file. {explain_missing(body, old)}"
    if len(starts) > 1 and not edit.replace_all:
        return _ambiguous(body, starts)
    return Replaced(_with_body(file, body.replace(old, new)), old, new, tuple(starts))


def _filled(file: TextFile, content: str) -> Replaced | str:
    if file.body:
        return (
            "old_string is empty, but the file is not. Give the text to replace, or use Write to "
            "replace the whole file."
        )
    return Replaced(_with_body(file, content), "", content, (0,))


def _with_body(file: TextFile, body: str) -> TextFile:
    """Packed and unpacked, as if it had been written and read: the change may have made line ends
    alike, or halves of a character meet."""
    return unpacked(TextFile(body, file.bom, file.crlf, file.encoding).packed())


def _in_style_of(body: str, edit: Replacement) -> tuple[str, str]:
    """The strings with the line ends of the body: plain ones, unless the file mixes both kinds."""
    old = edit.old_string.replace("\r\n", "\n")
    new = edit.new_string.replace("\r\n", "\n")
    if "\r\n" not in body:
        return old, new
    if edit.old_string in body:
        return edit.old_string, edit.new_string
    return old.replace("\n", "\r\n"), new.replace("\n", "\r\n")


def _places(body: str, old: str) -> list[int]:
    places, at = [], body.find(old)
    while at >= 0:
        places.append(at)
        at = body.find(old, at + len(old))
    return places


def _ambiguous(body: str, starts: list[int]) -> str:
    which = f"the first {CANDIDATES} begin" if len(starts) > CANDIDATES else "each begins"
    return (
        f"old_string occurs {len(starts)} times. Add surrounding lines to make it unique, or set "
        f"replace_all. Where {which} is marked `>`:\n{_candidates(body, starts[:CANDIDATES])}"
    )


def _candidates(body: str, starts: list[int]) -> str:
    """The lines where each begins, with a line on both sides."""
    lines = lines_of(body)
    marked, at, line = set(), 0, 0
    for start in starts:
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
