"""Edit: an exact replacement inside a file."""

import asyncio
from typing import Annotated

from msgspec import Meta

from detent.ports import Desk
from detent.tools.base import Arguments, TypedTool
from detent.tools.files.aftermath import Change, changed
from detent.tools.files.freshness import original_text, save
from detent.tools.files.replacing import Everywhere, New, Old, Replacement, replaced
from detent.tools.files.texts import counted, lines_of, unpacked
from detent.tools.paths import absolute
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Failed, Outcome


class EditArgs(Arguments, frozen=True):
    file_path: Annotated[
        str, Meta(description="The file; absolute or relative to the working folder.")
    ]
    old_string: Old
    new_string: New
    replace_all: Everywhere = False

    @property
    def replacement(self) -> Replacement:
        return Replacement(self.old_string, self.new_string, self.replace_all)


class Edit(TypedTool[EditArgs]):
    name = "Edit"
    aliases = ("edit_file", "FileEditTool")
    renames = (("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string"))
    args = EditArgs

    def effects(self, args: EditArgs, cwd: str) -> tuple[Effect, ...]:
        return (Writes(absolute(args.file_path, cwd)),)

    async def act(self, args: EditArgs, desk: Desk) -> Outcome:
        path = absolute(args.file_path, desk.cwd)
        data = await original_text(desk, path, creates=not args.old_string)
        before = unpacked(data or b"")
        # In a thread: finding the places, or explaining why there is none, can take a moment.
        made = await asyncio.to_thread(replaced, before, args.replacement)
        if isinstance(made, str):
            return Failed(f"Edit: {path}: {made}")
        await save(desk, path, made.file.packed())
        if made.patch:
            places = "" if made.count == 1 else f" in {made.count:,} places; the first"
            text = f"Changed {path}{places}:\n{made.patch[0].snippet()}"
        else:
            verb = "Created" if data is None else "Wrote"
            text = f"{verb} {path} ({counted(len(lines_of(made.file.body)), 'line')})."
        about = {
            "oldString": args.old_string,
            "newString": args.new_string,
            "replaceAll": args.replace_all,
            "userModified": False,
        }
        change = Change(path, None if data is None else before, made.file, made.patch)
        return await changed(text, change, about, desk)


TOOL = Edit
