"""The questions that a model may ask, each put to a server and its answer made readable."""

from typing import Any

from msgspec import Struct

from detent.tools.language.answers import (
    MOST_PLACES,
    Lines,
    Reading,
    fault_line,
    hover_text,
    more,
    outline,
)
from detent.tools.language.client import Client, Document
from detent.tools.language.messages import Hover, Place, Symbol
from detent.tools.language.positions import spot, to_wire, word_at
from detent.tools.language.uris import uri_of
from detent.tools.paths import shown

SECONDS = 30.0
FAULTS_SECONDS = 10.0

PLACES = {
    "definition": ("textDocument/definition", "definition_provider"),
    "references": ("textDocument/references", "references_provider"),
    "implementation": ("textDocument/implementation", "implementation_provider"),
    "type_definition": ("textDocument/typeDefinition", "type_definition_provider"),
}


class Subject(Struct, frozen=True):
    """A file that a server was shown."""

    client: Client
    path: str
    document: Document
    cwd: str
    lines: Lines

    @property
    def place(self) -> str:
        return shown(self.path, self.cwd)

    @property
    def reading(self) -> Reading:
        return Reading(self.cwd, self.client.abilities.position_encoding, self.lines)

    async def ask(self, method: str, ability: str, kind: Any, **params: Any) -> Any:
        if not getattr(self.client.abilities, ability):
            name = self.client.server.name
            raise LookupError(f"{name}, the server for {self.place}, cannot tell. Use Grep instead")
        return await self.client.ask(method, params, kind, SECONDS)


async def answer(subject: Subject, action: str, line: int, character: int, query: str) -> str:
    """Raises LookupError, and what the client raises."""
    match action:
        case "diagnostics":
            return await _diagnostics(subject)
        case "symbols":
            return await _symbols(subject)
        case "workspace symbols":
            return await _workspace_symbols(subject, query)
    line, character = spot(subject.document.lines, line, character, query)
    if action == "hover":
        return await _hover(subject, line, character)
    return await _places(subject, action, line, character)


async def _diagnostics(subject: Subject) -> str:
    client, document = subject.client, subject.document
    faults = await client.faults(subject.path, document, FAULTS_SECONDS)
    encoding, lines = client.abilities.position_encoding, document.lines
    ordered = sorted(faults, key=lambda fault: fault.range.start.line)
    written = [f"  {fault_line(one, lines, encoding)}" for one in ordered[:MOST_PLACES]]
    if not written:
        return f"No diagnostics in {subject.place} ({client.server.name})."
    return "\n".join(
        [f"Diagnostics in {subject.place}:", *written, *more(len(faults), MOST_PLACES)]
    )


async def _symbols(subject: Subject) -> str:
    found: list[Symbol] | None = await subject.ask(
        "textDocument/documentSymbol", "document_symbol_provider", list[Symbol] | None,
        textDocument={"uri": uri_of(subject.path)},
    )  # fmt: skip
    if not found:
        return f"{subject.place} has no symbols."
    return f"Symbols in {subject.place}, with their lines:\n{outline(found)}"


async def _workspace_symbols(subject: Subject, query: str) -> str:
    found: list[Symbol] | None = await subject.ask(
        "workspace/symbol", "workspace_symbol_provider", list[Symbol] | None, query=query
    )
    if not found:
        return f"No symbol like `{query}` was found."
    return f"Symbols like `{query}`:\n{await subject.reading.symbols(found)}"


async def _hover(subject: Subject, line: int, character: int) -> str:
    hover: Hover | None = await subject.ask(
        "textDocument/hover", "hover_provider", Hover | None, **_at(subject, line, character)
    )
    about = _about(subject, line, character)
    text = hover_text(hover)
    return f"{about}:\n{text}" if text else f"Nothing is known of {about}."


async def _places(subject: Subject, action: str, line: int, character: int) -> str:
    method, ability = PLACES[action]
    params = _at(subject, line, character)
    if action == "references":
        params["context"] = {"includeDeclaration": True}
    found: Place | list[Place] | None = await subject.ask(
        method, ability, list[Place] | Place | None, **params
    )
    places = [found] if isinstance(found, Place) else found or []
    what = action.replace("_", " ")
    about = _about(subject, line, character)
    if not places:
        return f"No {what} found of {about}."
    return f"{what.capitalize()} of {about}:\n{await subject.reading.places(places)}"


def _at(subject: Subject, line: int, character: int) -> dict[str, Any]:
    encoding = subject.client.abilities.position_encoding
    position = to_wire(subject.document.lines, line, character, encoding)
    return {"textDocument": {"uri": uri_of(subject.path)}, "position": position}


def _about(subject: Subject, line: int, character: int) -> str:
    """So that a model sees what it has really asked about."""
    word = word_at(subject.document.lines, line, character)
    place = f"{subject.place}:{line}:{character}"
    return f"`{word}` ({place})" if word else place
