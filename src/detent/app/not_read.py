"""What other programs would take up here and this version does not: MCP servers and skills. Looked
at as data, so that a person can be told of it."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from detent.app.grounds import Grounds
from detent.app.reminders import folders_down
from detent.app.settings.sources import load_sources, read_file
from detent.context.bounds import in_one_line
from detent.context.head import parse_head, split_head
from detent.types.codec import decode_object
from detent.types.errors import BadInput

MOST_SKILLS = 200
LONGEST = 200


class Server(Struct, frozen=True, omit_defaults=True):
    name: str
    what: str
    """The program, or the address; without what may be secret: variables, headers, queries."""
    path: str


class Skill(Struct, frozen=True, omit_defaults=True):
    name: str
    path: str
    level: str
    """project or user."""
    about: str = ""


def servers(grounds: Grounds) -> tuple[list[Server], list[str]]:
    """Those that are named, and the files that cannot be read."""
    found: list[Server] = []
    faults: list[str] = []
    where = grounds.where
    for folder in dict.fromkeys((where.cwd, where.root)):
        path = os.path.join(folder, ".mcp.json")
        try:
            found += _servers(decode_object(read_file(path)[0].strip() or b"{}", path), path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            faults.append(f"{path}: cannot be read: {error.strerror}")
        except BadInput as error:
            faults.append(str(error))
    try:
        sources = load_sources(where, grounds.options.setting_sources)
    except BadInput as error:
        return found, [*faults, str(error)]
    for source in sources:
        found += _servers(source.values, source.path)
    return found, faults


def _servers(values: Mapping[str, Any], path: str) -> Iterator[Server]:
    declared = values.get("mcpServers")
    for name, server in declared.items() if isinstance(declared, dict) else ():
        yield Server(name, _what(server), path)


def _what(server: Any) -> str:
    match server:
        case {"command": str(command)}:
            args = server.get("args")
            words = [word for word in args if isinstance(word, str)] if _is_list(args) else []
            return in_one_line(" ".join((command, *words)), LONGEST)
        case {"url": str(url)}:
            return in_one_line(url.partition("?")[0], LONGEST)
        case _:
            return "neither a command nor a url"


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def skills(grounds: Grounds) -> list[Skill]:
    """The strongest first: ours before theirs, what is near before what is far."""
    found: list[Skill] = []
    seen: set[str] = set()
    for folder, level in _skill_folders(grounds):
        for name in _names_in(folder):
            path = os.path.join(folder, name, "SKILL.md")
            real = os.path.realpath(path)
            if real not in seen and os.path.isfile(path) and len(found) < MOST_SKILLS:
                seen.add(real)
                found.append(Skill(name, path, level, _about(path)))
    return found


def _skill_folders(grounds: Grounds) -> Iterator[tuple[str, str]]:
    where, wanted = grounds.where, grounds.options.setting_sources
    if "project" in wanted:
        for folder in reversed(folders_down(where.root, where.cwd)):
            yield f"{folder}/.detent/skills", "project"
            yield f"{folder}/.claude/skills", "project"
    if "user" in wanted:
        yield f"{where.home}/skills", "user"
        yield f"{where.claude}/skills", "user"


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _about(path: str) -> str:
    try:
        text = read_file(path)[0].decode(errors="replace")
    except (OSError, BadInput):
        return "cannot be read"
    head, _ = split_head(text)
    said = parse_head(head)[0].get("description") if head else ""
    return in_one_line(said, LONGEST) if isinstance(said, str) else ""
