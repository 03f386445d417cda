"""Sessions, hits and one session at a glance, as people read them."""

import time
from collections.abc import Iterator, Sequence

from detent.sdk.sessions import Hit, Overview, SessionCard, TurnView
from detent.surfaces.counting import counted
from detent.surfaces.tables.widths import fitted, one_line, width_of
from detent.types.budget import Spent

SHORT = 8
"""Characters of an id where there is little room: any beginning of one will do."""
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def listed(cards: Sequence[SessionCard], width: int, *, everywhere: bool) -> Iterator[str]:
    """In a terminal each fits into a line (a width of 0 is no limit)."""
    shortest = id_length(cards) if width else 0
    for card in cards:
        where = f"  {one_line(card.cwd)}" if everywhere else ""
        yield _fit(f"{line_of(card, shortest)}{where}", width)


def line_of(card: SessionCard, length: int = 0) -> str:
    turns = "1 turn" if card.turns == 1 else f"{card.turns} turns"
    return f"{card.id[: length or None]}  {moment(card.active)}  {turns:>8}  {label(card)}"


def label(card: SessionCard) -> str:
    """What it is about, and what should be known of it."""
    state = "" if card.state == "ended" else f"[{card.state}] "
    return state + one_line(f"{card.name}: {card.title}" if card.name else card.title)


def id_length(cards: Sequence[SessionCard]) -> int:
    """Enough to tell them apart."""
    short = {card.id[:SHORT] for card in cards}
    return SHORT if len(short) == len(cards) else 0


def found(hits: Sequence[Hit], width: int, *, is_coloured: bool) -> Iterator[str]:
    length = SHORT if width else None
    for hit in hits:
        title = one_line(f"{hit.name}: {hit.title}" if hit.name else hit.title)
        place = f"{one_line(hit.session)[:length]}  {moment(hit.at)}  step {hit.step}"
        yield _fit(f"{place}  {hit.kind}  {title}", width)
        yield f"    {_marked(hit, width - 4 if width else 0, is_coloured)}"


def _marked(hit: Hit, width: int, is_coloured: bool) -> str:
    """What was looked for stands out, and is inside, however narrow it is."""
    before, behind = (BOLD, PLAIN) if is_coloured else ("»", "«")
    text, marks = hit.snippet, hit.marks
    if width and marks and width_of(text[: marks[0][1]]) > width - 3:
        cut = max(0, marks[0][0] - width // 3)
        text = f"…{text[cut:]}"
        marks = tuple((a - cut + 1, b - cut + 1) for a, b in marks)
    line, at, left = "", 0, width
    for begin, end in (*marks, (len(text), len(text))):
        for piece, is_mark in ((text[at:begin], False), (text[begin:end], True)):
            kept = fitted(one_line(piece), left) if width else one_line(piece)
            line += f"{before}{kept}{behind}" if is_mark and kept else kept
            left -= width_of(kept) + (2 if is_mark and not is_coloured else 0)
            if width and left <= 0:
                return line
        at = end
    return line


def told(one: Overview, width: int) -> Iterator[str]:
    card = one.card
    yield _fit(f"Session {card.id}" + (f" ({one_line(card.name)})" if card.name else ""), width)
    yield _fit(f"  folder   {one_line(card.cwd)}", width)
    yield f"  begun    {moment(card.created)}, last active {moment(card.active)}, {card.state}"
    if card.parent:
        yield f"  fork of  {one_line(card.parent)}"
    models = ", ".join(map(one_line, card.models)) or "none"
    yield _fit(f"  models   {models}", width)
    spent = f"{card.tokens:,} tokens, {_price(one.spent)}"
    yield f"  size     {counted(card.turns, 'turn')}, {counted(card.steps, 'step')}, {spent}"
    if card.damaged:
        yield f"  damaged  {counted(card.damaged, 'line')} cannot be read"
    if card.is_strange:
        yield "  strange  a later version of Detent has written in it: it cannot be continued here"
    for number, turn in enumerate(one.turns, 1):
        yield ""
        yield from (_fit(line, width) for line in _turn(number, turn))
    if one.changed:
        yield ""
        yield "Changed files:"
        yield from (_fit(f"  {one_line(path)}", width) for path in one.changed)


def _price(spent: Spent) -> str:
    """One that nobody knows is not nothing."""
    is_unknown = spent.unpriced and not spent.dollars
    return "price unknown" if is_unknown else f"${spent.dollars:,.4f}"


def _turn(number: int, turn: TurnView) -> Iterator[str]:
    steps = turn.steps
    which = f"steps {steps[0]}–{steps[-1]}" if len(steps) > 1 else f"step {min(steps, default=0)}"
    facts = [moment(turn.at), which if steps else "no answer", counted(turn.calls, "call")]
    facts.append(turn.reason or "no end")
    facts += ["rewound"] if turn.is_rewound else []
    yield f"Turn {number} · {' · '.join(facts)}"
    yield f"  > {one_line(turn.prompt)}"
    for text in (turn.answer, turn.error):
        if text.strip():
            yield f"  {one_line(text)}"
    if turn.changed:
        yield f"  changed {counted(len(turn.changed), 'file')}"


def moment(at: float) -> str:
    """A log may come from anywhere, and its times with it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "????-??-?? ??:??"


def _fit(line: str, width: int) -> str:
    return fitted(line, width) if width else line
