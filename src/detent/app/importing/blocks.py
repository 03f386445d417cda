"""Content blocks as the Messages API has them, as ours. None: of no kind that we know."""

from typing import Any

from msgspec import MsgspecError

from detent.types.codec import encode
from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Image,
    Redacted,
    ResultBlock,
    Text,
    Thinking,
)

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def answer_block(block: dict[str, Any]) -> AssistantBlock | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "thinking", "thinking": str(text)}:
            signature = block.get("signature")
            return Thinking(text, signature if isinstance(signature, str) else "")
        case {"type": "redacted_thinking", "data": str(data)}:
            return Redacted(data)
        case {"type": "tool_use", "id": str(call), "name": str(name)} if call and name:
            try:
                return Call(call, name, encode(block.get("input", {})).decode())
            except (MsgspecError, RecursionError, OverflowError, TypeError):
                return None
        case _:
            return None


def user_block(block: dict[str, Any]) -> ResultBlock | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": kind, "source": {"type": "base64", "media_type": str(media), "data": str(d)}}:
            if kind == "image" and media in PICTURES:
                return Image(media, d)
            return Document(media, d) if kind == "document" else None
        case _:
            return None


def result_content(content: Any) -> tuple[ResultBlock, ...]:
    """What is not understood is told of, for the model will miss it."""
    if isinstance(content, str):
        return (Text(content),)
    given = content if isinstance(content, list) else ()
    return tuple(
        user_block(block) or Text(f"[{str(block.get('type'))[:40]}: left out at the import]")
        for block in given
        if isinstance(block, dict)
    )
