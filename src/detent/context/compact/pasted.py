"""What of a prompt was pasted, and what was typed: logs, traces and code are nobody's own words."""

import re
from collections.abc import Iterator

LONGEST_LINE = 20_000
FEWEST = 3
"""Lines of data in a row that were pasted; fewer are part of what is said."""
LIST = 12
"""Lines: so much is a list that somebody made, of which each may be meant."""
FAULTS = ("error", "failed", "fatal", "exception", "not found", "denied", "cannot", "undefined")

_FENCED = re.compile(r"^(```|~~~).*?(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(
    r"""
      \s{4,}\S | \t                                             # indented
    | [\[({<]? \d{1,4} [-/:.T] \d\d [-/:.]                      # a time or a date
    | (?:\S{1,40}\ ){0,2} \W* (?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR|!)|FATAL)(?!\w)
    | \S+:\d+(?::\d+)?:\s                                       # a place in a file
    | \s* (?:at\ \S+[(:] | File\ " | Traceback | Caused\ by | goroutine\ \d)
    | [\w.$]+(?:Error|Exception):\                               # what was raised
    | [$>%]\ | >>> | \#include | @@ | diff\ -- | [+-]{3}\ | [+-][^\s\w] | [{}\[\]()<]
    | .* (?:[{;\\] | \)\s?: | =>) \s* $                         # code
    | \s* (?:def|class|fn|func|import|from|const|let|var|return|public|private|static)
      [ ]\S .* [(=:;]
    | [\w.\[\]"']+ \s [-+*/|]?=\s                                # something is set
    """,
    re.VERBOSE,
)
_COUNT = re.compile(r"[=\s]*(?:found )?\d+ (?:failed|errors?|tests?|passed)\b", re.IGNORECASE)
"""How a report of tests or a linter ends."""
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SAID = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[.,;:!?)\"']*")


def parted(text: str) -> tuple[str, list[list[str]]]:
    """What was typed, and the blocks that were pasted without a fence around them."""
    typed: list[str] = []
    blocks: list[list[str]] = []
    for is_data, run in _runs(_FENCED.sub("\n", text).split("\n")):
        if is_data and len(run) >= FEWEST:
            blocks.append(run)
        else:
            typed += [line for line in run if len(line) <= LONGEST_LINE]
    return "\n".join(typed), blocks


def key_line(lines: list[str]) -> str:
    """The line that says what is wrong: the last that sounds like it and is more than a count of
    faults, else the last."""
    stripped = [line.strip() for line in lines if line.strip()]
    telling = [line for line in stripped if any(word in line.lower() for word in FAULTS)]
    named = [line for line in telling if not _COUNT.match(line)]
    return (named or telling or stripped or [""])[-1]


def _runs(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Lines of one sort. One line among data that looks otherwise, or nothing, is of it."""
    marks = [_is_data(line) for line in lines]
    for place in range(1, len(marks) - 1):
        if marks[place - 1] and marks[place + 1]:
            marks[place] = True
    begin = 0
    for place in range(1, len(lines) + 1):
        if place == len(lines) or marks[place] != marks[begin]:
            yield marks[begin], lines[begin:place]
            begin = place


def _is_data(line: str) -> bool:
    if len(line) > LONGEST_LINE:
        return True
    rest = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    if not rest.strip():
        return False
    if rest is line and _MARKS.match(line):
        return True
    words = rest.split()
    return 2 * sum(_SAID.fullmatch(word) is not None for word in words) < len(words)
