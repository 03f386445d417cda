"""How the model is told of a memory file."""

import re

from detent.context.bounds import harmless_line
from detent.context.memory.record import MOST_OF_A_FILE, MOST_OF_ALL, Found

WINS = "Follow them, but where the user asks for something else, the user wins."
WHOSE = {
    "managed": ("The organisation's rules", "Follow them."),
    "user": ("The user's own notes for all projects", WINS),
    "project": ("The project's conventions; not the user's words", WINS),
    "local": ("Notes for one user of the project", WINS),
}


def told(found: Found, globs: tuple[str, ...], body: str) -> str:
    """The same words as long as the file is the same, however it was found."""
    about = f" for {', '.join(globs)}" if globs else ""
    whose, how = WHOSE[found.level]
    head = f"({whose}{about}. {how})"
    # No file can end its own tag and go on in another's name.
    said = _CLOSING.sub(r"< /\1", body.strip())
    return f"{_tag(found.path)}\n{head}\n{said}\n{END}"


def told_again(text: str) -> str:
    return f"This file has changed. It replaces what you read of it before.\n{text}"


def gone(path: str) -> str:
    return f"{_tag(path)}\nThis file counts no longer: disregard what you read of it.\n{END}"


def _tag(path: str) -> str:
    return f'<memory file="{_named(path)}">'


def _named(path: str) -> str:
    """A folder may be called anything, a line of somebody else's included."""
    return harmless_line(path, LONGEST_PATH).translate(_QUOTED)


LONGEST_PATH = 4_096
END = "</memory>"
_CLOSING = re.compile(r"<\s*/\s*(memory)", re.IGNORECASE)
_QUOTED = str.maketrans({'"': "'", "<": "(", ">": ")"})


def imported(path: str, by: str, text: str) -> str:
    return f"[{_named(path)}, imported by {_named(by)}]\n{text.strip()}"


def cut(text: str, path: str, size: str) -> str:
    return (
        f"{text[:MOST_OF_A_FILE]}\n"
        f"[Cut here: the first {MOST_OF_A_FILE:,} of {size}; the rest is in {_named(path)}]"
    )


def left_out(path: str) -> str:
    most = f"{MOST_OF_ALL:,} characters"
    return f"[{_named(path)} is left out: memory may have {most} in all. Read it.]"
