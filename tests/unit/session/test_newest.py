"""The session that `--continue` goes on with."""

from __future__ import annotations

import os
from pathlib import Path

from detent.session.store import Store


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
