"""What a project's files would do if they were trusted, to show before anybody agrees to it.

They are read as data: nothing of the project runs to find out what would.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from detent.app.agents.kinds.finding import kinds_of
from detent.app.agents.kinds.trusting import asked_for
from detent.app.clock import SystemClock
from detent.app.grounds import Grounds
from detent.app.options import Options
from detent.app.places import user_home
from detent.app.settings.known import PROGRAMS
from detent.app.settings.permissions import FOR_THE_USER_ALONE
from detent.app.settings.record import Settings
from detent.app.settings.sources import Where, load_sources, read_file, where_of
from detent.app.settings.strangers import NEVER
from detent.app.trust.parts import digests, relevant
from detent.app.trust.store import agree
from detent.types.codec import decode_object, encode
from detent.types.errors import BadInput

PLAIN_HOOK = {"type", "command", "timeout", "statusMessage"}


class Wish(Struct, frozen=True):
    kind: str
    """runs, server, variable, allows, folder, mode or sets."""
    text: str


class Asking(Struct, frozen=True):
    """One file and what it asks for."""

    path: str
    wishes: tuple[Wish, ...]
    digests: dict[str, str]


class WouldRun(Struct, frozen=True):
    where: Where
    files: tuple[Asking, ...]

    @property
    def root(self) -> str:
        return os.path.realpath(self.where.root)


def what_would_run(folder: str, environ: Mapping[str, str]) -> WouldRun:
    """Raises BadInput for a file that cannot be read."""
    where = where_of(folder, environ)
    sources = load_sources(where, ("user", "project", "local"))
    given = [(source.path, source.values) for source in sources if source.is_project]
    mcp = os.path.join(folder, ".mcp.json")
    if data := _text(mcp):
        given.append((mcp, decode_object(data, mcp)))
    given += [*_agents(where, environ), *_commands(where, environ)]
    files = (Asking(path, tuple(_wishes(values)), digests(values)) for path, values in given)
    return WouldRun(where, tuple(file for file in files if file.digests))


def _agents(where: Where, environ: Mapping[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Those of the project's that ask for more than to be there, by file."""
    kinds = kinds_of(_grounds(where, environ))
    project = (k for k in (*kinds.all(), *kinds.shadowed) if k.source == "project")
    return [(kind.path, wishes) for kind in project if (wishes := asked_for(kind))]


def _commands(where: Where, environ: Mapping[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """The same of commands that people write themselves."""
    from detent.app.commands.finding import command_folders
    from detent.app.commands.gathering import gathered
    from detent.app.commands.trusting import asked_for as wished

    grounds = _grounds(where, environ)
    commands, _ = gathered(grounds, command_folders(grounds))
    return [(one.path, wishes) for one in commands if (wishes := wished(one))]


def _grounds(where: Where, environ: Mapping[str, str]) -> Grounds:
    return Grounds(
        Options(environ=environ, trust=True), environ, Settings(), where.cwd, user_home(environ),
        where.home, SystemClock(), where,
    )  # fmt: skip


def trust(shown: WouldRun) -> None:
    """Exactly what was shown, whatever the files say by now. Raises OSError and Damaged."""
    if not shown.where.is_ours:
        home = shown.where.home
        raise BadInput(f"{home} lies in the project itself; what it trusts would not count")
    files = {os.path.realpath(file.path): file.digests for file in shown.files}
    agree(shown.where.home, shown.root, files, trusted=True)


def _text(path: str) -> bytes:
    try:
        return read_file(path)[0].strip()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None


def _wishes(values: Mapping[str, Any]) -> Iterator[Wish]:
    for name, value in relevant(values).items():
        if name in NEVER:
            continue
        key, _, part = name.partition(".")
        if key == "hooks":
            yield from _hooks(value)
        elif key in PROGRAMS:
            yield Wish("runs", f"{key}: {_command(value)}")
        elif key == "mcpServers":
            yield Wish("server", f"{part}: {_plain(value)}")
        elif key == "env" and isinstance(value, dict):
            yield from (Wish("variable", f"{name}={_plain(text)}") for name, text in value.items())
        elif part in ("allow", "additionalDirectories") and isinstance(value, list):
            kind = "allows" if part == "allow" else "folder"
            yield from (Wish(kind, str(entry)) for entry in value)
        elif part == "defaultMode":
            if value not in FOR_THE_USER_ALONE:
                yield Wish("mode", str(value))
        else:
            yield Wish("sets", f"{name} = {_plain(value)}")


def _hooks(table: Any) -> Iterator[Wish]:
    """Whatever its form, nothing of it stays unseen."""
    for event, entries in table.items() if isinstance(table, dict) else [("hooks", table)]:
        for entry in entries if isinstance(entries, list) else [entries]:
            match entry:
                case {"hooks": list(hooks)}:
                    on = f"{event} {entry.get('matcher') or ''}".rstrip()
                    yield from (Wish("runs", f"{on}: {_command(hook)}") for hook in hooks)
                case _:
                    yield Wish("runs", f"{event}: {_plain(entry)}")


def _command(hook: Any) -> str:
    """The command alone where nothing else decides what runs."""
    match hook:
        case {"type": "command", "command": str(command)} if hook.keys() <= PLAIN_HOOK:
            return command
        case _:
            return _plain(hook)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()
