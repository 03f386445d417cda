"""Entries → messages. What a model sees is projected from the log, never stored.

So resume, fork, rewind, crash repair and compaction are one function, and these hold for every
log, also a damaged one: each call has exactly one result in the next user message; no result
lacks its call; no id appears twice; roles alternate.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from detent.context.media import without_media
from detent.types.content import (
    AssistantBlock,
    Call,
    Opaque,
    Redacted,
    Result,
    ResultBlock,
    Text,
    Thinking,
    UserBlock,
)
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Trimmed,
    Withheld,
)
from detent.types.messages import Assistant, Message, User
from detent.types.outcomes import INTERRUPTED, Outcome, content_of, is_error, text_of

NEVER_RAN = "[interrupted before it ran]"
MAY_HAVE_RUN = f"[{INTERRUPTED}]"
LOST = "[an answer of yours was lost after its call {call} had begun: it may have run]"
LOST_BUT_KNOWN = "[an answer of yours was lost after its call {call} had begun. It came to: {text}]"
LONGEST_MENTION = 2_000
DUPLICATE = "[the same call id came twice in one answer; it was run once]"


def project(entries: Sequence[Entry]) -> list[Message]:
    """The conversation as it stands after the last entry."""
    projection = Projection()
    for entry in effective(entries):
        projection.add(entry)
    return projection.messages()


def effective(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that still count, as they read now: rewound and compacted ones do not."""
    kept: list[Entry] = []
    counted = not_rewound(entries)
    for entry in _not_restored(counted):
        if isinstance(entry, Compacted):
            kept = [entry, *(earlier for earlier in kept if _survives(earlier, entry))]
        elif isinstance(entry, Withheld):
            kept = [without_media(e, entry.reason) if e.seq in entry.entries else e for e in kept]
        elif isinstance(entry, Trimmed):
            from detent.context.trims import trim_all

            kept = trim_all(kept, entry.trims)
        else:
            kept.append(entry)
    return _told_once(kept, counted)


def not_rewound(entries: Sequence[Entry]) -> list[Entry]:
    """Found before compactions are: going back behind one brings back what it had replaced. A
    rewind that was taken back does not count, whatever was rewound since."""
    void = {seq for entry in entries if isinstance(entry, Restored) for seq in entry.entries}
    kept: list[Entry] = []
    for entry in entries:
        if not isinstance(entry, Rewound):
            kept.append(entry)
        elif entry.seq not in void:
            kept = [earlier for earlier in kept if earlier.seq <= entry.to]
    return kept


def _not_restored(entries: list[Entry]) -> list[Entry]:
    void = {seq for entry in entries if isinstance(entry, Restored) for seq in entry.entries}
    if not void:
        return entries
    return [e for e in entries if e.seq not in void or not isinstance(e, Compacted | Trimmed)]


def _told_once(kept: list[Entry], entries: list[Entry]) -> list[Entry]:
    if not any(isinstance(entry, Restored) for entry in kept):
        return kept
    from detent.context.compact.retold import without_twins

    return without_twins(kept, entries)


def _survives(earlier: Entry, compaction: Compacted) -> bool:
    """An earlier summary is part of the new one, although it was written after what is kept."""
    if isinstance(earlier, Compacted):
        return False
    return earlier.seq >= compaction.keeps_from or earlier.seq in compaction.keeps


class Projection:
    """The fold behind `project`, kept between steps so that a long session costs no more each."""

    def __init__(self) -> None:
        self._closed: list[Message] = []
        self._open_calls: list[tuple[str, str]] = []
        """Ids of the last reply's calls: as sent, and as logged."""
        self._tail: list[UserBlock] = []
        self._leading = 0
        """How many blocks of the tail read before the last prompt."""
        self._ended: dict[str, CallEnded] = {}
        """The outcomes that no request has held yet, by call."""
        self._started: dict[str, str] = {}
        """Ids of calls that have begun, with what they are."""
        self._ids: set[str] = set()

    def add(self, entry: Entry) -> None:
        match entry:
            case Prompted(content=content):
                self._tell_lost()
                self._leading = len(self._tail)
                self._say(content)
            case Reminded(text=text, leads=True):
                if text.strip():
                    self._tail.insert(self._leading, Text(text))
                    self._leading += 1
            case Reminded(text=text) | Compacted(summary=text):
                self._say((Text(text),))
            case CallStarted(call_id=call_id, name=name, arguments=arguments):
                self._started[call_id] = f"{name} {arguments[:LONGEST_MENTION]}"
            case CallEnded(call_id=call_id):
                self._ended.setdefault(call_id, entry)
            case Replied():
                self._reply(entry)
            case _:
                pass

    def messages(self) -> list[Message]:
        """A snapshot: calls still without an outcome get a synthetic result."""
        pending = self._pending()
        return [*self._closed, User(pending)] if pending else list(self._closed)

    def fresh(self) -> list[CallEnded]:
        """The results of the last message, as long as no answer follows them."""
        calls = dict.fromkeys(logged for _, logged in self._open_calls)
        return [self._ended[logged] for logged in calls if logged in self._ended]

    def unread(self, seq: int, call_id: str) -> CallEnded | None:
        """This entry as it reads now, if no request has held it yet."""
        entry = self._ended.get(call_id)
        return entry if entry is not None and entry.seq == seq else None

    def amend(self, entry: CallEnded) -> None:
        self._ended[entry.call_id] = entry

    def knows_call(self, call_id: str) -> bool:
        """Also a call whose answer was lost: its outcome must not be taken for another's."""
        return call_id in self._ids or call_id in self._ended or call_id in self._started

    def _tell_lost(self) -> None:
        """The agent died between the beginning of a call and the end of the answer it is from."""
        answered = {logged for _, logged in self._open_calls}
        for call_id in [one for one in self._started if one not in answered]:
            call, ended = self._started.pop(call_id), self._ended.pop(call_id, None)
            text = "" if ended is None else text_of(ended.outcome)[:LONGEST_MENTION]
            told = LOST_BUT_KNOWN.format(call=call, text=text) if text else LOST.format(call=call)
            self._tail.append(Text(told))
            self._ids.add(call_id)

    def _say(self, content: Iterable[UserBlock]) -> None:
        """A result stands only where its call is: one inside a prompt is left out."""
        self._tail += [b for b in content if not isinstance(b, Result) and not _is_blank(b)]

    def _reply(self, entry: Replied) -> None:
        content = tuple(self._renamed(block) for block in entry.content if not _is_blank(block))
        if not content:
            return
        pending = self._pending()
        if pending:
            self._closed.append(User(pending))
        elif not self._closed:
            self._closed.append(User((Text("(the conversation begins with an answer)"),)))
        self._forget_answered()
        last = self._closed[-1]
        if isinstance(last, Assistant):
            # Two answers with nothing between them: one message, so that roles alternate.
            self._closed.pop()
            content = (*_told_to(entry, last), *content)
        self._closed.append(Assistant(content, entry.model, entry.provider))
        sent = [block.id for block in content if isinstance(block, Call)]
        logged = [block.id for block in entry.content if isinstance(block, Call)]
        self._open_calls = list(zip(sent[-len(logged) :] if logged else [], logged, strict=True))

    def _renamed(self, block: AssistantBlock) -> AssistantBlock:
        """Providers refuse an id that comes twice in a conversation; some models repeat theirs."""
        if not isinstance(block, Call):
            return block
        unique, number = block.id or "call", 2
        while unique in self._ids:
            unique, number = f"{block.id or 'call'}_{number}", number + 1
        self._ids.add(unique)
        arguments = block.arguments if block.arguments.strip() else "{}"
        return replace(block, id=unique, arguments=arguments)

    def _pending(self) -> tuple[UserBlock, ...]:
        return (*self._results(), *self._tail)

    def _results(self) -> Iterable[Result]:
        answered: set[str] = set()
        for sent, logged in self._open_calls:
            ended = self._ended.get(logged)
            if logged in answered:
                yield Result(sent, (Text(DUPLICATE),), is_error=True)
            elif ended is not None:
                yield Result(sent, _visible(ended.outcome), is_error(ended.outcome))
            else:
                note = MAY_HAVE_RUN if logged in self._started else NEVER_RAN
                yield Result(sent, (Text(note),), is_error=True)
            answered.add(logged)

    def _forget_answered(self) -> None:
        for _, logged in self._open_calls:
            self._ended.pop(logged, None)
            self._started.pop(logged, None)
        self._open_calls = []
        self._tail = []
        self._leading = 0


def _told_to(author: Replied, earlier: Assistant) -> Iterable[AssistantBlock]:
    """What an answer may hold that another is joined to: only an author's own sealed state."""
    if (earlier.model, earlier.provider) == (author.model, author.provider):
        return earlier.content
    return [b for b in earlier.content if not isinstance(b, Thinking | Redacted | Opaque)]


def _visible(outcome: Outcome) -> tuple[ResultBlock, ...]:
    return tuple(b for b in content_of(outcome) if not _is_blank(b)) or (Text("(no output)"),)


def _is_blank(block: AssistantBlock | UserBlock) -> bool:
    """An empty text block makes a history invalid for good."""
    return isinstance(block, Text) and not block.text.strip()
