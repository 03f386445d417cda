"""Write: a whole file."""

import asyncio
from typing import Annotated, Any

from msgspec import Meta

from detent.ports import Desk
from detent.tools.base import Arguments, TypedTool
from detent.tools.files.aftermath import ECHOED, Change, changed
from detent.tools.files.freshness import original, save
from detent.tools.files.patches import Hunk, comparison
from detent.tools.files.texts import TextFile, counted, is_binary, lines_of, unpacked
from detent.tools.paths import absolute
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Outcome


class WriteArgs(Arguments, frozen=True):
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
        data = await original(desk, path, creates=True)
        await save(desk, path, args.content.encode())
        before = None if data is None or is_binary(data) else unpacked(data)
        patch: list[Hunk] = []
        if before is not None:
            patch = await asyncio.to_thread(comparison, before.body, args.content)
        about: dict[str, Any] = {"type": "create" if data is None else "update"}
        if len(args.content) <= ECHOED:
            about["content"] = args.content
        verb = "Created" if data is None else "Updated"
        text = f"{verb} {path} ({counted(len(lines_of(args.content)), 'line')})."
        change = Change(path, before, TextFile(args.content), patch)
        return await changed(text, change, about, desk)


TOOL = Write
