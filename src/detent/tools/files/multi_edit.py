"""MultiEdit: several exact replacements in one file, all of them or none."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from detent.ports import Desk
from detent.tools.base import Arguments, TypedTool
from detent.tools.files.aftermath import Change, changed
from detent.tools.files.freshness import Unfit, original_text, save
from detent.tools.files.patches import comparison
from detent.tools.files.replacing import Replacement, replaced
from detent.tools.files.texts import TextFile, counted, unpacked
from detent.tools.paths import absolute
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Outcome


class MultiEditArgs(Arguments, frozen=True):
    file_path: Annotated[
        str, Meta(description="The file; absolute or relative to the working folder.")
    ]
    edits: Annotated[
        list[Replacement], Meta(description="The replacements, in order.", min_length=1)
    ]


class MultiEdit(TypedTool[MultiEditArgs]):
    name = "MultiEdit"
    aliases = ("multi_edit",)
    renames = (("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string"))
    args = MultiEditArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        adapted = super().adapt(given)
        edits = adapted.get("edits")
        if isinstance(edits, str):  # some models write a list as text
            with suppress(msgspec.DecodeError):
                adapted["edits"] = edits = msgspec.json.decode(edits)
        if isinstance(edits, list):
            adapted["edits"] = [
                self.renamed(edit, Replacement) if isinstance(edit, dict) else edit
                for edit in edits
            ]
        return adapted

    def effects(self, args: MultiEditArgs, cwd: str) -> tuple[Effect, ...]:
        return (Writes(absolute(args.file_path, cwd)),)

    async def act(self, args: MultiEditArgs, desk: Desk) -> Outcome:
        path = absolute(args.file_path, desk.cwd)
        data = await original_text(desk, path, creates=not args.edits[0].old_string)
        before = unpacked(data or b"")
        after = await asyncio.to_thread(_all_replaced, before, args.edits, path)
        await save(desk, path, after.packed())
        text = f"{path} with {counted(len(args.edits), 'edit')}"
        if data is None:
            made = Change(path, None, after)
            return await changed(f"Created {text}.", made, _about(args), desk)
        patch = await asyncio.to_thread(comparison, before.body, after.body)
        view = f"; the first place:\n{patch[0].snippet()}" if patch else "."
        made = Change(path, before, after, patch)
        return await changed(f"Changed {text}{view}", made, _about(args), desk)


TOOL = MultiEdit


def _all_replaced(file: TextFile, edits: Sequence[Replacement], path: str) -> TextFile:
    for number, edit in enumerate(edits, 1):
        made = replaced(file, edit)
        if isinstance(made, str):
            since = " The edits before it are taken into account here." if number > 1 else ""
            raise Unfit(
                f"nothing was changed in {path}, because edit {number} of {len(edits)} cannot be "
                f"made: {made}{since}"
            )
        file = made.file
    return file


def _about(args: MultiEditArgs) -> dict[str, Any]:
    edits = [
        {"old_string": e.old_string, "new_string": e.new_string, "replace_all": e.replace_all}
        for e in args.edits
    ]
    return {"edits": edits, "userModified": False}
