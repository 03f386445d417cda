"""Content blocks: what messages are made of."""

from msgspec import Struct


class Block(Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True, gc=False):
    """Base of every block; the tag is the class name in lower case."""


class Text(Block, frozen=True):
    text: str


class Image(Block, frozen=True):
    media_type: str
    data: str
    """Base64, as every wire wants it."""


class Thinking(Block, frozen=True):
    text: str
    signature: str = ""
    """Opaque proof of origin; goes back unchanged to the provider that made it."""


class Redacted(Block, frozen=True):
    """Thinking that the provider encrypted; only it can read it."""

    data: str


class Call(Block, frozen=True):
    """One tool use as the model wrote it; `arguments` is the raw JSON text, perhaps invalid."""

    id: str
    name: str
    arguments: str


class Result(Block, frozen=True):
    """The answer to one call."""

    call_id: str
    content: tuple[Text | Image, ...]
    is_error: bool = False


AssistantBlock = Text | Thinking | Redacted | Call
UserBlock = Text | Image | Result


def plain_text(blocks: tuple[AssistantBlock, ...] | tuple[UserBlock, ...]) -> str:
    """The text a person would read, blocks of other kinds left out."""
    return "".join(block.text for block in blocks if isinstance(block, Text))
