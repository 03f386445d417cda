"""A summary made without a model: what was asked, which tools ran, which files, what is open."""

import re
from collections import Counter
from collections.abc import Sequence

from detent.context.bounds import in_one_line
from detent.context.compact.boundary import Boundary, current_request
from detent.context.compact.contract import body_of
from detent.context.project import not_rewound
from detent.types.content import Call, plain_text
from detent.types.effects import Reads, Runs, Writes
from detent.types.events import CallEnded, CallStarted, Compacted, Entry, Prompted, Replied
from detent.types.outcomes import is_error

MOST_REQUESTS, MOST_FILES, MOST_PENDING, MOST_STEPS, MOST_TOOLS = 3, 12, 6, 8, 20
MOST_REPLIES = 100
"""The latest ones, in which open work is looked for."""
LONGEST_LINE, LONGEST_STEP, LONGEST_EARLIER = 240, 120, 4_000
REQUESTS = "- Earlier requests:"
"""Told once: they are those of the whole session."""
PENDING = re.compile(r"\b(to-?do|next|pending|remaining|follow[ -]up)\b", re.IGNORECASE)


def summary_of(boundary: Boundary, everything: Sequence[Entry]) -> str:
    """`everything` is the whole session: earlier requests survive any number of compactions."""
    older = boundary.older
    replies = [entry for entry in older if isinstance(entry, Replied)]
    asked = sum(isinstance(entry, Prompted) for entry in older)
    calls = [block for reply in replies for block in reply.content if isinstance(block, Call)]
    counts = ((asked, "from the user"), (len(replies), "from you"), (len(calls), "calls"))
    parts = ["- Messages: " + ", ".join(f"{n} {what}" for n, what in counts if n) + "."]
    if calls:
        counted = Counter(call.name for call in calls).most_common(MOST_TOOLS)
        parts.append("- Tools used: " + ", ".join(f"{name} ×{n}" for name, n in counted) + ".")
    if earlier := _earlier_requests(everything):
        parts.append(f"{REQUESTS} " + " / ".join(earlier))
    if files := _files(older):
        parts.append(f"- Key files: {', '.join(files)}.")
    if pending := _pending(replies):
        parts.append("- Open, as you put it: " + " / ".join(pending))
    if steps := _timeline(older):
        parts.append("- What you did last: " + " → ".join(steps))
    parts += [_nested(entry) for entry in older if isinstance(entry, Compacted)]
    return "\n".join(parts)


def _earlier_requests(everything: Sequence[Entry]) -> list[str]:
    current = {entry.seq for entry in current_request(everything)}
    said = [e for e in not_rewound(everything) if isinstance(e, Prompted) and e.seq not in current]
    return [in_one_line(plain_text(entry.content), LONGEST_LINE) for entry in said[-MOST_REQUESTS:]]


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
    texts = [plain_text(reply.content) for reply in replies[-MOST_REPLIES:]]
    lines = [line.strip() for text in texts for line in text.split("\n")]
    hits = [line for line in lines if PENDING.search(line)]
    return [in_one_line(line, LONGEST_LINE) for line in hits[-MOST_PENDING:]]


def _timeline(older: Sequence[Entry]) -> list[str]:
    ended = {e.call_id: e for e in older if isinstance(e, CallEnded)}
    started = [e for e in older if isinstance(e, CallStarted)][-MOST_STEPS:]
    return [_step(entry, ended.get(entry.call_id)) for entry in started]


def _step(started: CallStarted, ended: CallEnded | None) -> str:
    touched = [
        effect.command if isinstance(effect, Runs) else effect.path
        for effect in started.effects
        if isinstance(effect, Runs | Reads | Writes)
    ]
    failed = " (failed)" if ended is not None and is_error(ended.outcome) else ""
    what = in_one_line(" ".join((started.name, *touched[:1])), LONGEST_STEP)
    return what + failed


def _nested(earlier: Compacted) -> str:
    """An earlier summary inside of this one; what it held itself comes last and is cut first, so
    that no number of compactions makes it grow."""
    text = body_of(earlier.summary)
    if len(text) > LONGEST_EARLIER:
        text = text[: LONGEST_EARLIER - 1] + "…"
    lines = [line for line in text.split("\n") if line.strip()]
    inner = "\n".join(f"  {line}" for line in lines if not line.lstrip().startswith(REQUESTS))
    return f"- Before that (an earlier summary, depth {earlier.depth}):\n{inner}"
