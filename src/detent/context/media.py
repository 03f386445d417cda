"""Pictures and documents that would spoil every later request: told in words instead.

What is in the log goes to the provider again and again, so one picture it cannot take would end
the session for good.
"""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from detent.types.content import Call, Document, Image, Text
from detent.types.events import CallEnded, Entry, Prompted, Replied
from detent.types.outcomes import Done, Outcome

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
DOCUMENTS = ("application/pdf", "text/plain")
LARGEST_IMAGE = 5 * 1024 * 1024
LARGEST_DOCUMENT = 32 * 1024 * 1024
"""Both in Base64: the strictest provider counts the text it is sent."""

B = TypeVar("B")


def sound(content: tuple[B, ...]) -> tuple[B | Text, ...]:
    """The same blocks, but a note for each one that no provider would take."""
    return tuple(_sound(block) for block in content)


def sound_outcome(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Done) and any(map(is_media, outcome.content)):
        return replace(outcome, content=sound(outcome.content))
    return outcome


def is_media(block: object) -> bool:
    return isinstance(block, Image | Document)


def without_media(entry: Entry, reason: str) -> Entry:
    """The entry as a model may read it after a provider refused what it shows."""
    match entry:
        case Prompted(content=content):
            return replace(entry, content=_told(content, reason))
        case CallEnded(outcome=Done(content=content) as outcome):
            return replace(entry, outcome=replace(outcome, content=_told(content, reason)))
        case _:
            return entry


def suspects(entries: Sequence[Entry]) -> tuple[int, ...]:
    """Which entries hold what a provider refused: the new ones, or else all that are left.

    What an earlier request held was accepted then, unless another model reads it now. A call may
    have ended before its answer was whole: its result is new all the same.
    """
    showing = [entry for entry in entries if _shows_media(entry)]
    last = next((entry for entry in reversed(entries) if isinstance(entry, Replied)), None)
    if last is None:
        return tuple(entry.seq for entry in showing)
    calls = {block.id for block in last.content if isinstance(block, Call)}
    new = [e for e in showing if e.seq > last.seq or getattr(e, "call_id", None) in calls]
    return tuple(entry.seq for entry in new or showing)


def _shows_media(entry: Entry) -> bool:
    match entry:
        case Prompted(content=content) | CallEnded(outcome=Done(content=content)):
            return any(map(is_media, content))
        case _:
            return False


def _told(content: tuple[B, ...], reason: str) -> tuple[B | Text, ...]:
    return tuple(_note(block, reason) if is_media(block) else block for block in content)


def _sound(block: B) -> B | Text:
    if not isinstance(block, Image | Document):
        return block
    fault = _fault(block)
    return _note(block, fault) if fault else block


def _fault(block: Image | Document) -> str:
    kinds: tuple[str, ...] = DOCUMENTS
    most = LARGEST_DOCUMENT
    if isinstance(block, Image):
        kinds, most = IMAGES, LARGEST_IMAGE
    if block.media_type not in kinds:
        return f"{block.media_type or 'no type'} is not one of {', '.join(kinds)}"
    if len(block.data) > most:
        return f"it has {len(block.data):,} bytes as Base64, and {most:,} is the most that goes"
    return "" if _is_base64(block.data) else "it is not valid Base64"


def _is_base64(data: str) -> bool:
    from binascii import Error, a2b_base64

    try:
        return bool(a2b_base64(data, strict_mode=True))
    except (Error, ValueError):
        return False


def _note(block: object, reason: str) -> Text:
    name = getattr(block, "name", "")
    what = f"The document {name}".rstrip() if isinstance(block, Document) else "An image"
    return Text(f"[{what} was left out: {reason}]")
