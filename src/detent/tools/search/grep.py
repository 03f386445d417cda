"""Grep: a regular expression in file contents."""

import asyncio
from typing import Any

from detent.ports import Desk
from detent.tools.base import ROOM, TypedTool
from detent.tools.files.neighbours import about_missing
from detent.tools.files.texts import counted, legible
from detent.tools.paths import absolute
from detent.tools.search import ripgrep, walking
from detent.tools.search.findings import Findings, GrepArgs, Row
from detent.types.effects import Effect, Reads
from detent.types.outcomes import Failed, Outcome, done


class Grep(TypedTool[GrepArgs]):
    name = "Grep"
    aliases = ("grep_search", "GrepTool")
    renames = (("query", "pattern"), ("include", "glob"))
    timeout = 120.0
    args = GrepArgs

    def effects(self, args: GrepArgs, cwd: str) -> tuple[Effect, ...]:
        return (Reads(absolute(args.path or ".", cwd)),)

    async def act(self, args: GrepArgs, desk: Desk) -> Outcome:
        root = absolute(args.path or ".", desk.cwd)
        if "\0" in args.pattern + args.glob + args.type:
            return Failed("Grep: an argument cannot contain a NUL character; write it as \\x00.")
        where = await desk.host.facts(root)
        if where is None:
            return Failed(f"Grep: {await about_missing(desk.host, root, desk.cwd)}")
        if where.is_special:
            return Failed(f"Grep: {root} is neither a file nor a folder; it cannot be searched.")
        program = desk.host.which("rg")
        if program is None:
            found = await walking.search(args, where, desk)
        else:
            found = await ripgrep.search(program, args, where, desk)
        if found.fault:
            return Failed(f"Grep: {found.fault}")
        return await asyncio.to_thread(_outcome, found, args, desk.cwd)


TOOL = Grep


def _outcome(found: Findings, args: GrepArgs, cwd: str) -> Outcome:
    shown_rows, lines = _page(found.rows, args)
    paths = dict.fromkeys(row.path for row in found.rows if row.path)
    data: dict[str, Any] = {
        "mode": args.output_mode,
        "filenames": [legible(absolute(row, cwd)) for row in _names(shown_rows)],
        "numFiles": len(paths),
    }
    if args.output_mode != "files_with_matches":
        data["numMatches"] = _matches(found.rows, args)
        data["content"] = "\n".join(lines)
    if args.output_mode == "content":
        data["numLines"] = len(lines)
    if args.offset + len(shown_rows) < len(found.rows):
        data["appliedLimit"] = len(shown_rows)
    if args.offset:
        data["appliedOffset"] = args.offset
    if found.binary:
        lines.append(f"{legible(found.binary)} is binary and matches.")
    elif not found.rows:
        lines = [f"No matches for {args.pattern}."]
    elif args.output_mode == "count":
        total = counted(data["numMatches"], "occurrence")
        lines.append(f"Total: {total} in {counted(len(paths), 'file')}.")
    return done("\n".join([*lines, *_notes(found, args, len(shown_rows))]), data)


def _page(rows: tuple[Row, ...], args: GrepArgs) -> tuple[list[Row], list[str]]:
    """As many of the rows asked for as there is room."""
    end = args.offset + args.head_limit if args.head_limit else len(rows)
    taken: list[Row] = []
    lines: list[str] = []
    room = ROOM
    for row in rows[args.offset : end]:
        line = legible(_line(row, args))
        room -= len(line) + 1
        if room < 0 and taken:
            break
        taken.append(row)
        lines.append(line)
    return taken, lines


def _line(row: Row, args: GrepArgs) -> str:
    if not row.path:
        return row.text
    if args.output_mode == "files_with_matches":
        return row.path
    if args.output_mode == "count":
        return f"{row.path}:{row.number}"
    mark = ":" if row.is_match else "-"
    number = f"{row.number}{mark}" if args.numbers else ""
    return f"{row.path}{mark}{number}{row.text}"


def _names(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.path for row in rows if row.path))


def _matches(rows: tuple[Row, ...], args: GrepArgs) -> int:
    if args.output_mode == "count":
        return sum(row.number for row in rows)
    return sum(1 for row in rows if row.path and row.is_match)


def _notes(found: Findings, args: GrepArgs, taken: int) -> list[str]:
    notes = []
    total, end = len(found.rows), args.offset + taken
    if total and not taken:
        notes.append(f"[offset {args.offset} is past the end: there are {total:,}]")
    elif end < total:
        notes.append(f"[{args.offset + 1}-{end} of {total:,} shown; go on with offset={end}]")
    if args.spans_lines and not args.multiline:
        notes.append("[the pattern holds a line end: searched across lines]")
    if found.note:
        notes.append(f"[{found.note}]")
    return notes
