"""A log, entry by entry, becomes what a listing knows of the session."""

from collections.abc import Sequence

from detent.session.facts import Facts
from detent.types.content import Call, own_words, plain_text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Entry,
    Lost,
    Opened,
    Prompted,
    Replied,
    Restored,
    Rewound,
    TurnEnded,
)
from detent.types.running import Named

LONGEST_TITLE = 80
MOST_ENTRIES = 2**53


def add(facts: Facts, entry: Entry) -> bool:
    """False, and nothing has happened, for an entry that is older than the last one, or has a
    number to which nobody counts."""
    if not facts.last < entry.seq < MOST_ENTRIES:
        return False
    facts.last = entry.seq
    match entry:
        case Opened():
            if not facts.id:
                facts.id, facts.cwd, facts.parent = entry.session, entry.cwd, entry.parent
                facts.created = entry.at
        case Prompted():
            facts.is_open = True
            facts.title = facts.title or _title(entry)
        case Replied():
            _answer(facts, entry)
        case CallStarted() if entry.call_id not in facts.answered:
            facts.early.append(entry.call_id)
        case Classified() | Compacted() | Lost():
            facts.tokens += entry.usage.total
        case TurnEnded():
            facts.turns += 1
            facts.is_open = False
        case Named():
            facts.name = entry.name
        case Rewound():
            facts.rewinds.append((entry.seq, entry.to))
            facts.is_open = False
        case Restored():
            facts.rewinds = [one for one in facts.rewinds if one[0] not in entry.entries]
        case _:
            pass
    return True


def _answer(facts: Facts, reply: Replied) -> None:
    facts.steps += 1
    facts.tokens += reply.usage.total
    if reply.model not in facts.models:
        facts.models.append(reply.model)
    facts.answered = [block.id for block in reply.content if isinstance(block, Call)]
    facts.begun_early, facts.early = facts.early, []


def step_of(facts: Facts, entry: Entry) -> int:
    """Which answer an entry belongs to, counted from 1, when it has been added. A prompt and a
    call that began early belong to the one to come."""
    match entry:
        case Prompted():
            return facts.steps + 1
        case CallStarted(call_id=id) | CallEnded(call_id=id):
            return facts.steps + (id in facts.early)
        case _:
            return facts.steps


def stands(seq: int, rewinds: Sequence[tuple[int, int]]) -> bool:
    """Whether an entry still counts, after rewinds that were not taken back."""
    return not any(to < seq < at for at, to in rewinds)


def _title(prompt: Prompted) -> str:
    """The instruction; where nothing was typed, what came in its place."""
    texts = own_words(prompt.content) or (plain_text(prompt.content),)
    return " ".join(texts[-1][:4_000].split())[:LONGEST_TITLE]
