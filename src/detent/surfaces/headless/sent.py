"""What a host program sends: prompts, and the form that it wants of answers."""

import base64
from typing import Any

from msgspec import Struct

from detent.types.content import Document, Image, Text

Prompt = tuple[Text | Image | Document, ...]


class Sent(Struct, frozen=True):
    """What a host wants to say, and what it calls it: each part, where several were joined."""

    content: Prompt
    uuids: tuple[str, ...] = ()
    is_typed: bool = False
    """By a person: it may call a command, or name files."""
    calls: bool = False
    """A command that somebody has written: it stands for itself."""

    def joined(self, further: "Sent") -> "Sent":
        content, uuids = (*self.content, *further.content), (*self.uuids, *further.uuids)
        return Sent(content, uuids, self.is_typed and further.is_typed)


def schema_from(request: dict[str, Any]) -> dict[str, Any] | None:
    """`jsonSchema` is what clients send; `outputFormat` is how their users write it."""
    match request:
        case {"jsonSchema": dict(schema)}:
            return schema
        case {"outputFormat": {"type": "json_schema", "schema": dict(schema)}}:
            return schema
        case _:
            return None


def prompt_from(content: Any) -> Prompt:
    """A string, or blocks of text, images and documents."""
    if isinstance(content, str):
        return (Text(content),) if content.strip() else ()
    blocks: list[Text | Image | Document] = []
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                blocks.append(Text(text))
            case {"type": "image", "source": {"media_type": str(kind), "data": str(data)}}:
                blocks.append(Image(kind, data))
            case {"type": "document", "source": {"media_type": str(kind), "data": str(data)}}:
                blocks.append(document_from(block, kind, data))
            case _:
                pass
    return tuple(blocks)


def document_from(block: dict[str, Any], kind: str, data: str) -> Document:
    """A text may come as it is; ours are base64 all of them."""
    if block["source"].get("type") == "text":
        data = base64.b64encode(data.encode()).decode()
    return Document(kind, data, str(block.get("title") or ""))
