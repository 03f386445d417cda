"""What is worth finding of an entry: what was said, what was done, and what came of it."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from detent.session.facts import Facts
from detent.session.folding import step_of
from detent.types.codec import arguments_object
from detent.types.content import Call, plain_text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Entry,
    Prompted,
    Replied,
    TurnEnded,
)
from detent.types.outcomes import text_of
from detent.types.running import Named

Kind = Literal["prompt", "answer", "call", "result", "error", "name"]
SAID = ("prompt", "answer", "name")
"""Counts for more than what was done."""
MOST_SAID, MOST_DONE = 16_000, 3_000
"""Characters of one passage: of a longer one, the beginning and the end."""
DEEPEST = 8


class Passage(Struct, frozen=True):
    seq: int
    step: int
    at: float
    kind: Kind
    text: str


def passages(entry: Entry, facts: Facts) -> Iterator[Passage]:
    """`facts` have the entry already."""
    for kind, text in _texts(entry, facts):
        kept = bounded(text, MOST_SAID if kind in SAID else MOST_DONE)
        if kept and not kept.isspace():
            yield Passage(entry.seq, step_of(facts, entry), entry.at, kind, kept)


def _texts(entry: Entry, facts: Facts) -> Iterator[tuple[Kind, str]]:
    match entry:
        case Prompted():
            yield "prompt", plain_text(entry.content)
        case Replied():
            yield "answer", plain_text(entry.content)
            for block in entry.content:
                if isinstance(block, Call) and block.id not in facts.begun_early:
                    yield "call", told_call(block.name, block.arguments)
        case CallStarted() if entry.call_id in facts.early:  # else its answer has told of it
            yield "call", told_call(entry.name, entry.arguments)
        case CallEnded():
            yield "result", text_of(entry.outcome)
        case TurnEnded(error=error) if error:
            yield "error", error
        case Named():
            yield "name", entry.name
        case _:
            pass


def told_call(name: str, arguments: str) -> str:
    """`Bash npm test`: the values, for nobody looks for the names of arguments."""
    given = arguments_object(arguments)
    values = [arguments] if given is None else list(_strings(given))
    return " ".join([name, *values])


def _strings(value: Any, depth: int = DEEPEST) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part, depth - 1)


def bounded(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail]}\n…\n{text[-tail:]}"
