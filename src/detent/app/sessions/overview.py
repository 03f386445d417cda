"""One session at a glance: what was asked, what was answered, what it changed, what it cost."""

import os
from collections.abc import Iterable, Sequence

from detent.app.grounds import grounds_of
from detent.app.models import prices
from detent.app.options import Options
from detent.app.sessions.finding import find
from detent.app.sessions.records import Overview, TurnView
from detent.app.sessions.without_index import read_with_card
from detent.context.account import Price
from detent.context.books import Books
from detent.session.facts import Facts
from detent.session.folding import add, stands
from detent.session.store import AGENTS
from detent.session.undo import deeds_of, standing
from detent.types.agents import AgentStarted, ChildChanged
from detent.types.budget import Spent
from detent.types.content import own_words, plain_text
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied, TurnEnded


def overview(options: Options, wanted: str) -> Overview:
    """Writes nothing, asks nobody. Raises BadInput."""
    grounds = grounds_of(options)
    path = find(grounds.home, grounds.cwd, wanted)
    reading, card = read_with_card(path)
    entries = reading.entries
    turns = tuple(_turns(entries))
    stood = standing(deeds_of(entries))
    changed = _changed(entry for entry in entries if stood.get(entry.seq, True))
    return Overview(card, turns, changed, _spent(entries, path, prices(grounds.settings)))


def _spent(entries: Sequence[Entry], path: str, price: Price) -> Spent:
    spent = Books(price).read(entries).total
    if any(isinstance(entry, AgentStarted) for entry in entries):
        from detent.app.agents.mending import spent_by_those_left

        folder = os.path.join(path.removesuffix(".jsonl"), AGENTS)
        spent += spent_by_those_left(entries, [folder], price)
    return spent


def _turns(entries: Sequence[Entry]) -> Iterable[TurnView]:
    facts, begins, steps = Facts(), list[int](), list[int]()
    for place, entry in enumerate(entries):
        if isinstance(entry, Prompted) and not entry.steered:
            begins.append(place)
        add(facts, entry)
        steps.append(facts.steps)
    for begin, end in zip(begins, [*begins[1:], len(entries)], strict=True):
        first = steps[begin] + 1
        yield _turn(entries[begin:end], range(first, steps[end - 1] + 1), facts)


def _turn(entries: Sequence[Entry], steps: range, facts: Facts) -> TurnView:
    prompt, replies = entries[0], [entry for entry in entries if isinstance(entry, Replied)]
    ended = next((entry for entry in entries if isinstance(entry, TurnEnded)), None)
    assert isinstance(prompt, Prompted)
    texts = own_words(prompt.content) or (plain_text(prompt.content),)
    return TurnView(
        entry=prompt.seq,
        at=prompt.at,
        prompt=texts[-1],
        answer=next((text for one in reversed(replies) if (text := plain_text(one.content))), ""),
        steps=tuple(steps),
        calls=sum(isinstance(entry, CallStarted) for entry in entries),
        changed=_changed(entries),
        reason=ended.reason if ended else "",
        error=ended.error if ended else "",
        tokens=sum(one.usage.total for one in replies),
        is_rewound=not stands(prompt.seq, facts.rewinds),
    )


def _changed(entries: Iterable[Entry]) -> tuple[str, ...]:
    """In the order of the first change."""
    found = dict[str, None]()
    for entry in entries:
        if isinstance(entry, CallEnded | ChildChanged):
            found |= dict.fromkeys(change.path for change in entry.changed)
    return tuple(found)
