"""The log as it is written: one writer, one write per record, and a disk that says no."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.session import log as log_module
from detent.session.log import WHOLE, FileLog, Locked, MemoryLog
from detent.session.reading import read_log
from detent.types.content import Image, Text
from detent.types.events import Entry, Opened, Prompted, Switched


def opened(session: str = "s1", cwd: str = "/p") -> Opened:
    return Opened(session=session, cwd=cwd, version="0")


def prompt(text: str) -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


def write(path: str, *entries: Entry) -> None:
    log = FileLog(path, lambda: 1.5)
    for entry in entries:
        log.append(entry)
    log.close()


def saying(number: int) -> Callable[..., int]:
    def fails(*arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    return fails


def test_entries_are_numbered_and_stamped() -> None:
    times = iter((1.0, 2.0))
    log = MemoryLog(lambda: next(times))
    first, second = log.append(Switched(model="a", seq=99)), log.append(Switched(model="b"))
    assert [(e.seq, e.at) for e in (first, second)] == [(1, 1.0), (2, 2.0)]
    assert list(log.entries) == [first, second]
    assert log.trouble == ""


def test_numbers_go_on_where_the_file_ended(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    write(path, opened(), prompt("a"))
    reading = read_log(path)
    log = FileLog(path, lambda: 2.0, reading.entries, reading.torn)
    assert log.append(prompt("b")).seq == 3
    log.close()
    assert [e.seq for e in read_log(path).entries] == [1, 2, 3]


def test_every_entry_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "deep" / "er" / "s.jsonl"), lambda: 1.0)
    assert not os.path.exists(log.path), "no file before the first entry"
    entries = [log.append(entry) for entry in (opened(), prompt("a"), prompt("b"))]
    assert list(read_log(log.path).entries) == entries
    log.close()


def test_one_record_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between two writes would tear the record."""
    sizes: list[int] = []
    real = os.write

    def counted(descriptor: int, data: bytes) -> int:
        sizes.append(len(data))
        return real(descriptor, data)

    monkeypatch.setattr(log_module.os, "write", counted)
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    log.append(prompt("x" * 100_000))
    log.close()
    assert len(sizes) == 2, "whatever its length, where there is no blob store"
    assert sum(sizes) == os.path.getsize(log.path)


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    path = str(tmp_path / "folder" / "s.jsonl")
    write(path, opened())
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_there_is_one_writer(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    first = FileLog(path, lambda: 1.0)
    first.append(opened())
    second = FileLog(path, lambda: 1.0, first.entries)
    with pytest.raises(Locked):
        second.lock()
    assert len(read_log(path).entries) == 1, "anybody may read"
    second.append(prompt("not written"))
    assert "another process" in second.trouble
    first.append(prompt("written"))
    first.close()
    assert len(read_log(path).entries) == 2
    third = FileLog(path, lambda: 1.0, read_log(path).entries)
    third.lock()
    third.close()


def test_locking_makes_no_file(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.lock()
    log.close()
    assert list(tmp_path.iterdir()) == []


FAULTS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT]


@pytest.mark.parametrize("fault", FAULTS, ids=errno.errorcode.get)
def test_a_disk_that_says_no_leaves_the_session_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    with monkeypatch.context() as patched:
        patched.setattr(log_module.os, "write", saying(fault))
        log.append(prompt("a"))
        assert os.strerror(fault) in log.trouble
        assert log.path in log.trouble
        log.append(prompt("b"))
    assert len(log.entries) == 3, "it goes on"
    assert log.trouble
    log.close()
    assert len(read_log(log.path).entries) == 1, "and nothing is written behind a gap"


@pytest.mark.parametrize("nth", range(4))
def test_when_the_disk_recovers_what_is_missing_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """Whichever write fails, and whether half of it was taken: the file has no hole."""
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    real, count = os.write, 0

    def failing(descriptor: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count - 1 in (nth, nth + 1):
            real(descriptor, data[:20])
            raise OSError(errno.ENOSPC, "full")
        if count - 1 == nth + 2:
            return real(descriptor, data[:20])
        return real(descriptor, data)

    monkeypatch.setattr(log_module.os, "write", failing)
    troubles = [bool((log.append(prompt(str(number))), log.trouble)[1]) for number in range(8)]
    assert troubles == [nth <= number < nth + 3 for number in range(8)]
    log.close()
    reading = read_log(log.path)
    assert list(reading.entries) == list(log.entries)
    assert [entry.seq for entry in reading.entries] == list(range(1, 9))
    assert not reading.torn


def test_a_half_written_record_is_trouble_and_readable_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    real = os.write
    with monkeypatch.context() as patched:
        patched.setattr(log_module.os, "write", lambda fd, data: real(fd, data[:10]))
        log.append(prompt("a"))
    assert log.trouble
    log.close()
    reading = read_log(log.path)
    assert (len(reading.entries), reading.damaged, reading.torn) == (1, 1, True)
    again = FileLog(log.path, lambda: 1.0, reading.entries, reading.torn)
    again.append(prompt("b"))
    again.close()
    assert [type(e) for e in read_log(log.path).entries] == [Opened, Prompted]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    log = FileLog(str(tmp_path / "file" / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    assert log.trouble
    assert len(log.entries) == 1
    (tmp_path / "file").unlink()
    log.append(prompt("a"))
    assert log.trouble == ""
    log.close()
    assert len(read_log(log.path).entries) == 2


def test_a_file_that_was_removed_is_not_made_again(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    os.unlink(log.path)
    log.append(prompt("a"))
    assert "removed its file" in log.trouble
    log.append(prompt("b"))
    assert "removed its file" in log.trouble
    log.close()
    assert not os.path.exists(log.path)


def test_a_folder_that_was_removed_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    log = FileLog(str(folder / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    os.rename(folder, tmp_path / "away")
    log.append(prompt("a"))
    assert log.trouble == "", "it was only moved"
    os.unlink(tmp_path / "away" / "s.jsonl")
    os.rmdir(tmp_path / "away")
    log.append(prompt("b"))
    assert log.trouble
    log.close()


def test_a_new_session_does_not_write_into_the_file_of_another(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    write(path, opened("first"))
    before = Path(path).read_bytes()
    late = FileLog(path, lambda: 1.0)
    late.append(opened("second"))
    assert "File exists" in late.trouble
    late.close()
    assert Path(path).read_bytes() == before


def test_a_file_system_without_locks_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", saying(errno.ENOLCK))
    path = str(tmp_path / "s.jsonl")
    write(path, opened(), prompt("a"))
    again = FileLog(path, lambda: 1.0, read_log(path).entries)
    again.lock()
    again.append(prompt("b"))
    again.close()
    assert len(read_log(path).entries) == 3


def test_what_cannot_be_written_is_not_there_at_all(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    with pytest.raises(UnicodeEncodeError):
        log.append(prompt("half a pair: \ud83d"))
    assert (len(log.entries), log.trouble) == (0, "")
    assert log.append(prompt("a")).seq == 1
    log.close()
    assert len(read_log(log.path).entries) == 1


# Blobs


def test_long_texts_lie_beside_the_log(tmp_path: Path) -> None:
    path = str(tmp_path / "sessions" / "p" / "s.jsonl")
    log = FileLog(path, lambda: 1.0, home=str(tmp_path))
    picture = Prompted(turn=1, content=(Text("look"), Image("image/png", "aGk" * WHOLE)))
    entries = [log.append(entry) for entry in (opened(), picture, picture)]
    log.close()
    assert os.path.getsize(path) < 2_000
    (blob,) = [file for file in tmp_path.glob("blobs/*/*") if file.is_file()]
    assert blob.read_text() == "aGk" * WHOLE, "once, though two records name it"
    assert list(read_log(path).entries) == entries


def test_a_blob_that_cannot_be_kept_is_trouble_with_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "sessions" / "p" / "s.jsonl")
    log = FileLog(path, lambda: 1.0, home=str(tmp_path))
    log.append(opened())
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", saying(errno.ENOSPC))
        log.append(prompt("x" * WHOLE))
        assert "No space left" in log.trouble
    log.append(prompt("b"))
    assert log.trouble == ""
    log.close()
    reading = read_log(path)
    assert (list(reading.entries), reading.damaged) == (list(log.entries), 0)
    assert not list(tmp_path.glob("blobs/*/*.*")), "no halves are left"


# Syncing


def test_a_sync_takes_blobs_first_then_the_records_then_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def noted(descriptor: int) -> None:
        done.append(os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path))

    monkeypatch.setattr(os, "fdatasync", noted)
    monkeypatch.setattr(os, "fsync", noted)
    log = FileLog(str(tmp_path / "sessions" / "p" / "s.jsonl"), lambda: 1.0, home=str(tmp_path))
    log.append(prompt("x" * WHOLE))
    assert log.unsynced
    assert log.sync() == ""
    assert not log.unsynced
    assert done[0].startswith("blobs/") and len(done[0]) > 60
    assert done.index("sessions/p/s.jsonl") > done.index("blobs")
    assert done[-3:] == ["sessions/p", "sessions", "."]
    done.clear()
    assert (log.sync(), done) == ("", []), "nothing is new"
    log.append(prompt("y"))
    log.close()
    assert done == ["sessions/p/s.jsonl"]


def test_a_sync_that_fails_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waited for it may have been cancelled: the next one hears of it."""
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    monkeypatch.setattr(os, "fdatasync", saying(errno.EIO))
    assert "Input/output error" in log.sync()
    monkeypatch.undo()
    assert not log.unsynced, "a second try would only seem to succeed"
    log.append(prompt("y"))
    assert "Input/output error" in log.sync()
    assert log.trouble == "", "it was written"
    log.close()


def test_one_that_nobody_closed_can_be_taken_up_again(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    log = FileLog(path, lambda: 1.0)
    log.append(opened())
    other = FileLog(path, lambda: 1.0)
    with pytest.raises(Locked):
        other.lock()
    del log
    other.lock()
    other.close()


def test_a_fork_of_the_process_neither_writes_nor_holds_it(tmp_path: Path) -> None:
    path = str(tmp_path / "s.jsonl")
    log = FileLog(path, lambda: 1.0)
    log.append(opened())
    (asked, ask), (told, tell) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        log.append(prompt("not mine"))
        os.write(tell, log.trouble.encode())
        os.read(asked, 1)
        os._exit(0)
    assert "parent process" in os.read(told, 4096).decode()
    log.append(prompt("mine"))
    log.close()
    other = FileLog(path, lambda: 1.0)
    other.lock()  # while the child still lives
    os.write(ask, b"x")
    os.waitpid(child, 0)
    for descriptor in (asked, ask, told, tell):
        os.close(descriptor)
    other.close()
    assert [entry.seq for entry in read_log(path).entries] == [1, 2]


def test_a_copy_is_seen_when_all_of_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    log = FileLog(str(path), lambda: 1.0)
    with log.copying():
        log.append(opened())
        monkeypatch.setattr(os, "write", saying(errno.ENOSPC))
        log.append(prompt("x"))
    assert log.trouble and not path.exists(), "it lacks an entry"
    monkeypatch.undo()
    log.append(prompt("y"))
    assert log.trouble == ""
    assert os.listdir(tmp_path) == ["s.jsonl"]
    assert [entry.seq for entry in read_log(str(path)).entries] == [1, 2, 3]
    with pytest.raises(Locked):
        FileLog(str(path), lambda: 1.0).lock()
    log.close()


def test_one_that_somebody_has_shortened_is_not_written_behind_a_hole(tmp_path: Path) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())
    log.append(prompt("x"))
    os.truncate(log.path, 10)
    for text in ("y", "z"):
        log.append(prompt(text))
        assert "somebody has shortened its file" in log.trouble
    assert os.path.getsize(log.path) == 10
    log.close()


def test_trouble_with_a_blob_names_the_blob(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("no folder")
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0, home=str(tmp_path))
    log.append(prompt("x" * WHOLE))
    assert "s.jsonl" not in log.trouble
    assert str(tmp_path / "blobs") in log.trouble
