"""A session as Markdown. What models and tools said cannot break out of its place: it is quoted or
stands in a fence that it does not hold itself."""

import re
from collections.abc import Iterator

from detent.app.export.changes import Bytes, diff_of, in_words
from detent.app.export.shown import dollars, harmless, shortened, tokens, when
from detent.app.export.story import (
    AnyPiece,
    Called,
    Facts,
    Mark,
    Media,
    Story,
    Summed,
    Talk,
    Thought,
)
from detent.types.content import Document

LINES, CHARACTERS = 40, 4_000
"""Of a result, and of arguments."""
_OURS = re.compile(r"^ {0,3}(#{1,2}(\s|$)|<|=+\s*$|-+\s*$)", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")


def markdown(story: Story, read: Bytes) -> str:
    parts = [_title(story.facts), _table(story.facts)]
    speaker = ""
    for piece in story.pieces:
        if isinstance(piece, Talk | Thought | Called):
            now = _speaker(piece)
            if now != speaker:
                parts.append(f"## {now}")
                speaker = now
        parts += _rendered(piece, story.facts.cwd, read)
    return "\n\n".join(filter(None, parts)) + "\n"


def fenced(text: str, language: str = "") -> str:
    """A fence longer than any within."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def quoted(text: str) -> str:
    """Whatever is left open within ends with the quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def inline(text: str) -> str:
    """One line, in which nothing is a mark."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(harmless(text).split()))


def _title(facts: Facts) -> str:
    return f"# {inline(facts.name or f'Session {facts.session}')}"


def _table(facts: Facts) -> str:
    spent = facts.spent
    cost = dollars(spent.dollars) + (" and models of unknown price" if spent.unpriced else "")
    rows = {
        "session": facts.session,
        "folder": facts.cwd,
        "begun": when(facts.begun),
        "last entry": when(facts.ended),
        "models": ", ".join(facts.models),
        "turns": str(facts.turns),
        "tokens": f"{tokens(spent.usage.total)}, {tokens(spent.usage.output)} of them written",
        "cost": cost,
        "forked from": facts.parent,
    }
    lines = [f"| {name} | {inline(value)} |" for name, value in rows.items() if value]
    return "\n".join(["| | |", "|---|---|", *lines])


def _speaker(piece: Talk | Thought | Called) -> str:
    match piece:
        case Talk(who="user", label=label):
            return f"You ({inline(label)})" if label else "You"
        case Talk(who="program", label=label):
            return f"Told by the program ({inline(label)})"
        case Talk(label=label):
            return inline(label) or "Model"
        case _:
            return "Work"


def _rendered(piece: AnyPiece, cwd: str, read: Bytes) -> Iterator[str]:
    if piece.gone:
        yield f"*(entry {piece.seq}, rewound later)*"
    match piece:
        case Talk(who="model", text=text):
            yield _standing(harmless(text))
        case Talk(text=text, media=media):
            yield quoted(harmless(text)) if text.strip() else ""
            yield from map(_medium, media)
        case Thought(text=text):
            yield quoted(f"*Thinking:* {harmless(text)}")
        case Called():
            yield from _call(piece, cwd, read)
        case Summed(text=text, replaced=replaced):
            what = f"{replaced} messages" if replaced else "what stands above"
            yield f"**Summed up here:** the model reads this instead of {what}."
            yield quoted(harmless(text))
        case Mark(text=text):
            yield f"*{inline(text)}*"


def _standing(text: str) -> str:
    """Answers are Markdown as a rule; one that would mix with what is around it is quoted."""
    return text if _stays_within(text) else quoted(text)


def _stays_within(text: str) -> bool:
    outside, fence = list[str](), ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            closes = found and found[1].startswith(fence) and not found[2].strip()
            fence = "" if closes else fence
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            outside.append(line)
    return not fence and not _OURS.search("\n".join(outside))


def _call(piece: Called, cwd: str, read: Bytes) -> Iterator[str]:
    told = list[str]([piece.status] if piece.status != "done" else [])
    if piece.ms >= 1000:
        told.append(f"{piece.ms / 1000:.1f} s")
    subject = f": {inline(piece.about)}" if piece.about else ""
    yield f"**{inline(piece.name)}**{subject}" + (f" *({', '.join(told)})*" if told else "")
    if piece.arguments.strip() not in ("", "{}"):
        yield fenced(shortened(harmless(piece.arguments), LINES, CHARACTERS), "json")
    if piece.result.strip():
        yield fenced(shortened(harmless(piece.result), LINES, CHARACTERS))
    yield from map(_medium, piece.media)
    if piece.changes:
        yield "\n".join(f"- {inline(in_words(change, cwd))}" for change in piece.changes)
    for change in piece.changes:
        if diff := diff_of(change, cwd, read):
            yield fenced(shortened(harmless(diff), 2 * LINES, 2 * CHARACTERS), "diff")


def _medium(medium: Media) -> str:
    name = f" {medium.name}" if isinstance(medium, Document) and medium.name else ""
    kind = f"{medium.media_type}{name}, {len(medium.data) * 3 // 4} bytes"
    return f"*({inline(kind)}: left out here)*"
