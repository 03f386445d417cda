"""The session that `--continue` goes on with."""

from __future__ import annotations

import os
from pathlib import Path

from detent.session.log import frame
from detent.session.reading import read_log
from detent.session.store import Store
from detent.types.content import Text
from detent.types.events import Opened, Prompted


def saved(store: Store, name: str, data: bytes, at: float) -> str:
    path = Path(store.path("/w", name))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (at, at))
    return str(path)


def test_one_that_was_killed_before_it_wrote_anything_does_not_hide_the_last(
    tmp_path: Path,
) -> None:
    store = Store(str(tmp_path))
    saved(store, "old", b"{}\n", 100)
    last = saved(store, "last", b"{}\n", 200)
    saved(store, "torn", b'{"crc":"', 300)
    saved(store, "empty", b"", 400)
    assert store.newest("/w") == last


def test_where_none_has_a_line_there_is_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    saved(store, "empty", b"", 100)
    assert store.newest("/w") is None
    assert store.newest("/elsewhere") is None


def test_one_that_lost_its_beginning_is_still_there(tmp_path: Path) -> None:
    """A power cut may leave a hole of any size, and whole records behind it."""
    store = Store(str(tmp_path))
    log = Path(store.path("/w", "s"))
    log.parent.mkdir(parents=True)
    log.write_bytes(bytes(200_000) + b'{"a record"}\n')
    assert store.newest("/w") == str(log)
    log.write_bytes(bytes(200_000))
    assert store.newest("/w") is None


def test_it_is_found_wherever_it_was_cut_off_if_something_of_it_can_be_read(tmp_path: Path) -> None:
    """After a power cut any number of bytes may be there: one that is not found would be left
    behind, and a new session begun in its place."""
    store = Store(str(tmp_path))
    log = Path(store.path("/w", "s"))
    log.parent.mkdir(parents=True)
    opened = Opened(seq=1, session="s", cwd="/w", version="1")
    whole = frame(opened) + frame(Prompted(seq=2, turn=1, content=(Text("go"),)))
    found = []
    for end in range(len(whole) + 1):
        log.write_bytes(whole[:end])
        found.append(store.newest("/w") is not None)
        assert found[-1] == bool(read_log(str(log)).entries), end
    assert found.index(True) == len(frame(opened)) - 1, "without the end of its line"
