"""The messages that we exchange with a language server, as far as we use them."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

CONTENT_MODIFIED = -32801
SERVER_CANCELLED = -32802
METHOD_NOT_FOUND = -32601

ERROR, WARNING = 1, 2
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}

KINDS = (
    "file", "module", "namespace", "package", "class", "method", "property", "field",
    "constructor", "enum", "interface", "function", "variable", "constant", "string", "number",
    "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator",
    "type parameter",
)  # fmt: skip
"""Of symbols; the protocol counts from 1."""


class Wire(Struct, frozen=True, rename="camel"):
    """Base of what comes as an object. Unknown fields are passed over."""


class Fault(Wire, frozen=True):
    code: int = 0
    message: str = ""


class Incoming(Struct, frozen=True):
    """Any message: a request (id and method), a notification (method), an answer (id)."""

    id: int | str | UnsetType | None = UNSET
    method: str = ""
    params: Raw = Raw(b"null")
    result: Raw = Raw(b"null")
    error: Fault | None = None


class Outgoing(Struct, frozen=True, omit_defaults=True):
    jsonrpc: str
    id: int | str | UnsetType | None = UNSET
    method: str = ""
    params: Any = UNSET
    result: Any = UNSET
    error: Any = UNSET


class Position(Wire, frozen=True):
    line: int
    character: int


class Range(Wire, frozen=True):
    start: Position
    end: Position


class Place(Wire, frozen=True):
    """A Location or a LocationLink; a place without a range is the whole file."""

    uri: str = ""
    range: Range | None = None
    target_uri: str = ""
    target_selection_range: Range | None = None


class Markup(Wire, frozen=True):
    """MarkupContent, or the older MarkedString with a language."""

    value: str
    language: str = ""


class Hover(Wire, frozen=True):
    contents: str | Markup | list[str | Markup]


class Symbol(Wire, frozen=True):
    """A DocumentSymbol, SymbolInformation or WorkspaceSymbol."""

    name: str
    kind: int = 0
    selection_range: Range | None = None
    children: tuple["Symbol", ...] | None = None
    location: Place | None = None
    container_name: str | None = None


class Diagnostic(Wire, frozen=True):
    range: Range
    message: str | Markup
    severity: int | None = None
    source: str | None = None


class Published(Wire, frozen=True):
    """textDocument/publishDiagnostics"""

    uri: str
    diagnostics: tuple[Diagnostic, ...]
    version: int | None = None


class Report(Wire, frozen=True):
    """The answer to textDocument/diagnostic."""

    kind: str = "full"
    items: tuple[Diagnostic, ...] = ()


class Progress(Wire, frozen=True):
    """$/progress, as far as it tells of work."""

    token: int | str
    value: dict[str, Any] = {}


class Configuration(Wire, frozen=True):
    """workspace/configuration: which settings the server asks for."""

    items: tuple[dict[str, Any], ...] = ()


class Status(Wire, frozen=True):
    """experimental/serverStatus, by which rust-analyzer says when it has read the project."""

    quiescent: bool = True


class Capabilities(Wire, frozen=True):
    position_encoding: str = "utf-16"
    definition_provider: Any = None
    references_provider: Any = None
    hover_provider: Any = None
    implementation_provider: Any = None
    type_definition_provider: Any = None
    document_symbol_provider: Any = None
    workspace_symbol_provider: Any = None
    diagnostic_provider: Any = None


class Initialized(Wire, frozen=True):
    capabilities: Capabilities = Capabilities()
