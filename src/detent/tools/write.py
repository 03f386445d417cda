"""Write: a whole file."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.freshness import content_of, objection
from detent.tools.neighbours import about_folder
from detent.tools.paths import absolute
from detent.tools.texts import LIMIT, counted, digest, lines_of
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Failed, Outcome, done

ECHOED = 20_000
"""Longer content is not repeated in the result: the call holds it already."""


class WriteArgs(Struct, frozen=True):
    file_path: Annotated[
        str, Meta(description="The file; absolute or relative to the working folder.")
    ]
    content: Annotated[str, Meta(description="The whole content.")]


class Write(TypedTool[WriteArgs]):
    name = "Write"
    aliases = ("write_file", "FileWriteTool")
    renames = (("path", "file_path"), ("text", "content"))
    args = WriteArgs

    def effects(self, args: WriteArgs, cwd: str) -> tuple[Effect, ...]:
        return (Writes(absolute(args.file_path, cwd)),)

    async def act(self, args: WriteArgs, desk: Desk) -> Outcome:
        path = absolute(args.file_path, desk.cwd)
        data = args.content.encode()
        if len(data) > LIMIT:
            return Failed(f"Write: the content has {len(data):,} bytes; the limit is {LIMIT:,}.")
        facts = await desk.host.facts(path)
        if facts is not None:
            if facts.is_dir:
                return Failed(f"Write: {await about_folder(desk.host, path)}")
            if fault := objection(desk, path, await content_of(desk, path)):
                return Failed(f"Write: {fault}")
        await desk.host.write(path, data)
        desk.files.remember(path, digest(data))
        return _written(path, args.content, created=facts is None)


TOOL = Write


def _written(path: str, content: str, *, created: bool) -> Outcome:
    data: dict[str, Any] = {"type": "create" if created else "update", "filePath": path}
    if len(content) <= ECHOED:
        data["content"] = content
    verb = "Created" if created else "Updated"
    return done(f"{verb} {path} ({counted(len(lines_of(content)), 'line')}).", data)
