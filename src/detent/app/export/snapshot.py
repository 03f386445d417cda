"""The state of a session as one JSON object: what a program needs that has no log. Pure.

Prompt, contexts, messages with what became of each, files, plugins, budget. It is made from the
log whenever it is wanted and is never the truth about anything.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from detent.app.export.mutations import History, Said, histories, messages_of, serial_of
from detent.context.account import Account, Price
from detent.context.books import Books
from detent.context.project import effective, not_rewound
from detent.types.agents import ChildChanged
from detent.types.budget import Budget, Spent
from detent.types.effects import Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
)
from detent.types.files import Change, Undone
from detent.types.outcomes import Done, content_of, is_error
from detent.types.running import Equipped, Named

FORMAT = 1


class Message(Struct, frozen=True, omit_defaults=True):
    """Content as it was said; `reads_as` is what the model reads of it now, where that differs."""

    id: int
    """The number of its entry in the log."""
    at: float
    role: str
    """user, assistant, tool, or system: what the program said of itself."""
    content: Any
    metadata: History
    in_context: bool = True
    """Whether a request would hold it; a summary may stand for it instead."""
    reads_as: Any = None
    facts: dict[str, Any] = {}


class FileOperation(Struct, frozen=True, omit_defaults=True):
    serial: int
    at: float
    tool: str
    call_id: str
    action: str
    """read, made, changed, removed"""
    path: str
    digest: str = ""
    """Of its bytes, as the call left them."""
    before: str = ""
    """Of its bytes before it, where they were kept."""


class BudgetState(Struct, frozen=True):
    limits: Budget
    spent: Spent
    by: dict[str, Spent]
    left: dict[str, float]


class Snapshot(Struct, frozen=True):
    session: str
    name: str
    cwd: str
    system_prompt_parts: tuple[str, ...]
    user_context: dict[str, str]
    system_context: dict[str, str]
    messages: tuple[Message, ...]
    mutation_serial: int
    plugin_state: dict[str, Any]
    file_history: tuple[FileOperation, ...]
    budget: BudgetState
    detent: str = "snapshot"
    v: int = FORMAT


def snapshot(entries: Sequence[Entry], price: Price) -> Snapshot:
    opened = next((e for e in entries if isinstance(e, Opened)), None)
    names = [e.name for e in entries if isinstance(e, Named)]
    prompts = [e.system for e in entries if isinstance(e, Equipped) and "system" not in e.same]
    messages = tuple(_messages(entries))
    user, system = _contexts(not_rewound(entries))
    return Snapshot(
        session=opened.session if opened else "",
        name=names[-1] if names else "",
        cwd=opened.cwd if opened else "",
        system_prompt_parts=prompts[-1] if prompts else (),
        user_context=user,
        system_context=system,
        messages=messages,
        mutation_serial=serial_of(message.metadata for message in messages),
        plugin_state=plugin_states(entries),
        file_history=tuple(_file_history(entries)),
        budget=_budget(entries, price),
    )


def plugin_states(entries: Sequence[Entry]) -> dict[str, Any]:
    """What each plugin kept last; its tools find it again when the session is resumed."""
    found: dict[str, Any] = {}
    for entry in entries:
        match entry:
            case CallEnded(outcome=Done(data={"plugin": str(name), "state": dict(state)})):
                found[name] = state
            case _:
                pass
    return found


def _messages(entries: Sequence[Entry]) -> Iterator[Message]:
    now = {entry.seq: entry for entry in effective(entries)}
    known = histories(entries)
    for entry in messages_of(entries):
        reads = now.get(entry.seq)
        role, content, facts = _parts(entry)
        changed = reads is not None and reads != entry and isinstance(reads, Said)
        yield Message(
            id=entry.seq,
            at=entry.at,
            role=role,
            content=content,
            metadata=known[entry.seq],
            in_context=reads is not None,
            reads_as=_parts(reads)[1] if changed and isinstance(reads, Said) else None,
            facts=facts,
        )


def _parts(entry: Said) -> tuple[str, Any, dict[str, Any]]:
    """Role, content and what else is known."""
    match entry:
        case Prompted(content=content, turn=turn, steered=steered):
            return "user", to_builtins(content), {"turn": turn, "steered": steered}
        case Reminded(text=text, source=source, path=path):
            return "system", text, {"source": source, "path": path}
        case Replied(content=content):
            known = to_builtins(entry)
            facts = {k: v for k, v in known.items() if k not in ("type", "seq", "at", "content")}
            return "assistant", to_builtins(content), facts
        case CallEnded(outcome=outcome, call_id=call_id, name=name, ms=ms):
            facts = {"call_id": call_id, "name": name, "ms": ms, "is_error": is_error(outcome)}
            return "tool", to_builtins(content_of(outcome)), facts
        case Compacted(summary=summary):
            known = to_builtins(entry)
            facts = {k: v for k, v in known.items() if k not in ("type", "seq", "at", "summary")}
            return "system", summary, {"kind": "compact_boundary", **facts}


def _contexts(entries: Sequence[Entry]) -> tuple[dict[str, str], dict[str, str]]:
    """The user's: memory files. The system's: what the program told of the surroundings. Of each
    the last word."""
    user: dict[str, str] = {}
    system: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, Reminded):
            (user if entry.path else system)[entry.path or entry.source] = entry.text
    return user, system


def _file_history(entries: Sequence[Entry]) -> Iterator[FileOperation]:
    declared: dict[str, CallStarted] = {}
    for entry in entries:
        match entry:
            case CallStarted():
                declared[entry.call_id] = entry
            case CallEnded():
                yield from _operations(entry, declared.pop(entry.call_id, None))
            case ChildChanged(call_id=call_id, changed=changes):
                for change in changes:
                    yield _operation(entry.seq, entry.at, "Agent", call_id, change)
            case Undone(changes=changes):
                for change in changes:
                    yield _operation(entry.seq, entry.at, "undo", "", change)
            case _:
                pass


def _operations(ended: CallEnded, started: CallStarted | None) -> Iterator[FileOperation]:
    for change in ended.changed:
        yield _operation(ended.seq, ended.at, ended.name, ended.call_id, change)
    known = {change.path for change in ended.changed}
    effects = started.effects if started else ()
    written = {effect.path for effect in effects if isinstance(effect, Writes)}
    read = {effect.path for effect in effects if isinstance(effect, Reads)}
    for path, digest in ended.seen.items():
        if path not in known and path not in written:
            yield _seen(ended, "read", path, digest)
        elif path not in known:
            yield _seen(ended, "changed", path, digest)
    if isinstance(ended.outcome, Done):
        for path in sorted(read - ended.seen.keys() - known):
            yield _seen(ended, "read", path, "")


def _seen(ended: CallEnded, action: str, path: str, digest: str) -> FileOperation:
    return FileOperation(ended.seq, ended.at, ended.name, ended.call_id, action, path, digest)


def _operation(serial: int, at: float, tool: str, call_id: str, change: Change) -> FileOperation:
    before, after = change.before, change.after
    action = "made" if before.kind == "none" else "removed" if after.kind == "none" else "changed"
    return FileOperation(
        serial, at, tool, call_id, action, change.path, after.digest, before.digest
    )


def _budget(entries: Sequence[Entry], price: Price) -> BudgetState:
    books = Books(price).read(entries)
    left = Account(books.budget, spent=books.total).left()
    return BudgetState(
        books.budget, books.total, books.spending(), {str(k): v for k, v in left.items()}
    )
