"""The blob store: bytes by their digest, whole or not at all."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from detent.session.blobs import YOUNG, Blobs, Missing, digest_of


def files(home: Path) -> list[Path]:
    return [file for file in home.glob("blobs/*/*") if file.is_file()]


def age(path: str, seconds: float) -> None:
    at = os.stat(path).st_mtime - seconds
    os.utime(path, (at, at))


def test_what_was_put_is_got(tmp_path: Path) -> None:
    blobs = Blobs(str(tmp_path))
    digest = blobs.put(b"some bytes\0\xff")
    assert digest == digest_of(b"some bytes\0\xff")
    assert blobs.get(digest) == b"some bytes\0\xff"
    assert blobs.has(digest)
    assert not blobs.has(digest_of(b"others"))
    assert blobs.get(blobs.put(b"")) == b""


def test_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    one, two = Blobs(str(tmp_path)), Blobs(str(tmp_path))
    assert one.put(b"same") == two.put(b"same")
    (file,) = files(tmp_path)
    before = file.stat().st_ino
    one.put(b"same")
    assert file.stat().st_ino == before


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    Blobs(str(tmp_path)).put(b"secret")
    (file,) = files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    for folder in (file.parent, file.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("harm", [b"", b"\0\0\0\0", b"sam3", b"same and more"])
def test_what_is_damaged_is_not_got_and_is_put_right(tmp_path: Path, harm: bytes) -> None:
    blobs = Blobs(str(tmp_path))
    digest = blobs.put(b"same")
    Path(blobs.path(digest)).write_bytes(harm)
    with pytest.raises(Missing, match="damaged"):
        blobs.get(digest)
    assert blobs.put(b"same") == digest
    assert blobs.get(digest) == b"same"


def test_what_is_gone_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="No such file"):
        Blobs(str(tmp_path)).get("ab" * 32)


@pytest.mark.parametrize("call", ["write", "rename", "open"])
def test_a_fault_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fails(*arguments: object) -> None:
        raise OSError(errno.EDQUOT, "quota")

    blobs = Blobs(str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(os, call, fails)
        with pytest.raises(OSError, match="quota"):
            blobs.put(b"data")
    assert files(tmp_path) == []
    assert blobs.get(blobs.put(b"data")) == b"data"


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    blobs = Blobs(str(tmp_path))
    assert blobs.get(blobs.put(b"a" * 100)) == b"a" * 100


def test_many_may_put_the_same_at_once(tmp_path: Path) -> None:
    """Each in a store of its own, as processes have; nobody ever reads half of it."""
    data = os.urandom(300_000)
    digest, faults = digest_of(data), list[BaseException]()
    begin = threading.Barrier(8)

    def put() -> None:
        try:
            begin.wait()
            blobs = Blobs(str(tmp_path))
            for _ in range(5):
                assert blobs.put(data) == digest
                assert blobs.get(digest) == data
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(files(tmp_path)) == 1


def test_an_old_one_that_is_put_again_is_young(tmp_path: Path) -> None:
    """Whoever sweeps would else take it away before a log names it."""
    blobs = Blobs(str(tmp_path))
    path = blobs.path(blobs.put(b"data"))
    age(path, 10 * YOUNG)
    old, inode = os.stat(path).st_mtime, os.stat(path).st_ino
    blobs.put(b"data")
    assert os.stat(path).st_mtime > old + 9 * YOUNG
    assert os.stat(path).st_ino == inode, "and not written again"


def test_a_sync_is_for_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    monkeypatch.setattr(os, "fsync", synced.append)
    blobs = Blobs(str(tmp_path))
    blobs.put(b"one")
    blobs.sync()
    assert len(synced) == 3, "the file, its folder, and the folder of that"
    blobs.sync()
    assert len(synced) == 3
