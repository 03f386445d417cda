"""NotebookEdit: one cell of a Jupyter notebook."""

import asyncio
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from detent.ports import Desk
from detent.tools.base import Arguments, TypedTool
from detent.tools.files.freshness import Unfit, original_text, save
from detent.tools.files.notebook_changes import deleted, inserted, replaced
from detent.tools.files.notebooks import Notebook, parsed
from detent.tools.files.texts import TextFile, digest, legible, unpacked
from detent.tools.paths import absolute
from detent.types.effects import Effect, Writes
from detent.types.outcomes import Outcome, done

LISTED = 50


class NotebookEditArgs(Arguments, frozen=True):
    notebook_path: Annotated[
        str, Meta(description="The .ipynb file; absolute or relative to the working folder.")
    ]
    new_source: Annotated[str, Meta(description="The new source of the cell.")]
    cell_id: Annotated[
        str,
        Meta(description="The cell as Read names it; for insert the cell to insert it behind."),
    ] = ""
    cell_type: Annotated[
        Literal["code", "markdown"] | UnsetType,
        Meta(description="For insert code unless given, for replace as it was."),
    ] = UNSET
    edit_mode: Annotated[
        Literal["replace", "insert", "delete"], Meta(description="replace unless given.")
    ] = "replace"


class NotebookEdit(TypedTool[NotebookEditArgs]):
    name = "NotebookEdit"
    aliases = ("notebook_edit", "NotebookEditTool")
    renames = (
        ("path", "notebook_path"),
        ("file_path", "notebook_path"),
        ("filePath", "notebook_path"),
        ("filename", "notebook_path"),
    )
    args = NotebookEditArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        adapted = super().adapt(given)
        if adapted.get("edit_mode") == "delete":
            adapted.setdefault("new_source", "")
        return adapted

    def effects(self, args: NotebookEditArgs, cwd: str) -> tuple[Effect, ...]:
        return (Writes(absolute(args.notebook_path, cwd)),)

    async def act(self, args: NotebookEditArgs, desk: Desk) -> Outcome:
        path = absolute(args.notebook_path, desk.cwd)
        if not path.lower().endswith(".ipynb"):
            raise Unfit(f"{path} is not a notebook (.ipynb): use Edit.")
        data = await original_text(desk, path, creates=False)
        assert data is not None
        file = unpacked(data)
        try:
            notebook = await asyncio.to_thread(parsed, file.body)
        except ValueError as error:
            raise Unfit(f"{path} cannot be changed as a notebook: {error}.") from None
        text, cell_id, cell_type = _changed(notebook, args, desk.call_id)
        await save(desk, path, TextFile(text, file.bom, file.crlf, file.encoding).packed())
        about = {
            "notebook_path": path,
            "cell_id": legible(cell_id),
            "cell_type": legible(cell_type),
            "edit_mode": args.edit_mode,
            "new_source": args.new_source,
            "language": legible(notebook.language),
        }
        verb = {"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}[args.edit_mode]
        return done(f"{verb} cell {legible(cell_id)} in {path}.", about)


TOOL = NotebookEdit


def _changed(notebook: Notebook, args: NotebookEditArgs, call_id: str) -> tuple[str, str, str]:
    """The text of the file afterwards, and id and type of the cell."""
    index = _index(notebook, args)
    if args.edit_mode == "insert":
        own = _new_id(notebook, call_id) if notebook.has_ids else ""
        kind: str = args.cell_type or "code"
        text = inserted(notebook, index + 1, kind, args.new_source, own)
        return text, own or f"cell-{index + 1}", kind
    cell_id, kind = notebook.id_of(index), str(notebook.cells[index].get("cell_type"))
    if args.edit_mode == "delete":
        return deleted(notebook, index), cell_id, kind
    kind = args.cell_type or kind
    return replaced(notebook, index, kind, args.new_source), cell_id, kind


def _index(notebook: Notebook, args: NotebookEditArgs) -> int:
    """-1: before all cells."""
    if not args.cell_id and args.edit_mode == "insert":
        return -1
    index = notebook.find(args.cell_id)
    if index < 0:
        ids = [legible(notebook.id_of(index)) for index in range(len(notebook.cells))]
        more = ", ..." if len(ids) > LISTED else ""
        fault = f"there is no cell {args.cell_id}" if args.cell_id else "cell_id is missing"
        raise Unfit(f"{fault}. The cells are: {', '.join(ids[:LISTED]) or 'none'}{more}.")
    return index


def _new_id(notebook: Notebook, call_id: str) -> str:
    """From the call, so that a run can be replayed."""
    taken = {notebook.id_of(index) for index in range(len(notebook.cells))}
    number = 0
    while (made := digest(f"{call_id} {number}".encode())[:8]) in taken:
        number += 1
    return made
