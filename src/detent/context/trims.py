"""Entries as they read after a trim: shorter, and still each call with its result."""

from collections.abc import Iterable

from msgspec.structs import replace

from detent.types.content import AssistantBlock, Call, Text
from detent.types.events import CallEnded, CallStarted, Entry, Reminded, Replied, Trim
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused


def trimmed(entries: Iterable[Entry], trims: Iterable[Trim]) -> list[Entry]:
    wanted: dict[int, list[Trim]] = {}
    for trim in trims:
        wanted.setdefault(trim.entry, []).append(trim)
    gone: set[str] = set()
    """Calls of answers that are left out."""
    kept: list[Entry] = []
    for entry in entries:
        if (own := wanted.get(entry.seq)) is not None:
            for trim in own:
                if isinstance(entry, Replied) and trim.block < 0:
                    gone |= {block.id for block in entry.content if isinstance(block, Call)}
                entry = shorter(entry, trim)
        kept.append(entry)
    return [e for e in kept if not _is_of(e, gone)] if gone else kept


def shorter(entry: Entry, trim: Trim) -> Entry:
    match entry:
        case CallEnded(outcome=outcome):
            return replace(entry, outcome=with_text(outcome, trim.text))
        case Replied(content=content):
            return replace(entry, content=_content(content, trim))
        case Reminded():
            return replace(entry, text=trim.text)
        case _:
            return entry


def with_text(outcome: Outcome, text: str) -> Outcome:
    """An outcome of the same kind that says this; pictures go as well."""
    match outcome:
        case Done(data=data):
            return Done((Text(text),), data)
        case Failed(data=data):
            return Failed(text, data)
        case Cut(reason=reason):
            return Cut(reason, text)
        case Refused():
            return outcome


def _content(content: tuple[AssistantBlock, ...], trim: Trim) -> tuple[AssistantBlock, ...]:
    if trim.block < 0:
        return (Text(trim.text),)
    return tuple(
        _block(block, trim.text) if number == trim.block else block
        for number, block in enumerate(content)
    )


def _block(block: AssistantBlock, text: str) -> AssistantBlock:
    match block:
        case Text():
            return Text(text)
        case Call():
            return replace(block, arguments=text)
        case _:  # what is sealed goes back as it came, or not at all
            return block


def _is_of(entry: Entry, calls: set[str]) -> bool:
    return isinstance(entry, CallStarted | CallEnded) and entry.call_id in calls
