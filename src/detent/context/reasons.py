"""Why a block is in a request, in words."""

from collections.abc import Sequence

from msgspec import Struct

from detent.context.project import effective
from detent.context.provenance import Block
from detent.types.codec import arguments_object
from detent.types.content import Call, Document, Image, Opaque, Redacted, Result, Thinking
from detent.types.events import (
    Compacted,
    Entry,
    Prompted,
    Reminded,
    Replied,
    Trimmed,
    Withheld,
)
from detent.types.ledger import Category
from detent.types.messages import Assistant, Message

LONGEST = 60
TELLING = ("command", "file_path", "path", "pattern", "url", "query", "description", "prompt")
"""Arguments that say best what a call does."""
ABOUT_HERE = ("git", "date", "surroundings", "folder", "environment")


class Why(Struct, frozen=True):
    category: Category
    kind: str
    text: str


class Reasons:
    def __init__(self, entries: Sequence[Entry]) -> None:
        self.still = effective(entries)
        self._logged = {entry.seq: entry for entry in entries}
        self._now = {entry.seq: entry for entry in self.still}
        self._shortened = {
            trim.entry: entry.stage
            for entry in entries
            if isinstance(entry, Trimmed)
            for trim in entry.trims
        }
        self._withheld = {s for e in entries if isinstance(e, Withheld) for s in e.entries}
        self._calls: dict[str, Call] = {}

    def look_at(self, message: Message) -> None:
        """Results stand in the message behind their calls."""
        if isinstance(message, Assistant):
            self._calls = {block.id: block for block in message.content if isinstance(block, Call)}

    def of(self, block: Block, seq: int) -> Why:
        entry = self._now.get(seq)
        category, kind, text = self._plain(block, entry)
        return Why(category, kind, text + self._changed(seq))

    def _plain(self, block: Block, entry: Entry | None) -> tuple[Category, str, str]:
        match entry:
            case _ if isinstance(block, Result):
                return self._result(block)
            case Replied(model=model):
                kind = _kind(block)
                return "messages", kind, gist(block) if isinstance(block, Call) else model
            case Compacted(replaced=replaced, keeps_from=until, trigger=trigger):
                what = f"{replaced} messages" if replaced else f"all before entry {until}"
                return "summary", "summary", f"summary of {what} ({trigger})"
            case Reminded():
                return _reminder(entry)
            case Prompted(steered=steered):
                said = "said while the turn ran" if steered else "what you said"
                if isinstance(block, Image | Document):
                    return "images", _kind(block), said
                return "messages", "prompt", said
            case _:
                return "messages", "note", "put in by the program"

    def _result(self, block: Result) -> tuple[Category, str, str]:
        call = self._calls.get(block.call_id)
        text = f"result of {gist(call)}" if call is not None else "result"
        if any(isinstance(part, Image | Document) for part in block.content):
            return "images", "result", text
        return "results", "result", text

    def _changed(self, seq: int) -> str:
        """Only where it reads other than it was recorded."""
        if self._now.get(seq) is self._logged.get(seq):
            return ""
        if seq in self._shortened:
            return f", shortened by {self._shortened[seq]}"
        return ", without pictures" if seq in self._withheld else ""


def gist(call: Call) -> str:
    """`Bash: make test`"""
    given = arguments_object(call.arguments) or {}
    texts = [given[name] for name in TELLING if isinstance(given.get(name), str)]
    texts += [value for value in given.values() if isinstance(value, str)]
    line = " ".join(texts[0].split()) if texts else ""
    if len(line) > LONGEST:
        line = f"{line[: LONGEST - 1]}…"
    return f"{call.name}: {line}" if line else call.name


def _reminder(entry: Reminded) -> tuple[Category, str, str]:
    why = f"{entry.path} ({entry.why})" if entry.path and entry.why else entry.path or entry.why
    if entry.source == "memory":
        return "memory", "memory", why or "memory"
    if entry.source in ABOUT_HERE:
        return "surroundings", "surroundings", why or entry.source
    return "messages", "reminder", f"{entry.source}: {why}" if why else entry.source


def _kind(block: Block) -> str:
    match block:
        case Thinking() | Redacted():
            return "thinking"
        case Opaque():
            return "opaque"
        case Call():
            return "call"
        case Image():
            return "image"
        case Document():
            return "document"
        case _:
            return "answer"
