"""How many tokens an entry adds to the context: an estimate, until a provider reports."""

from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    UserBlock,
)
from detent.types.events import CallEnded, Compacted, Entry, Prompted, Reminded, Replied
from detent.types.outcomes import content_of

CHARACTERS_PER_TOKEN = 4
IMAGE_TOKENS = 1_600
DOCUMENT_BYTES_PER_TOKEN = 16
"""Of its base64: a page of a PDF has some 50 KB and costs some 3,000 tokens."""
PER_ENTRY = 8
"""Roles, ids and brackets."""


def estimate(entry: Entry) -> int:
    match entry:
        case Prompted(content=blocks):
            return PER_ENTRY + sum(map(_of_block, blocks))
        case Replied(content=content):
            return PER_ENTRY + sum(map(_of_block, content))
        case CallEnded(outcome=outcome):
            return PER_ENTRY + sum(map(_of_block, content_of(outcome)))
        case Reminded(text=text) | Compacted(summary=text):
            return PER_ENTRY + len(text) // CHARACTERS_PER_TOKEN
        case _:
            return 0


def _of_block(block: UserBlock | AssistantBlock) -> int:
    match block:
        case Image():
            return IMAGE_TOKENS
        case Document(data=data):
            return IMAGE_TOKENS + len(data) // DOCUMENT_BYTES_PER_TOKEN
        case Call(name=name, arguments=arguments):
            return (len(name) + len(arguments)) // CHARACTERS_PER_TOKEN
        case Redacted(data=data) | Opaque(data=data):
            return len(data) // CHARACTERS_PER_TOKEN
        case Result(content=parts):
            return sum(map(_of_block, parts))
        case _:
            return len(block.text) // CHARACTERS_PER_TOKEN
