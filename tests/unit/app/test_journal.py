"""Opening a log: who may write it, what a later version has left in it, and copies."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest
from msgspec.structs import replace

from detent.app.journal import InUse, Journal, open_journal, opening
from detent.app.options import Options
from detent.session.log import FORMAT, WHOLE, FileLog, MemoryLog, frame
from detent.session.reading import read_log
from detent.session.store import Store
from detent.types.content import Text
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened, Prompted

CWD = "/p"


def prompt(text: str) -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


def stored(home: Path, *entries: Entry, session: str = "s1") -> Path:
    path = Store(str(home)).path(CWD, session)
    log = FileLog(path, lambda: 1.0, home=str(home))
    for entry in (opening(session, CWD), *entries):
        log.append(entry)
    log.close()
    return Path(path)


def open_it(home: Path, **options: object) -> Journal:
    return open_journal(Options(**options), CWD, str(home), lambda: 2.0)  # type: ignore[arg-type]


def add_of_later(path: Path) -> None:
    rest = b'"v":3,"type":"prompted","seq":3}'
    with path.open("ab") as file:
        file.write(b'{"crc":"%08x",%b\n' % (crc32(b"{" + rest), rest))


def test_a_new_session_says_its_format(tmp_path: Path) -> None:
    (opened,) = read_log(str(stored(tmp_path))).entries
    assert isinstance(opened, Opened)
    assert opened.format == FORMAT == 2


def test_going_on_adds_to_the_same_file(tmp_path: Path) -> None:
    path = stored(tmp_path, prompt("a"))
    before = path.read_bytes()
    journal = open_it(tmp_path, resume="s1")
    assert (journal.session, journal.path, journal.notices) == ("s1", str(path), ())
    assert journal.log.append(prompt("b")).seq == 3
    journal.close()
    assert path.read_bytes().startswith(before)
    assert len(read_log(str(path)).entries) == 3


def test_it_is_locked_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the one who had it could write more in between, and numbers would come twice."""
    path = stored(tmp_path, prompt("a"))
    first = open_it(tmp_path, resume="s1")

    def lock(log: FileLog, really: object = FileLog.lock) -> None:
        first.log.append(prompt("the last word"))
        first.close()
        really(log)  # type: ignore[operator]

    monkeypatch.setattr(FileLog, "lock", lock)
    second = open_it(tmp_path, resume="s1")
    assert second.log.append(prompt("b")).seq == 4
    second.close()
    reading = read_log(str(path))
    assert ([entry.seq for entry in reading.entries], reading.damaged) == ([1, 2, 3, 4], 0)


def test_a_second_writer_is_told_what_to_do_instead(tmp_path: Path) -> None:
    stored(tmp_path, prompt("a"))
    first = open_it(tmp_path, resume="s1")
    with pytest.raises(InUse, match=r"session s1 is in use by another process.*--fork-session"):
        open_it(tmp_path, resume="s1")
    look = open_it(tmp_path, resume="s1", persist=False)
    assert len(look.log.entries) == 2, "looking is free"
    fork = open_it(tmp_path, resume="s1", fork=True)
    assert len(fork.log.entries) == 2
    first.close()
    fork.close()


def test_a_session_of_a_later_version_does_not_go_on(tmp_path: Path) -> None:
    path = stored(tmp_path, prompt("a"))
    add_of_later(path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"cannot go on: it holds format 3.*Update.*--fork-session"):
        open_it(tmp_path, resume="s1")
    assert path.read_bytes() == before
    with pytest.raises(BadInput, match="cannot go on"):
        open_it(tmp_path, resume="s1")  # and nobody holds it


def test_it_can_be_copied_and_looked_at_as_far_as_it_is_understood(tmp_path: Path) -> None:
    path = stored(tmp_path, prompt("a"))
    add_of_later(path)
    with path.open("ab") as file:
        file.write(frame(replace(prompt("behind it"), seq=4)))
    for options in ({"fork": True}, {"persist": False}):
        journal = open_it(tmp_path, resume="s1", **options)
        assert [type(entry) for entry in journal.log.entries] == [Opened, Prompted]
        (notice,) = journal.notices
        assert "from before format 3" in notice
        journal.close()


def test_a_log_of_which_nothing_is_understood(tmp_path: Path) -> None:
    path = stored(tmp_path)
    path.write_bytes(b"")
    add_of_later(path)
    with pytest.raises(BadInput, match=r"no session can be read.*format 3; update detent"):
        open_it(tmp_path, resume="s1")


def test_damage_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    path = stored(tmp_path, prompt("a"), prompt("b"))
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = lines[0] + b"\0" * len(lines[1]) + b"\n" + lines[2][:-20]
    path.write_bytes(damaged)
    journal = open_it(tmp_path, resume="s1")
    assert journal.notices == (f"2 lines of {path} could not be read and were passed over",)
    journal.log.append(prompt("c"))
    journal.close()
    assert path.read_bytes().startswith(damaged + b"\n")
    assert [type(entry) for entry in read_log(str(path)).entries] == [Opened, Prompted]


def test_a_damaged_beginning_costs_no_session(tmp_path: Path) -> None:
    path = stored(tmp_path, prompt("a"))
    path.write_bytes(b"x" + path.read_bytes())
    journal = open_it(tmp_path, resume="s1")
    assert journal.session == "s1"
    assert journal.log.append(prompt("b")).seq == 3
    journal.close()
    fork = open_it(tmp_path, resume="s1", fork=True)
    assert [type(entry) for entry in fork.log.entries] == [Opened, Prompted, Prompted]
    assert [entry.seq for entry in fork.log.entries] == [1, 2, 3]
    fork.close()


def test_a_fork_shares_its_blobs(tmp_path: Path) -> None:
    stored(tmp_path, prompt("x" * WHOLE))
    blobs = sorted(tmp_path.glob("blobs/*/*"))
    fork = open_it(tmp_path, resume="s1", fork=True)
    fork.close()
    assert sorted(tmp_path.glob("blobs/*/*")) == blobs
    entries = read_log(fork.path).entries
    opened = entries[0]
    assert isinstance(opened, Opened)
    assert (opened.parent, opened.format) == ("s1", FORMAT)
    assert entries[1] == fork.log.entries[1]
    assert Path(fork.path).stat().st_size < 2_000


def test_a_log_that_cannot_be_written_says_what_can_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path)

    def refuses(log: FileLog) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(FileLog, "lock", refuses)
    with pytest.raises(BadInput, match=r"cannot be written: Read-only.*--fork-session"):
        open_it(tmp_path, resume="s1")


def test_without_a_session_nothing_is_saved(tmp_path: Path) -> None:
    journal = open_it(tmp_path, persist=False)
    journal.log.append(prompt("a"))
    assert type(journal.log) is MemoryLog
    assert list(tmp_path.iterdir()) == []
