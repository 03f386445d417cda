"""A summary made without a model: what was asked, which tools ran, which files, what is open."""

from collections.abc import Sequence

from detent.context.bounds import shortened
from detent.context.project import effective
from detent.context.shaping import KEEP
from detent.types.content import Call, plain_text
from detent.types.effects import Reads, Writes
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Prompted,
    Replied,
)

MOST_REQUESTS, MOST_FILES, MOST_PENDING = 3, 12, 6
LONGEST_REQUEST, LONGEST_SUMMARY, LONGEST_LINE = 8_000, 2_000, 240
PENDING_WORDS = ("todo", "next", "pending", "remaining")


def compact_locally(
    entries: Sequence[Entry], *, keep: int = KEEP, before_tokens: int, reactive: bool = False
) -> Compacted | None:
    """The entry that makes room, or None when there is nothing old enough to leave out."""
    still = effective(entries)
    boundary = keeps_from(still, keep)
    older = [entry for entry in still if entry.seq < boundary or isinstance(entry, Compacted)]
    if not any(isinstance(entry, Replied | Prompted) for entry in older):
        return None
    return Compacted(
        summary=summary_of(older, entries),
        keeps_from=boundary,
        before_tokens=before_tokens,
        trigger="reactive" if reactive else "auto",
    )


def keeps_from(entries: Sequence[Entry], keep: int) -> int:
    """Where the kept tail begins: at an answer, together with all its calls.

    Each answer and what follows it count as two messages. Calls may have started before their
    answer was whole, so their entries can lie before it.
    """
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    kept = replies[-max(1, keep // 2) :] if keep else []
    if not kept:
        return entries[-1].seq + 1 if entries else 1
    ids = {block.id for block in kept[0].content if isinstance(block, Call)}
    early = [
        entry.seq
        for entry in entries
        if isinstance(entry, CallStarted | CallEnded) and entry.call_id in ids
    ]
    return min([kept[0].seq, *early])


def summary_of(older: Sequence[Entry], everything: Sequence[Entry]) -> str:
    """`everything` is the whole session: the task must survive any number of compactions."""
    prompts = [plain_text(entry.content) for entry in everything if isinstance(entry, Prompted)]
    replies = [entry for entry in older if isinstance(entry, Replied)]
    tools = [block.name for reply in replies for block in reply.content if isinstance(block, Call)]
    parts = [
        "The earlier part of this conversation is left out to save room. What it held:",
        f"- Messages: {len(prompts)} from the user, {len(replies)} from you, {len(tools)} calls.",
    ]
    earlier_summaries = [entry.summary for entry in older if isinstance(entry, Compacted)]
    parts += [f"- Before that: {text[:LONGEST_SUMMARY]}" for text in earlier_summaries]
    if tools:
        parts.append(f"- Tools used: {', '.join(dict.fromkeys(tools))}.")
    if files := _files(older):
        parts.append(f"- Key files: {', '.join(files)}.")
    if pending := _pending(replies):
        parts.append("- Open, as you put it: " + " / ".join(pending))
    current = _current(everything)
    if earlier := prompts[: len(prompts) - len(current)][-MOST_REQUESTS:]:
        parts.append("- Earlier requests: " + " / ".join(_line(text) for text in earlier))
    for number, text in enumerate(current):
        label = "added while you worked" if number else "current request"
        parts.append(f"- The {label}:\n{shortened(text, LONGEST_REQUEST)}")
    parts.append("Go on with it. Do not repeat what is done; read files again where you need them.")
    return "\n".join(parts)


def _current(entries: Sequence[Entry]) -> list[str]:
    """The prompt of the turn, and what was said while it ran."""
    current: list[str] = []
    for entry in entries:
        if isinstance(entry, Prompted):
            current = (
                [*current, plain_text(entry.content)]
                if entry.steered
                else [plain_text(entry.content)]
            )
    return current


def _files(entries: Sequence[Entry]) -> list[str]:
    """The files touched last, written ones first."""
    written: dict[str, None] = {}
    read: dict[str, None] = {}
    for entry in reversed(entries):
        for effect in entry.effects if isinstance(entry, CallStarted) else ():
            if isinstance(effect, Writes):
                written[effect.path] = None
            elif isinstance(effect, Reads):
                read[effect.path] = None
    return list(dict.fromkeys([*written, *read]))[:MOST_FILES]


def _pending(replies: Sequence[Replied]) -> list[str]:
    """Lines in which the model spoke of work to come."""
    lines = [line.strip() for reply in replies for line in plain_text(reply.content).split("\n")]
    hits = [line for line in lines if any(word in line.lower() for word in PENDING_WORDS)]
    return [_line(line) for line in hits[-MOST_PENDING:]]


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else flat[: LONGEST_LINE - 1] + "…"
