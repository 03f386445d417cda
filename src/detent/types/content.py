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


class Document(Block, frozen=True):
    """A file a model can read as it is, as a rule a PDF."""

    media_type: str
    data: str
    """Base64."""
    name: str = ""


class Thinking(Block, frozen=True):
    text: str
    signature: str = ""
    """Opaque proof of origin; goes back unchanged to the provider that made it."""


class Redacted(Block, frozen=True):
    """Thinking that the provider encrypted; only it can read it."""

    data: str


class Opaque(Block, frozen=True):
    """A block only its provider understands, such as a search it ran itself: kept as it came."""

    data: str
    """JSON, given back unchanged."""


class Call(Block, frozen=True):
    """One tool use as the model wrote it; `arguments` is the raw JSON text, perhaps invalid."""

    id: str
    name: str
    arguments: str
    signature: str = ""
    """State the provider wants back with the call, unread by us."""


class Result(Block, frozen=True):
    """The answer to one call."""

    call_id: str
    content: tuple["ResultBlock", ...]
    is_error: bool = False


ResultBlock = Text | Image | Document
AssistantBlock = Text | Thinking | Redacted | Opaque | Call
UserBlock = Text | Image | Document | Result


def plain_text(blocks: tuple[AssistantBlock, ...] | tuple[UserBlock, ...]) -> str:
    """The text a person would read, blocks of other kinds left out."""
    return "".join(block.text for block in blocks if isinstance(block, Text))


PIPED, MENTIONED, COMMAND = "<stdin>\n", "<mentioned ", "<command "
SHELL = "<shell>\n"
"""How a text begins that came with a prompt: through a pipe, from a file that the prompt names,
from that of a command, or from what the person has run before."""


def own_words(prompt: tuple[UserBlock, ...]) -> tuple[str, ...]:
    """What the person has typed. Others may have written the rest."""
    texts = (block.text for block in prompt if isinstance(block, Text))
    return tuple(text for text in texts if not text.startswith((PIPED, MENTIONED, COMMAND, SHELL)))
