"""Which commands are to run outside the sandbox. What is judged by this is what runs."""

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[\w./:@%+,-][\w./:@%+,= -]*")
"""Words that a shell takes as they stand: no quotes, no variables, no second command."""


def is_excluded(command: str, patterns: Sequence[str]) -> bool:
    """Whether the user lets this run outside: `docker`, `docker *` or `docker:*`, `make up`. Only
    a single command of plain words; in anything else there may be more than one."""
    if not patterns or not _PLAIN.fullmatch(command):
        return False
    words = command.split(" ")
    return "=" not in words[0] and any(_covers(pattern, words) for pattern in patterns)


def _covers(pattern: str, words: list[str]) -> bool:
    beginning = re.sub(r"(?::| )\*$", "", pattern.strip())
    wanted = beginning.split()
    if not wanted:
        return False
    given = [word for word in words if word]
    is_open = beginning != pattern.strip() or len(wanted) == 1
    return given[: len(wanted)] == wanted and (is_open or len(given) == len(wanted))
