"""How the model is told of a memory file."""

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
    return f"{_tag(found.path)}\n{head}\n{body.strip().replace('</memory', '< /memory')}\n{END}"


def told_again(text: str) -> str:
    return f"This file has changed. It replaces what you read of it before.\n{text}"


def gone(path: str) -> str:
    return f"{_tag(path)}\nThis file counts no longer: disregard what you read of it.\n{END}"


def _tag(path: str) -> str:
    return f'<memory file="{path.translate(_QUOTED)}">'


END = "</memory>"
_QUOTED = str.maketrans({"\n": " ", '"': "'", "<": "(", ">": ")"})


def imported(path: str, by: str, text: str) -> str:
    return f"[{path}, imported by {by}]\n{text.strip()}"


def cut(text: str, path: str, size: str) -> str:
    return (
        f"{text[:MOST_OF_A_FILE]}\n"
        f"[Cut here: the first {MOST_OF_A_FILE:,} of {size}; the rest can be read in {path}]"
    )


def left_out(path: str) -> str:
    return f"[{path} is left out: memory may have {MOST_OF_ALL:,} characters in all. Read it.]"
