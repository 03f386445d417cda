"""Entries as they read after a trim: shorter, and still each call with its result."""

from collections.abc import Iterable

from msgspec.structs import replace

from detent.types.content import AssistantBlock, Call, Text
from detent.types.events import CallEnded, CallStarted, Entry, Reminded, Replied, Trim
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused


def trim_all(entries: list[Entry], trims: Iterable[Trim]) -> list[Entry]:
    """The same list, changed in place. Looked through from its end, where most of it happens: what
    is trimmed in every step must not cost the whole history in each."""
    wanted: dict[int, list[Trim]] = {}
    for trim in trims:
        wanted.setdefault(trim.entry, []).append(trim)
    gone: set[str] = set()
    """Calls of answers that are left out."""
    for place in range(len(entries) - 1, -1, -1):
        if not wanted:
            break
        entry = entries[place]
        for trim in wanted.pop(entry.seq, ()):
            if isinstance(entry, Replied) and trim.block < 0:
                gone |= {block.id for block in entry.content if isinstance(block, Call)}
            entry = shorter(entry, trim)
        entries[place] = entry
    return [e for e in entries if not _is_of(e, gone)] if gone else entries


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


def words_of(outcome: Outcome) -> str:
    """What `with_text` would replace; empty where it must not: pictures would be lost, and a
    refusal is short."""
    match outcome:
        case Done(content=content):
            if not all(isinstance(part, Text) for part in content):
                return ""
            return "".join(part.text for part in content if isinstance(part, Text))
        case Failed(text=text) | Cut(text=text):
            return text
        case Refused():
            return ""


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
