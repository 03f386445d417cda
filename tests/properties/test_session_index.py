"""The index is never more than what the logs say, however they came to be what they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.session.index.catalogue import Catalogue
from detent.session.index.opening import consult, discard
from detent.session.index.searching import search
from detent.session.log import frame
from detent.session.store import Store
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Entry,
    Opened,
    Prompted,
    Replied,
    Restored,
    Rewound,
    TurnEnded,
)
from detent.types.outcomes import done
from detent.types.running import Named
from detent.types.usage import Usage
from detent.types.verdicts import Allow

words = st.sampled_from(["apple", "banana", "日本語", "ap\x00ple", "\x1b[1mfig", '"', ""])
ids = st.sampled_from(["c1", "c2", "c3"])
seqs = st.integers(0, 12)
entries = st.one_of(
    st.builds(lambda w: Prompted(turn=1, content=(Text(w),)), words),
    st.builds(
        lambda w, calls: Replied(
            turn=1, step=1, model=w, stop="x", usage=Usage(1, 1),
            content=(Text(w), *(Call(one, "Bash", w) for one in calls)),
        ),
        words,
        st.lists(ids, max_size=2, unique=True),
    ),
    st.builds(
        lambda w, one: CallStarted(
            call_id=one, name="Bash", arguments=w, effects=(), verdict=Allow("x")
        ),
        words,
        ids,
    ),
    st.builds(lambda w, one: CallEnded(call_id=one, name="Bash", outcome=done(w)), words, ids),
    st.builds(lambda w: Named(name=w), words),
    st.builds(lambda n: Rewound(to=n), seqs),
    st.builds(lambda n: Restored(entries=(n,)), seqs),
    st.just(TurnEnded(turn=1, reason="end_turn")),
)  # fmt: skip
acts = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 2), entries),
        st.tuples(st.just("tear"), st.integers(0, 2), entries),
        st.tuples(st.just("rubbish"), st.integers(0, 2), st.binary(max_size=9)),
        st.tuples(st.just("delete"), st.integers(0, 2), st.none()),
        st.tuples(st.just("look"), st.just(0), st.none()),
    ),
    max_size=25,
)


class Logs:
    """Three logs, one of them of another folder, written as a process would that may be killed."""

    def __init__(self, home: Path) -> None:
        self.home = str(home)
        self._seq = [0, 0, 0]

    def path(self, which: int) -> Path:
        return Path(Store(self.home).path("/q" if which == 2 else "/p", f"s{which}"))

    def act(self, what: str, which: int, given: Any) -> None:
        path = self.path(which)
        if what == "look":
            contents(self.home)
        elif what == "delete":
            path.unlink(missing_ok=True)
            self._seq[which] = 0
        elif what == "rubbish":
            self._write(path, given)
        else:
            self._append(which, given, is_torn=what == "tear")

    def _append(self, which: int, entry: Entry, *, is_torn: bool) -> None:
        new: list[Entry] = [entry]
        if not self._seq[which]:
            new.insert(0, Opened(session=f"s{which}", cwd="/p", version="0"))
        for one in new:
            self._seq[which] += 1
            line = frame(replace(one, seq=self._seq[which], at=float(self._seq[which])))
            self._write(self.path(which), line[: len(line) // 2] if is_torn else line)

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)


def contents(home: str) -> Any:
    """Everything that anybody can ask of it; numbers of sessions may differ."""

    def ask(catalogue: Catalogue) -> Any:
        rows = catalogue.db.execute(
            "SELECT place, p.id & 0xffffffff, seq, step, at, kind, gone, said, done"
            " FROM passages p JOIN sessions s ON s.number = p.id >> 32 ORDER BY 1, 2"
        ).fetchall()
        cards = sorted(catalogue.cards(), key=lambda card: card.path)
        found = [
            sorted(search(catalogue, word, 999, of_one=999), key=lambda hit: (hit.path, hit.entry))
            for word in ("apple", "日本", "fig", "Bash")
        ]
        catalogue.db.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
        return rows, cards, [sorted(map(repr, hits)) for hits in found]

    return consult(home, ask)


@settings(max_examples=150, deadline=None)
@given(acts)
def test_what_grew_with_the_logs_is_what_is_made_anew(
    steps: Sequence[tuple[str, int, Any]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        logs = Logs(Path(folder) / "home")
        os.makedirs(os.path.join(logs.home, "sessions"))
        for step in steps:
            logs.act(*step)
        grown = contents(logs.home)
        discard(logs.home)
        assert contents(logs.home) == grown
