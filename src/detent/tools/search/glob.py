"""Glob: files by name."""

import asyncio
from heapq import nlargest
from operator import attrgetter
from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk, FileFacts
from detent.tools.base import Arguments, TypedTool
from detent.tools.files.neighbours import about_missing
from detent.tools.files.texts import legible
from detent.tools.paths import absolute, shown
from detent.tools.search.patterns import MAGIC, matcher, split_literal
from detent.types.effects import Effect, Reads
from detent.types.outcomes import Failed, Outcome, done

MOST = 100
SECONDS = 20.0


class GlobArgs(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="The pattern, such as `**/*.py`.")]
    path: Annotated[str, Meta(description="Where to search; the working folder unless given.")] = ""


class Glob(TypedTool[GlobArgs]):
    name = "Glob"
    aliases = ("glob_search", "GlobTool")
    args = GlobArgs

    def effects(self, args: GlobArgs, cwd: str) -> tuple[Effect, ...]:
        return (Reads(_target(args, cwd)[0]),)

    async def act(self, args: GlobArgs, desk: Desk) -> Outcome:
        if fault := _fault(args.pattern):
            return Failed(f"Glob: {fault}")
        root, pattern = _target(args, desk.cwd)
        facts = await desk.host.facts(root)
        if facts is None:
            return Failed(f"Glob: {await about_missing(desk.host, root, desk.cwd)}")
        if not facts.is_dir:
            return Failed(f"Glob: {root} is a file; give the folder to search.")
        started = asyncio.get_running_loop().time()
        found = await _found(desk, root, pattern, started + SECONDS)
        spent = asyncio.get_running_loop().time() - started
        return _outcome(args.pattern, root, found, desk.cwd, int(spent * 1000))


TOOL = Glob


def _fault(pattern: str) -> str:
    if not pattern.strip():
        return "the pattern is empty. Send one such as `**/*.py`; `*` names all files below."
    if pattern.endswith("/"):
        return (
            f"{pattern} is a folder. Send `{pattern}*` for its files, `{pattern}**` for all below."
        )
    try:
        matcher(pattern)
    except ValueError as error:
        return f"{error}."
    return ""


def _target(args: GlobArgs, cwd: str) -> tuple[str, str]:
    """The folder to walk and the pattern below it."""
    pattern = args.pattern.removeprefix("./")
    folder, rest = split_literal(pattern)
    if "/" not in pattern:
        rest = f"**/{rest}"
    return absolute(folder, absolute(args.path or ".", cwd)), rest


class Found(Struct):
    """The newest files, and how many there are in all. Only so many are held at a time."""

    newest: list[FileFacts]
    total: int = 0
    folder: str = ""
    """One that matches."""
    is_late: bool = False
    """The time was up before all folders were seen."""

    def put(self, facts: FileFacts) -> None:
        self.total += 1
        self.newest.append(facts)
        if len(self.newest) > 10 * MOST:
            self.keep_newest()

    def keep_newest(self) -> None:
        self.newest = nlargest(MOST, self.newest, key=attrgetter("modified"))


async def _found(desk: Desk, root: str, pattern: str, deadline: float) -> Found:
    matches, skip = matcher(pattern).fullmatch, len(root.rstrip("/")) + 1
    now, found = asyncio.get_running_loop().time, Found([])
    # A folder that is not entered unasked is asked for by its name.
    named = [part for part in pattern.split("/") if not MAGIC.intersection(part)]
    async for facts in desk.host.walk(root, named):
        if matches(facts.path[skip:]):
            if facts.is_dir:
                found.folder = facts.path
            else:
                found.put(facts)
        if now() > deadline:
            found.is_late = True
            break
    found.keep_newest()
    return found


def _outcome(pattern: str, root: str, found: Found, cwd: str, ms: int) -> Outcome:
    paths = [legible(facts.path) for facts in found.newest]
    more = found.total - len(paths)
    data = {
        "filenames": paths,
        "numFiles": len(paths),
        "truncated": more > 0 or found.is_late,
        "durationMs": ms,
    }
    lines = [shown(path, cwd) for path in paths] or [_nothing(pattern, root, found.folder, cwd)]
    if more:
        lines.append(f"[{more:,} more, changed longer ago; a narrower pattern or path shows them]")
    if found.is_late:
        lines.append(f"[stopped after {SECONDS:g} s; there may be more. Give a narrower path]")
    return done("\n".join(lines), data)


def _nothing(pattern: str, root: str, folder: str, cwd: str) -> str:
    said = f"No file matches {pattern} in {root}."
    if folder:
        name = legible(shown(folder, cwd))
        return f"{said} {name} is a folder: send `{name}/**` for the files below it."
    if "[" in pattern and "]" not in pattern:
        return f"{said} A `[` without `]` stands for itself."
    return said
