"""What happened in a session, in the order and the words that people read. Pure.

Nothing that was said is left out: what was rewound or summed up later still stands where it was.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from detent.app.export.calls import Calls, about, shown_arguments, status_of
from detent.context.account import Price
from detent.context.books import Books
from detent.context.project import not_rewound
from detent.types.agents import ChildChanged
from detent.types.budget import Spent
from detent.types.content import (
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Text,
    Thinking,
    UserBlock,
)
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Switched,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.files import Change, Undone
from detent.types.outcomes import content_of
from detent.types.running import Named, Unanswered

Media = Image | Document


class Facts(Struct, frozen=True):
    session: str
    name: str
    cwd: str
    version: str
    parent: str
    begun: float
    ended: float
    models: tuple[str, ...]
    turns: int
    spent: Spent


class Piece(Struct, frozen=True, kw_only=True):
    seq: int
    at: float
    gone: bool = False
    """Rewound later: no model reads it any more."""


class Talk(Piece, frozen=True, kw_only=True):
    who: Literal["user", "model", "program"]
    text: str
    label: str = ""
    """The model, or why the program speaks."""
    media: tuple[Media, ...] = ()


class Thought(Piece, frozen=True, kw_only=True):
    text: str


class Called(Piece, frozen=True, kw_only=True):
    name: str
    about: str
    arguments: str
    status: Literal["done", "failed", "refused", "cut", "unanswered"]
    result: str = ""
    media: tuple[Media, ...] = ()
    ms: int = 0
    changes: tuple[Change, ...] = ()


class Summed(Piece, frozen=True, kw_only=True):
    """What stood before was told in short from here on."""

    text: str
    replaced: int


class Mark(Piece, frozen=True, kw_only=True):
    """A line about something that no one has said."""

    text: str


AnyPiece = Talk | Thought | Called | Summed | Mark


class Story(Struct, frozen=True):
    facts: Facts
    pieces: tuple[AnyPiece, ...]


def tell(entries: Sequence[Entry], price: Price) -> Story:
    counted = {entry.seq for entry in not_rewound(entries)}
    calls = Calls(entries)
    pieces: list[AnyPiece] = []
    for entry in entries:
        gone = entry.seq not in counted and not isinstance(entry, Rewound)
        pieces += _pieces(entry, gone, calls)
    return Story(facts_of(entries, price), tuple(pieces))


def facts_of(entries: Sequence[Entry], price: Price) -> Facts:
    opened = next((e for e in entries if isinstance(e, Opened)), None)
    names = [e.name for e in entries if isinstance(e, Named)]
    return Facts(
        session=opened.session if opened else "",
        name=names[-1] if names else "",
        cwd=opened.cwd if opened else "",
        version=opened.version if opened else "",
        parent=opened.parent if opened else "",
        begun=entries[0].at if entries else 0.0,
        ended=entries[-1].at if entries else 0.0,
        models=tuple(dict.fromkeys(e.model for e in entries if isinstance(e, Replied))),
        turns=sum(isinstance(e, TurnEnded) for e in entries),
        spent=Books(price).read(entries).total,
    )


def _pieces(entry: Entry, gone: bool, calls: Calls) -> Iterator[AnyPiece]:
    seq, at = entry.seq, entry.at
    match entry:
        case Prompted(content=content, steered=steered):
            label = "while it ran" if steered else ""
            text, media = _read(content)
            yield Talk(seq=seq, at=at, gone=gone, who="user", text=text, label=label, media=media)
        case Reminded(text=text, source=source, path=path):
            label = f"{source}: {path}" if path else source
            yield Talk(seq=seq, at=at, gone=gone, who="program", text=text, label=label)
        case Replied():
            yield from _reply(entry, gone, calls)
        case CallEnded() if calls.is_orphan(entry):
            yield _called(entry.name, "", "", entry, Piece(seq=seq, at=at, gone=gone))
        case Compacted(summary=summary, replaced=replaced):
            yield Summed(seq=seq, at=at, gone=gone, text=summary, replaced=replaced)
        case _:
            if text := _said(entry):
                yield Mark(seq=seq, at=at, gone=gone, text=text)


def _reply(entry: Replied, gone: bool, calls: Calls) -> Iterator[AnyPiece]:
    seq, at = entry.seq, entry.at
    for block in entry.content:
        match block:
            case Text(text=text) if text.strip():
                label = entry.model
                yield Talk(seq=seq, at=at, gone=gone, who="model", text=text, label=label)
            case Thinking(text=text) if text.strip():
                yield Thought(seq=seq, at=at, gone=gone, text=text)
            case Redacted():
                yield Thought(seq=seq, at=at, gone=gone, text="(sealed by the provider)")
            case Opaque():
                text = "Here stands something that only the provider understands."
                yield Mark(seq=seq, at=at, gone=gone, text=text)
            case Call(name=name, arguments=arguments):
                subject = about(calls.started(block.id), arguments)
                ended = calls.take(block.id)
                yield _called(name, subject, arguments, ended, Piece(seq=seq, at=at, gone=gone))
            case _:
                pass
    if entry.stop == "cancelled":
        yield Mark(seq=seq, at=at, gone=gone, text="The answer was cancelled here.")


def _called(
    name: str, subject: str, arguments: str, ended: CallEnded | None, where: Piece
) -> Called:
    result, media = _read(content_of(ended.outcome)) if ended else ("", ())
    return Called(
        seq=where.seq,
        at=where.at,
        gone=where.gone,
        name=name,
        about=subject,
        arguments=shown_arguments(arguments),
        status=status_of(ended),
        result=result,
        media=media,
        ms=ended.ms if ended else 0,
        changes=ended.changed if ended else (),
    )


def _read(content: Sequence[UserBlock]) -> tuple[str, tuple[Media, ...]]:
    text = "\n".join(block.text for block in content if isinstance(block, Text))
    return text, tuple(block for block in content if isinstance(block, Image | Document))


def _said(entry: Entry) -> str:
    match entry:
        case Rewound(to=to):
            return f"Rewound to entry {to}: what stands between no longer counts."
        case Restored(entries=seqs):
            return f"Taken back: entries {_listed(seqs)} no longer count."
        case Trimmed(stage=stage, trims=trims):
            return f"From here on, {len(trims)} of the above read shorter to the model ({stage})."
        case Withheld(entries=seqs, reason=reason):
            return f"Pictures of entries {_listed(seqs)} are no longer sent: {reason}"
        case Switched(model=model, mode=mode, reason=reason):
            what = " and ".join(filter(None, (model, f"mode {mode}" if mode else "")))
            return f"From here on: {what}" + (f" ({reason})" if reason else "")
        case ChildChanged(agent=agent, changed=changed):
            paths = [os.path.basename(change.path) for change in changed]
            more = f" and {len(paths) - 8} more" if len(paths) > 8 else ""
            return f"Subagent {agent} changed {', '.join(paths[:8])}{more}." if agent else ""
        case Undone(begun=True):
            return ""  # what came of it is told by the one that follows
        case Undone(of=seqs, left=left):
            kept = f"; left alone: {', '.join(left)}" if left else ""
            return f"Undone: the file changes of entries {_listed(seqs)}{kept}"
        case Unanswered(model=model, error=error):
            return f"{model} gave no answer: {error}"
        case TurnEnded(reason=reason, error=error) if reason != "end_turn":
            return f"The turn ended: {reason.replace('_', ' ')}" + (f" ({error})" if error else "")
        case _:
            return ""


def _listed(seqs: Sequence[int]) -> str:
    return ", ".join(map(str, seqs))
