"""Why a text was not found: the place that is most like it, and what may be wrong."""

import re
import time

from detent.tools.files.texts import excerpt, first_difference, legible, lines_of, numbered

LINES_COMPARED = 5_000
SECONDS = 2.0
"""For comparing them."""
ALIKE = 0.6
PIECE = 1 << 16
WIDTH_COMPARED = 200
SHOWN = 15

_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "),
        "\u2026": "...",
        **dict.fromkeys("\u200b\u200c\u200d\ufeff", ""),
    }
)
"""What editors, word processors and models like to put for the plain character."""

_NUMBER_PREFIX = re.compile(r"^ *\d+\t", re.MULTILINE)


def explain_missing(body: str, wanted: str) -> str:
    """A hint and the lines near it. Blocking, with bounded work: run it in a thread."""
    unnumbered = _NUMBER_PREFIX.sub("", wanted)
    if unnumbered != wanted and unnumbered in body:
        return "It contains line numbers as Read shows them. Send the text without number and tab."
    body, wanted = body.replace("\r\n", "\n"), wanted.replace("\r\n", "\n")
    bare = wanted.rstrip("\n")
    if bare and bare != wanted and body.endswith(bare):
        return "The file ends there without a newline: leave out the one at the end of old_string."
    lines, sought = lines_of(body), lines_of(wanted)
    at = _found_at(body.replace("\r", ""), wanted.replace("\r", ""))
    if at >= 0:
        view = _view(lines, at, sought)
        return f"These lines differ only in line ends, lone carriage returns:\n{view}"
    at = _same_but_for_typography(body, wanted)
    if at >= 0:
        view = _view(lines, at, sought)
        return f"These lines differ only in {_unlike(view, wanted)}:\n{view}"
    at = _same_but_for_spaces(lines, sought)
    if at >= 0:
        return (
            f"These lines differ only in spaces, tabs or indentation:\n{_view(lines, at, sought)}"
        )
    at = _most_alike(lines, sought)
    if at >= 0:
        return f"The nearest lines are:\n{_view(lines, at, sought)}"
    return "Nothing in the file is like it. Read the file again and copy the text exactly."


def _view(lines: list[str], at: int, sought: list[str]) -> str:
    shown = [
        excerpt(legible(line), first_difference(line, goal))
        for line, goal in zip(lines[at : at + SHOWN], sought, strict=False)
    ]
    return numbered(shown, at + 1)


def _found_at(body: str, wanted: str) -> int:
    """The line where it begins, -1 when it is not there."""
    at = body.find(wanted) if wanted else -1
    return body.count("\n", 0, at) if at >= 0 else -1


def _same_but_for_typography(body: str, wanted: str) -> int:
    """The line where it begins if quotes, dashes, spaces and accents are all written one way."""
    return _found_at(_plain(body), _plain(wanted))


def _plain(text: str) -> str:
    """Piece by piece: other threads could not run while a long text is done in one go."""
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return "".join(piece if piece.isascii() else _plain_piece(piece) for piece in pieces)


def _plain_piece(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFC", text).translate(_TYPOGRAPHY)


def _unlike(view: str, wanted: str) -> str:
    """`“ (U+201C), ’ (U+2019)`: what only one of them holds."""
    odd = sorted(char for char in set(view) ^ set(wanted) if not char.isascii())
    return ", ".join(f"{char} (U+{ord(char):04X})" for char in odd[:SHOWN]) or "typography"


def _same_but_for_spaces(lines: list[str], sought: list[str]) -> int:
    bare = ["".join(line.split()) for line in lines]
    goal = ["".join(line.split()) for line in sought]
    if not any(goal):
        return -1
    for at in range(len(bare) - len(goal) + 1):
        if bare[at] == goal[0] and bare[at : at + len(goal)] == goal:
            return at
    return -1


def _most_alike(lines: list[str], sought: list[str]) -> int:
    """Looks for the longest of the lines sought: it says most."""
    if not sought:
        return -1
    place = max(range(len(sought)), key=lambda index: len(sought[index].strip()))
    goal = sought[place].strip()[:WIDTH_COMPARED]
    bare = [line.strip()[:WIDTH_COMPARED] for line in lines[:LINES_COMPARED]]
    at = _likest(goal, bare, time.monotonic() + SECONDS) if goal else -1
    return max(0, at - place) if at >= 0 else -1


def _likest(goal: str, lines: list[str], deadline: float) -> int:
    """The first of those that are most like it, as far as there is time to compare."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher()
    matcher.set_seq2(goal)
    best, at = ALIKE, -1
    seen: set[str] = set()
    for index, line in enumerate(lines):
        if line in seen:
            continue
        seen.add(line)
        matcher.set_seq1(line)
        # The first two are bounds from above, and much faster.
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= best:
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and at < 0):
                best, at = ratio, index
        if time.monotonic() > deadline:
            break
    return at
