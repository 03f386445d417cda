"""Read: a file's text with line numbers, a picture, the text of a PDF, a notebook."""

import asyncio
import errno
from base64 import b64encode
from typing import Annotated, Any

from msgspec import Meta

from detent.ports import Desk
from detent.tools.base import ROOM, Arguments, TypedTool
from detent.tools.files import pdf
from detent.tools.files.freshness import remember
from detent.tools.files.images import fault_of, media_type
from detent.tools.files.neighbours import about_folder, about_missing
from detent.tools.files.texts import (
    LIMIT,
    TextFile,
    counted,
    is_binary,
    legible,
    lines_of,
    numbered,
    unpacked,
)
from detent.tools.paths import absolute
from detent.types.content import Image
from detent.types.effects import Effect, Reads
from detent.types.outcomes import Done, Failed, Outcome, done

LINES = 2_000
WIDTH = 2_000


class ReadArgs(Arguments, frozen=True):
    file_path: Annotated[
        str, Meta(description="The file; absolute or relative to the working folder.")
    ]
    offset: Annotated[int, Meta(description="First line, counted from 1.", ge=0)] = 1
    limit: Annotated[int, Meta(description="How many lines.", ge=1)] = LINES
    pages: Annotated[
        str,
        Meta(description="Of a PDF: a page or a range, such as `3` or `1-5`; at most 20 pages."),
    ] = ""


class Read(TypedTool[ReadArgs]):
    name = "Read"
    aliases = ("read_file", "FileReadTool")
    renames = (("path", "file_path"), ("start_line", "offset"))
    args = ReadArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        adapted = super().adapt(given)
        start, end = _number(adapted.get("offset", 1)), _number(adapted.pop("end_line", None))
        if start is not None and end is not None and "limit" not in adapted:
            adapted["limit"] = max(1, end - max(start, 1) + 1)
        if isinstance(adapted.get("pages"), int):
            adapted["pages"] = str(adapted["pages"])
        return adapted

    def effects(self, args: ReadArgs, cwd: str) -> tuple[Effect, ...]:
        return (Reads(absolute(args.file_path, cwd)),)

    async def act(self, args: ReadArgs, desk: Desk) -> Outcome:
        path = absolute(args.file_path, desk.cwd)
        facts = await desk.facts(path)
        if facts is None:
            return Failed(f"Read: {await about_missing(desk.host, path, desk.cwd)}")
        if facts.is_dir:
            return Failed(f"Read: {await about_folder(desk.host, path)}")
        limit = pdf.LIMIT if path.lower().endswith(".pdf") else LIMIT
        try:
            data = await desk.read(path, limit)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            return Failed(_too_big(path, facts.size, limit))
        if pdf.is_pdf(data, path):
            remember(desk, path, data)
            return await pdf.read_pdf(path, data, args.pages, ROOM)
        if args.pages:
            return Failed(f"Read: {path} is no PDF; leave out `pages`, use offset and limit.")
        if kind := media_type(data):
            remember(desk, path, data)
            return _picture(path, data, kind)
        if is_binary(data):
            return Failed(_binary(path, data))
        remember(desk, path, data)
        return await _legible_file(path, unpacked(data), args)


TOOL = Read


def _number(value: Any) -> int | None:
    """Some models write numbers as text."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return value if isinstance(value, int) else None


async def _legible_file(path: str, file: TextFile, args: ReadArgs) -> Outcome:
    if not path.lower().endswith(".ipynb"):
        return _text(path, file, args)
    from detent.tools.files.notebook_view import viewed
    from detent.tools.files.notebooks import parsed

    try:
        notebook = await asyncio.to_thread(parsed, file.body)
    except ValueError as error:
        return _text(path, file, args, f"not shown as a notebook: {error}")
    return viewed(path, notebook, args.offset, args.limit, ROOM)


def _text(path: str, file: TextFile, args: ReadArgs, note: str = "") -> Outcome:
    lines = lines_of(file.body)
    first = max(args.offset, 1)
    if not lines:
        return done(f"{path} is empty.", _data(path, [], 1, 0))
    if first > len(lines):
        return Failed(
            f"Read: offset {first} is past the end: {path} has {counted(len(lines), 'line')}."
        )
    picked, long = _fitting(lines[first - 1 : first - 1 + args.limit])
    last = first + len(picked) - 1
    notes = [note] if note else []
    if last < len(lines):
        notes.append(f"lines {first}-{last} of {len(lines)}; go on with offset={last + 1}")
    if long:
        notes.append(f"{counted(long, 'line')} cut at {WIDTH} characters, marked [cut]")
    if file.damaged:
        notes.append("not valid UTF-8: \ufffd stands for each unreadable byte")
    if file.encoding != "utf-8":
        notes.append(f"encoded as {file.encoding.upper()}; Edit keeps that")
    head = f"[{path}: {'. '.join(notes)}.]\n" if notes else ""
    return done(head + numbered(picked, first), _data(path, picked, first, len(lines)))


def _fitting(lines: list[str]) -> tuple[list[str], int]:
    """The lines made legible, as many as there is room for, and how many had to be cut."""
    fitting: list[str] = []
    room, long = ROOM, 0
    for line in lines:
        line = legible(line.removesuffix("\r"))
        if len(line) > WIDTH:
            line, long = line[:WIDTH] + "[cut]", long + 1
        room -= len(line) + 8
        if room < 0 and fitting:
            break
        fitting.append(line)
    return fitting, long


def _data(path: str, lines: list[str], start: int, total: int) -> dict[str, Any]:
    file = {
        "filePath": path,
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": start,
        "totalLines": total,
    }
    return {"type": "text", "file": file}


def _picture(path: str, data: bytes, kind: str) -> Outcome:
    if fault := fault_of(data, kind):
        return Failed(f"Read: {path} is a picture {fault}. Make a smaller copy and read that.")
    about = {"type": "image", "file": {"filePath": path, "type": kind, "originalSize": len(data)}}
    return Done((Image(kind, b64encode(data).decode()),), about)


def _too_big(path: str, size: int, limit: int) -> str:
    return (
        f"Read: {path} has {size:,} bytes; the limit is {limit:,}. Find the place with Grep, or "
        "take a part with Bash: `head`, `tail`, `sed -n '100,200p'`."
    )


def _binary(path: str, data: bytes) -> str:
    return (
        f"Read: {path} is a binary file of {len(data):,} bytes. "
        "Look at it with Bash: `file`, `xxd | head`."
    )
