"""Text of a program that may colour its words, and do nothing else to a terminal."""

import re

from detent.surfaces.wording.shown import shown

_SEQUENCE = re.compile(
    r"(?P<colour>\x1b\[[0-9;:]*m)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other controls
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles, links, notices: all that is in them
    r"|\x1b[ -/]*[0-~]"
)
LONGEST = 32
"""Of a colour: longer ones are no colour."""


def only_colours(text: str) -> str:
    """Sequences that set colours stay (`ESC[…m`); of all others nothing is left, and of links
    their words. A colour does not outlive its line; a tab is a blank: its width is unknown."""
    return "\n".join(map(_line, text.replace("\t", " ").split("\n")))


def _line(line: str) -> str:
    parts: list[str] = []
    at, is_coloured = 0, False
    for match in _SEQUENCE.finditer(line):
        parts.append(shown(line[at : match.start()]))
        at, colour = match.end(), match["colour"]
        if colour and len(colour) <= LONGEST:
            parts.append(colour)
            is_coloured = colour not in ("\x1b[m", "\x1b[0m")
    parts.append(shown(line[at:]))
    return "".join(parts) + ("\x1b[0m" if is_coloured else "")
