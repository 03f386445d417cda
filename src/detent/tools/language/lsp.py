"""LSP: what a language server knows of the code."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.files.neighbours import about_folder, about_missing
from detent.tools.paths import absolute
from detent.types.effects import Effect, Reads
from detent.types.outcomes import Failed, Outcome, done

Action = Literal[
    "definition", "references", "hover", "diagnostics", "symbols", "implementation",
    "type_definition",
]  # fmt: skip

TAUGHT = {
    "goToDefinition": "definition",
    "findReferences": "references",
    "documentSymbol": "symbols",
    "workspaceSymbol": "symbols",
    "goToImplementation": "implementation",
    "goToTypeDefinition": "type_definition",
}
"""Names of actions that other programs taught the models, and ours for them."""


class LspArgs(Struct, frozen=True):
    action: Annotated[Action, Meta(description="What to ask.")]
    path: Annotated[
        str, Meta(description="The file. For symbols with a query also a folder, or nothing.")
    ] = ""
    line: Annotated[int, Meta(description="From 1.", ge=0)] = 0
    character: Annotated[int, Meta(description="From 1.", ge=0)] = 0
    query: Annotated[str, Meta(description="The name to look at or to search for.")] = ""


class Lsp(TypedTool[LspArgs]):
    name = "LSP"
    aliases = ("lsp",)
    renames = (
        ("operation", "action"),
        ("filePath", "path"),
        ("file_path", "path"),
        ("symbol", "query"),
        ("column", "character"),
    )
    args = LspArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        adapted = super().adapt(given)
        action = adapted.get("action")
        if isinstance(action, str):
            adapted["action"] = TAUGHT.get(action, action)
        return adapted

    def effects(self, args: LspArgs, cwd: str) -> tuple[Effect, ...]:
        path = absolute(args.path, cwd)
        searches_all = args.action == "symbols" and args.query
        return (Reads(path), Reads(cwd)) if searches_all and path != cwd else (Reads(path),)

    async def act(self, args: LspArgs, desk: Desk) -> Outcome:
        path = absolute(args.path, desk.cwd)
        if not args.path and not (args.action == "symbols" and args.query):
            return Failed(f"LSP: {args.action} needs `path`, the file to look at.")
        facts = await desk.host.facts(path)
        if facts is None:
            return Failed(f"LSP: {await about_missing(desk.host, path, desk.cwd)}")
        if facts.is_dir and not (args.action == "symbols" and args.query):
            return Failed(f"LSP: {await about_folder(desk.host, path)}")
        try:
            text = await desk.shop.code.look(
                args.action, path, args.line, args.character, args.query
            )
        except LookupError as error:
            return Failed(f"LSP: {error}.")
        return done(text, {"operation": args.action, "filePath": path, "result": text})


TOOL = Lsp
