"""Full-text search over all sessions."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from detent.session.facts import SessionCard
from detent.session.index.catalogue import Catalogue
from detent.session.index.schema import ROOM
from detent.session.index.wording import MARKS, plain, query

AROUND = 24
"""Words that are shown with what was found."""
MOST_OF_ONE = 3
"""Hits of one session."""


class Hit(Struct, frozen=True):
    """A place in a session that answers a search, the best first."""

    session: str
    name: str
    title: str
    cwd: str
    path: str
    step: int
    """Which answer of the session it belongs to, counted from 1."""
    entry: int
    at: float
    kind: str
    """prompt, answer, call, result, error or name."""
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """Where the words stand in the snippet: from, to."""


def search(
    catalogue: Catalogue, words: str, most: int, cwd: str | None = None, of_one: int = MOST_OF_ONE
) -> list[Hit]:
    wanted = query(words)
    if not wanted:
        return []
    hits: list[Hit] = []
    for id, card in _ranked(catalogue, wanted, cwd, of_one):
        if len(hits) == most:
            break
        hits.append(_hit(catalogue, wanted, id, card))
    return hits


def _ranked(
    catalogue: Catalogue, wanted: str, cwd: str | None, of_one: int
) -> Iterator[tuple[int, SessionCard]]:
    """Only as far as somebody asks. Where several are as good, the newest session comes first."""
    taken: Counter[int] = Counter()
    rows = catalogue.db.execute(
        "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank, rowid", [wanted]
    )
    for _, equals in groupby(rows, key=itemgetter(1)):
        known = [(id, card) for id, _ in equals if (card := catalogue.by_number.get(id >> ROOM))]
        for id, card in sorted(known, key=lambda one: -one[1].active):
            is_wanted = taken[id >> ROOM] < of_one and cwd in (None, card.cwd)
            if is_wanted and not _is_gone(catalogue, id):
                taken[id >> ROOM] += 1
                yield id, card


def _is_gone(catalogue: Catalogue, id: int) -> bool:
    row = catalogue.db.execute("SELECT gone FROM passages WHERE id = ?", [id]).fetchone()
    return row is None or bool(row[0])


def _hit(catalogue: Catalogue, wanted: str, id: int, card: SessionCard) -> Hit:
    (found,) = catalogue.db.execute(
        "SELECT snippet(words, -1, ?, ?, '…', ?) FROM words WHERE words MATCH ? AND rowid = ?",
        (*MARKS, AROUND, wanted, id),
    ).fetchone()
    seq, step, at, kind = catalogue.db.execute(
        "SELECT seq, step, at, kind FROM passages WHERE id = ?", [id]
    ).fetchone()
    snippet, marks = _marked(plain(found))
    return Hit(
        session=card.id,
        name=card.name,
        title=card.title,
        cwd=card.cwd,
        path=card.path,
        step=step,
        entry=seq,
        at=at,
        kind=kind,
        snippet=snippet,
        marks=marks,
    )


def _marked(snippet: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    text, marks = "", list[tuple[int, int]]()
    for piece in snippet.split(MARKS[0]):
        inside, is_marked, behind = piece.partition(MARKS[1])
        if is_marked:
            marks.append((len(text), len(text) + len(inside)))
        text += inside + behind
    return text, tuple(marks)
