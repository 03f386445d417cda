"""Edit: an exact replacement inside a file."""

import asyncio
from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.freshness import content_of, objection
from detent.tools.nearest import explain_missing
from detent.tools.neighbours import about_folder, about_missing
from detent.tools.patches import Hunk, hunks
from detent.tools.paths import absolute
from detent.tools.texts import LIMIT, TextFile, counted, digest, is_binary, lines_of, unpacked
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Failed, Outcome, done

LINES_NAMED = 10


class EditArgs(Struct, frozen=True):
    file_path: Annotated[
        str, Meta(description="The file; absolute or relative to the working folder.")
    ]
    old_string: Annotated[str, Meta(description="The text to replace, exactly as in the file.")]
    new_string: Annotated[str, Meta(description="The text to put in its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


class Edit(TypedTool[EditArgs]):
    name = "Edit"
    aliases = ("edit_file", "FileEditTool")
    renames = (("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string"))
    args = EditArgs

    def effects(self, args: EditArgs, cwd: str) -> tuple[Effect, ...]:
        return (Writes(absolute(args.file_path, cwd)),)

    async def act(self, args: EditArgs, desk: Desk) -> Outcome:
        path = absolute(args.file_path, desk.cwd)
        if args.old_string == args.new_string:
            return Failed("Edit: old_string and new_string are the same; nothing would change.")
        facts = await desk.host.facts(path)
        if facts is None and args.old_string:
            return Failed(f"Edit: {await about_missing(desk.host, path, desk.cwd)}")
        if facts is not None and facts.is_dir:
            return Failed(f"Edit: {await about_folder(desk.host, path)}")
        data = b"" if facts is None else await content_of(desk, path)
        if not args.old_string:
            return await _create(path, data, args, desk)
        if fault := objection(desk, path, data):
            return Failed(f"Edit: {fault}")
        if is_binary(data):
            return Failed(f"Edit: {path} is a binary file.")
        return await _replace(path, unpacked(data), args, desk)


TOOL = Edit


async def _create(path: str, data: bytes, args: EditArgs, desk: Desk) -> Outcome:
    if data:
        return Failed(
            f"Edit: old_string is empty, but {path} is not. Give the text to replace, or use "
            "Write to replace the whole file."
        )
    if fault := await _save(path, args.new_string.encode(), desk):
        return fault
    lines = lines_of(args.new_string)
    whole = Hunk(0, 0, 1, len(lines), tuple(f"+{line}" for line in lines))
    return _changed(f"Created {path} ({counted(len(lines), 'line')}).", path, args, [whole])


async def _replace(path: str, file: TextFile, args: EditArgs, desk: Desk) -> Outcome:
    old, new = _in_style_of(file.body, args)
    count = file.body.count(old)
    if not count:
        why = await asyncio.to_thread(explain_missing, file.body, old)
        return Failed(f"Edit: old_string is not in {path}. {why}")
    starts = _places(file.body, old)
    if count > 1 and not args.replace_all:
        return Failed(f"Edit: {_ambiguous(path, file.body, starts)}")
    body = file.body.replace(old, new)
    if fault := await _save(path, TextFile(body, file.bom, file.crlf).packed(), desk):
        return fault
    made = hunks(file.body, old, new, starts)
    places = "" if count == 1 else f" in {count} places; the first"
    return _changed(f"Changed {path}{places}:\n{made[0].snippet()}", path, args, made)


def _in_style_of(body: str, args: EditArgs) -> tuple[str, str]:
    """The strings with the line ends of the body: plain ones, unless the file mixes both kinds."""
    old = args.old_string.replace("\r\n", "\n")
    new = args.new_string.replace("\r\n", "\n")
    if "\r\n" not in body:
        return old, new
    if args.old_string in body:
        return args.old_string, args.new_string
    return old.replace("\n", "\r\n"), new.replace("\n", "\r\n")


async def _save(path: str, data: bytes, desk: Desk) -> Failed | None:
    if len(data) > LIMIT:
        return Failed(f"Edit: the file would have {len(data):,} bytes; the limit is {LIMIT:,}.")
    await desk.host.write(path, data)
    desk.files.remember(path, digest(data))
    return None


def _places(body: str, old: str) -> list[int]:
    places, at = [], body.find(old)
    while at >= 0:
        places.append(at)
        at = body.find(old, at + len(old))
    return places


def _ambiguous(path: str, body: str, starts: list[int]) -> str:
    lines = [str(body.count("\n", 0, start) + 1) for start in starts[:LINES_NAMED]]
    more = ", ..." if len(starts) > LINES_NAMED else ""
    return (
        f"old_string occurs {len(starts)} times in {path}, at lines {', '.join(lines)}{more}. "
        "Add surrounding lines to make it unique, or set replace_all."
    )


def _changed(text: str, path: str, args: EditArgs, made: list[Hunk]) -> Outcome:
    data = {
        "filePath": path,
        "oldString": args.old_string,
        "newString": args.new_string,
        "replaceAll": args.replace_all,
        "structuredPatch": [hunk.as_data() for hunk in made],
    }
    return done(text, data)
