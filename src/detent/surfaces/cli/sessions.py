"""`detent sessions`: what there is, what was said in it, and taking care of it."""

import os
import sys
from collections.abc import Callable, Iterable

from detent.sdk.sessions import search_sessions, sessions_of
from detent.surfaces.arguments import Arguments
from detent.types.codec import encode
from detent.types.errors import BadInput

Action = Callable[[tuple[str, ...], Arguments], int]


def sessions(words: tuple[str, ...], arguments: Arguments) -> int:
    name, rest = (words[0], words[1:]) if words else ("list", ())
    if name in ("all", "json"):
        name, rest = "list", words
    action = ACTIONS.get(name)
    if action is None:
        raise BadInput(f"detent sessions takes: {', '.join(ACTIONS)}; not {name}")
    return action(rest, arguments)


def _list(words: tuple[str, ...], arguments: Arguments) -> int:
    if unknown := set(words) - {"all", "json"}:
        raise BadInput(f"detent sessions list takes: all, json; not {', '.join(sorted(unknown))}")
    everywhere = "all" in words or arguments.on("--all")
    cards = sessions_of(arguments.value("--cwd"), everywhere=everywhere)
    cards = cards[: limit(arguments) or None]
    if "json" in words or arguments.on("--json"):
        return write([encode(cards).decode()])
    if not cards:
        return write(["No sessions yet." if everywhere else "No sessions here yet."])
    from detent.surfaces.tables.session_table import listed

    return write(listed(cards, terminal_width(), everywhere=everywhere))


def _search(words: tuple[str, ...], arguments: Arguments) -> int:
    """Exit code 1 when there is nothing, as grep does."""
    if not words:
        raise BadInput("detent sessions search takes the words to look for")
    most = limit(arguments) or 20
    cwd = "" if arguments.on("--all") else arguments.value("--cwd")
    hits = search_sessions(" ".join(words), cwd=cwd, most=most)
    if arguments.on("--json"):
        write([encode(hits).decode()])
    elif hits:
        from detent.surfaces.tables.session_table import found

        write(found(hits, terminal_width(), is_coloured=has_colours()))
    else:
        write(["Nothing was found."])
    return 0 if hits else 1


def _care(name: str) -> Action:
    """Loaded only when it is wanted."""

    def act(words: tuple[str, ...], arguments: Arguments) -> int:
        from detent.surfaces.cli import session_care

        return int(getattr(session_care, name)(words, arguments))

    return act


def _files(name: str) -> Action:
    def act(words: tuple[str, ...], arguments: Arguments) -> int:
        from detent.surfaces.cli import exporting

        return int(getattr(exporting, name)(words, arguments))

    return act


ACTIONS: dict[str, Action] = {
    "list": _list,
    "show": _care("show"),
    "search": _search,
    "name": _care("name"),
    "delete": _care("delete"),
    "export": _files("export_session"),
    "import": _files("import_sessions"),
    "reindex": _care("remake"),
}


def limit(arguments: Arguments) -> int:
    return int(arguments.number("--limit", whole=True) or 0)


def write(lines: Iterable[str]) -> int:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def write_for_people(lines: Iterable[str]) -> int:
    """Where the output cannot take a character, a question mark stands for it."""
    encoding = sys.stdout.encoding or "ascii"
    return write(line.encode(encoding, "replace").decode(encoding) for line in lines)


def terminal_width() -> int:
    """0 where the output is no terminal: there nothing is cut."""
    if not sys.stdout.isatty():
        return 0
    import shutil

    return shutil.get_terminal_size().columns


def has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
