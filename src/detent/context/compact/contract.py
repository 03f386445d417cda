"""What a summary must keep, taken from the log; and what it has lost, added back.

The facts come from the whole log every time, never from the last summary, so they survive any
number of compactions and whatever a model makes of them.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from detent.context.compact.extracting import facts_of
from detent.context.compact.facts import KINDS, Fact, Kind
from detent.types.content import Text
from detent.types.events import CallEnded, Compacted, Entry, Prompted, Reminded, Replied
from detent.types.outcomes import content_of

MOST_CHARACTERS = 16_000
HEAD = "The earlier part of this conversation is left out to save room. What it held:"
HEADING = "# From the record of the session, word for word"
END = "Go on with the request. Do not repeat what is done; read files again where you need them."
SHARES: dict[Kind, float] = {
    "request": 0.25,
    "constraint": 0.2,
    "todo": 0.1,
    "failing": 0.1,
    "file": 0.1,
    "name": 0.1,
    "decision": 0.1,
    "said": 0.05,
}
"""What each kind may have of the room for sure; what one leaves goes to the others in turn."""
TITLES: dict[Kind, str] = {
    "request": "The user's request:",
    "constraint": "What the user wants kept to (where two disagree, the later counts):",
    "todo": "Open to-dos:",
    "failing": "Commands that failed when last run:",
    "file": "Files written:",
    "name": "Names and values the user gave:",
    "decision": "Decisions:",
    "said": "What else the user said earlier, the oldest first (not to be done again):",
}
BEGINNING = 10
"""Sentences with which the user began."""
LISTED: tuple[Kind, ...] = ("file", "name")
"""Kinds that read well in one line."""


class Whole(Struct, frozen=True):
    """A summary with all that it has to hold."""

    text: str
    added: int
    left_out: int
    """Facts for which there was no room: the older and weaker ones."""


def restored(
    summary: str,
    entries: Sequence[Entry],
    kept: Sequence[Entry] = (),
    most: int = MOST_CHARACTERS,
) -> Whole:
    """The summary, and behind it the facts that neither it nor what is kept beside it holds."""
    lost = missing(facts_of(entries), summary, kept)
    chosen = _without_repeats(_chosen(lost, most))
    parts = [HEAD, summary.strip()]
    if chosen:
        parts += [HEADING, *_grouped(chosen)]
    text = "\n".join(parts)
    if left_out := len(missing(lost, text)):
        parts.append(f"({left_out} older facts had no room here.)")
    parts.append(END)
    return Whole("\n".join(parts), len(chosen), left_out)


def body_of(summary: str) -> str:
    """The summary proper, without what was added to it."""
    body = summary.partition(HEADING)[0].removeprefix(HEAD)
    return body.strip().removesuffix(END).strip()


def missing(facts: Iterable[Fact], summary: str, kept: Sequence[Entry] = ()) -> list[Fact]:
    """Sentences must stand for themselves in a summary, for it may say that they no longer hold;
    of names it is enough that they occur."""
    told = "\n".join(_texts(kept))
    lines = {_plain(line) for line in summary.split("\n")}
    everything = _plain(f"{told}\n{summary}")
    said = _plain(told)
    return [fact for fact in facts if not _is_kept(fact, lines, said, everything)]


def _is_kept(fact: Fact, lines: set[str], said: str, everything: str) -> bool:
    wanted = _plain(fact.text)
    if fact.kind in LISTED:
        whole = rf"(?<!\w){re.escape(wanted)}(?!\w)"
        return wanted in everything and re.search(whole, everything) is not None
    if fact.kind in ("request", "said"):
        return wanted in everything
    if fact.kind == "todo" and wanted.partition("] ")[2] in lines:
        return True  # whether it has been begun is told by the rest
    return wanted in lines or wanted in said


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().removeprefix("- ")


def _texts(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        match entry:
            case Prompted(content=content) | Replied(content=content):
                yield from (block.text for block in content if isinstance(block, Text))
            case CallEnded(outcome=outcome):
                yield from (part.text for part in content_of(outcome) if isinstance(part, Text))
            case Reminded(text=text) | Compacted(summary=text):
                yield text
            case _:
                pass


def _chosen(facts: Sequence[Fact], most: int) -> list[Fact]:
    """Each kind has its share; then the stronger kinds take what is left."""
    chosen: set[int] = set()
    free = most
    for share in (SHARES, dict.fromkeys(KINDS, 1.0)):
        for kind in KINDS:
            room = min(free, int(most * share[kind]))
            for number in _strongest_first(facts, kind):
                cost = len(facts[number].text) + 4
                if number in chosen or cost > room:
                    continue
                chosen.add(number)
                room, free = room - cost, free - cost
    return [facts[number] for number in sorted(chosen)]


def _strongest_first(facts: Sequence[Fact], kind: Kind) -> list[int]:
    """The newest; but what a session began with says what it is about."""
    numbers = [number for number, fact in enumerate(facts) if fact.kind == kind]
    first = BEGINNING if kind == "said" else 0
    return [*numbers[:first], *reversed(numbers[first:])]


def _without_repeats(facts: Sequence[Fact]) -> list[Fact]:
    """A name that one of the sentences holds need not be told beside it."""
    sentences = "\n".join(fact.text for fact in facts if fact.kind not in LISTED)
    told = set(missing((fact for fact in facts if fact.kind in LISTED), sentences))
    return [fact for fact in facts if fact.kind not in LISTED or fact in told]


def _grouped(facts: Sequence[Fact]) -> Iterable[str]:
    for kind in KINDS:
        texts = [fact.text for fact in facts if fact.kind == kind]
        if texts and kind in LISTED:
            yield f"{TITLES[kind]} {', '.join(texts)}"
        elif texts:
            yield TITLES[kind]
            yield from (f"- {text}" for text in texts)
