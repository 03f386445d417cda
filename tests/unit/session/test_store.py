"""Where sessions lie, who may write them, and what happens when the disk says no."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from detent.session import log as log_module
from detent.session.log import FileLog, Locked, MemoryLog, read_log
from detent.session.store import Store, read_card, slug
from detent.types.content import Text
from detent.types.events import Entry, Opened, Prompted, Switched, TurnEnded


def opened(session: str = "s1", cwd: str = "/p") -> Opened:
    return Opened(session=session, cwd=cwd, version="0")


def prompt(text: str) -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


def write(path: str, *entries: Entry) -> None:
    log = FileLog(path, lambda: 1.5)
    for entry in entries:
        log.append(entry)
    log.close()


# The log


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
    assert len(sizes) == 2
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


def test_a_full_disk_leaves_the_session_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = FileLog(str(tmp_path / "s.jsonl"), lambda: 1.0)
    log.append(opened())

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(log_module.os, "write", full)
        log.append(prompt("a"))
    assert "No space left" in log.trouble
    assert log.path in log.trouble
    log.append(prompt("b"))
    assert len(log.entries) == 3, "it goes on"
    log.close()
    assert len(read_log(log.path).entries) == 1, "and nothing is written behind a gap"


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


# The store


def stored(home: Path, cwd: str, session: str, at: float, *more: Entry) -> str:
    path = Store(str(home)).path(cwd, session)
    write(path, opened(session, cwd), *more)
    os.utime(path, (at, at))
    return path


def test_the_newest_of_a_folder(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert store.newest("/p") is None
    stored(tmp_path, "/p", "old", 100)
    new = stored(tmp_path, "/p", "new", 200)
    stored(tmp_path, "/q", "elsewhere", 300)
    assert store.newest("/p") == new


def test_sessions_are_found_by_id_or_its_beginning(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    one = stored(tmp_path, "/p", "abc-1", 100)
    two = stored(tmp_path, "/q", "abd-2", 100)
    assert store.find("abc-1", "/p") == one
    assert store.find("abd-2", "/p") == two, "also of another folder"
    assert store.find("abd", "/p") == two
    assert store.find("ab", "/p") is None, "not when two begin so"
    assert store.find("x", "/p") is None


def test_an_exact_id_beats_a_beginning(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    stored(tmp_path, "/q", "abc", 100)
    stored(tmp_path, "/q", "abcd", 100)
    assert store.find("abc", "/p") == store.path("/q", "abc")


def test_the_session_of_this_folder_is_preferred(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    stored(tmp_path, "/q", "same", 100)
    here = stored(tmp_path, "/p", "same", 100)
    assert store.find("same", "/p") == here


def test_cards_newest_first(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    ended = TurnEnded(turn=1, reason="end_turn")
    stored(tmp_path, "/p", "one", 100, prompt("  fix\n the   bug "), ended, prompt("more"), ended)
    stored(tmp_path, "/q", "two", 200, prompt("x" * 200))
    cards = store.cards()
    assert [card.id for card in cards] == ["two", "one"]
    assert cards[1].title == "fix the bug"
    assert (cards[1].turns, cards[1].cwd, cards[1].active) == (2, "/p", 100)
    assert len(cards[0].title) == 80
    assert [card.id for card in store.cards("/p")] == ["one"]


def test_files_that_are_no_sessions_are_passed_over(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    stored(tmp_path, "/p", "one", 100)
    folder = tmp_path / "sessions" / slug("/p")
    (folder / "junk.jsonl").write_bytes(b"\0\0\0")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "notes.txt").write_text("hi")
    assert [card.id for card in store.cards()] == ["one"]
    assert read_card(str(folder / "missing.jsonl")) is None


def test_a_session_without_a_prompt_has_no_title(tmp_path: Path) -> None:
    card = read_card(stored(tmp_path, "/p", "one", 100))
    assert card is not None
    assert (card.title, card.turns) == ("", 0)


@pytest.mark.parametrize(
    ("cwd", "name"), [("/p/a b", "p-a-b-"), ("/", "-"), ("/ü/x", "x-"), ("/a.b_c", "a-b-c-")]
)
def test_a_folder_name_for_a_path_is_readable(cwd: str, name: str) -> None:
    assert slug(cwd).startswith(name)
    assert all(char.isascii() and (char.isalnum() or char == "-") for char in slug(cwd))


def test_different_paths_never_share_a_folder() -> None:
    paths = ["/p/a-b", "/p/a_b", "/p/a/b", "/p-a-b", "/p/a b", "/"]
    assert len({slug(path) for path in paths}) == len(paths)


def test_long_paths_get_short_and_different_names() -> None:
    one, two = slug("/" + "a" * 500 + "1"), slug("/" + "a" * 500 + "2")
    assert len(one) <= 180
    assert one != two
