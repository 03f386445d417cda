"""Which entry each block of a projection is from.

The projection is made once more, of entries whose texts know where they are from: so it is the same
code that decides, and nothing here can differ from what is sent.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.context.project import Projection
from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
    UserBlock,
)
from detent.types.events import CallEnded, Compacted, Entry, Prompted, Reminded, Replied
from detent.types.messages import Message
from detent.types.outcomes import Done, Failed, content_of, is_error

Block = AssistantBlock | UserBlock


class _Marked(str):
    """A text that knows its entry."""

    __slots__ = ("origin",)
    origin: int


def origins(still: Sequence[Entry]) -> list[tuple[int, ...]]:
    """For each message and block, the entry it is from; `still` are the entries that count."""
    projection = Projection()
    for entry in still:
        projection.add(_marked(entry))
    ended = {entry.call_id: entry.seq for entry in still if isinstance(entry, CallEnded)}
    found: list[tuple[int, ...]] = []
    calls: dict[str, int] = {}
    last = still[0].seq if still else 0
    for message in projection.messages():
        known = [_origin(block, ended, calls) for block in message.content]
        last = next((seq for seq in known if seq), last)
        own: list[int] = []
        for seq in known:  # a note of ours belongs to what it stands beside
            last = seq or last
            own.append(last)
        found.append(tuple(own))
        calls = _calls(message, own) or calls
    return found


def _calls(message: Message, own: Sequence[int]) -> dict[str, int]:
    pairs = zip(message.content, own, strict=True)
    return {block.id: seq for block, seq in pairs if isinstance(block, Call)}


def _origin(block: Block, ended: dict[str, int], calls: dict[str, int]) -> int:
    match block:
        case Result(call_id=call_id, content=content):
            known = (_origin(part, ended, calls) for part in content)
            return next(filter(None, known), 0) or ended.get(call_id) or calls.get(call_id, 0)
        case Call(name=text):
            pass
        case Image(data=text) | Document(data=text) | Redacted(data=text) | Opaque(data=text):
            pass
        case Text(text=text) | Thinking(text=text):
            pass
    return text.origin if isinstance(text, _Marked) else 0


def _marked(entry: Entry) -> Entry:
    seq = entry.seq
    match entry:
        case Prompted(content=content):
            return replace(entry, content=tuple(_block(block, seq) for block in content))
        case Reminded(text=text):
            return replace(entry, text=_text(text, seq))
        case Compacted(summary=text):
            return replace(entry, summary=_text(text, seq))
        case Replied(content=answer):
            return replace(entry, content=tuple(_block(block, seq) for block in answer))
        case CallEnded(outcome=outcome):
            shown = tuple(_block(part, seq) for part in content_of(outcome))
            if is_error(outcome):
                return replace(entry, outcome=Failed(shown[0].text))
            return replace(entry, outcome=Done(shown))
        case _:
            return entry


def _block(block: Any, seq: int) -> Any:
    match block:
        case Text(text=text) | Thinking(text=text):
            return replace(block, text=_text(text, seq))
        case Image(data=data) | Document(data=data) | Redacted(data=data) | Opaque(data=data):
            return replace(block, data=_text(data, seq))
        case Call(name=name):
            return replace(block, name=_text(name, seq))
        case _:
            return block


def _text(text: str, seq: int) -> str:
    marked = _Marked(text)
    marked.origin = seq
    return marked


def sent_before(entries: Sequence[Entry], reply: Replied) -> list[Entry]:
    """What the log held when the request for this answer was made: its calls may have begun while
    it still streamed, and stand before it."""
    calls = {block.id for block in reply.content if isinstance(block, Call)}
    before = [entry for entry in entries if entry.seq < reply.seq]
    last = max((e.seq for e in before if isinstance(e, Replied)), default=0)
    return [e for e in before if e.seq <= last or not _is_of(e, calls)]


def _is_of(entry: Entry, calls: set[str]) -> bool:
    return getattr(entry, "call_id", None) in calls and not isinstance(entry, Replied)
