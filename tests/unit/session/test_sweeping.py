"""Blobs that no log names any more."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from detent.session.blobs import Blobs
from detent.session.log import WHOLE, FileLog
from detent.session.sweeping import SPARED, digests_in, sweep
from detent.types.events import CallStarted, Reminded
from detent.types.files import FileState
from detent.types.verdicts import Allow


def session(home: Path, name: str, *texts: str, kept: str = "") -> str:
    path = str(home / "sessions" / "p" / f"{name}.jsonl")
    log = FileLog(path, lambda: 1.0, home=str(home))
    for text in texts:
        log.append(Reminded(text=text * WHOLE, source="s"))
    if kept:
        files = {"/a": FileState(kind="file", digest=kept)}
        log.append(
            CallStarted(
                call_id="c", name="Edit", arguments="", effects=(), verdict=Allow("r"), kept=files
            )
        )
    log.close()
    return path


def old(blobs: Blobs) -> list[Path]:
    """All that there are, as if put long ago."""
    found = [file for file in Path(blobs.root).glob("*/*") if file.is_file()]
    for file in found:
        os.utime(file, (1.0, 1.0))
    return found


def test_what_a_log_names_stays(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    kept, loose = blobs.put(b"a file before an edit"), blobs.put(b"of nobody")
    one, two = session(tmp_path, "one", "a", "b"), session(tmp_path, "two", "b", "c", kept=kept)
    assert len(old(blobs)) == 5
    assert sweep(blobs, [one, two]) == len(b"of nobody")
    assert not blobs.has(loose)
    os.unlink(one)
    assert sweep(blobs, [two]) == WHOLE, "b is of both"
    assert blobs.get(kept) == b"a file before an edit"
    assert {digest.decode() for digest in digests_in(two)} >= {kept}
    os.unlink(two)
    sweep(blobs, [])
    assert old(blobs) == []


def test_what_is_young_stays(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    digest = blobs.put(b"about to be named")
    at = os.stat(blobs.path(digest)).st_mtime - SPARED + 60
    os.utime(blobs.path(digest), (at, at))
    assert sweep(blobs, []) == 0
    assert blobs.has(digest)


def test_halves_that_a_crash_has_left_go(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    path = blobs.path(blobs.put(b"data"))
    Path(f"{path}.123.0").write_bytes(b"da")
    log = session(tmp_path, "one", kept=os.path.basename(os.path.dirname(path)) + Path(path).name)
    old(blobs)
    assert sweep(blobs, [log]) == 2
    assert os.path.exists(path)


def test_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(Blobs(str(tmp_path)), []) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_old_is_not_taken_up_while_somebody_sweeps(tmp_path: Path) -> None:
    """Else it would be named by a log that was looked through already."""
    blobs = Blobs(str(tmp_path))
    digest = blobs.put(b"data")
    old(blobs)
    taken = threading.Event()

    def put() -> None:
        Blobs(str(tmp_path)).put(b"data")
        taken.set()

    thread = threading.Thread(target=put)
    with blobs.held(alone=True):
        thread.start()
        assert not taken.wait(0.2)
        os.unlink(blobs.path(digest))
    thread.join()
    assert blobs.get(digest) == b"data", "it was put again"
