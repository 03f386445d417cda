"""Where sessions lie, and how they are found again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.session.log import FileLog
from detent.session.store import Store, slug
from detent.types.content import Text
from detent.types.events import Entry, Opened, Prompted


def opened(session: str = "s1", cwd: str = "/p") -> Opened:
    return Opened(session=session, cwd=cwd, version="0")


def prompt(text: str) -> Prompted:
    return Prompted(turn=1, content=(Text(text),))


def write(path: str, *entries: Entry) -> None:
    log = FileLog(path, lambda: 1.5)
    for entry in entries:
        log.append(entry)
    log.close()


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


def test_files_of_a_folder_newest_first(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    old, new = stored(tmp_path, "/p", "old", 100), stored(tmp_path, "/p", "new", 200)
    stored(tmp_path, "/q", "elsewhere", 300)
    assert store.files_of("/p") == [new, old]


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
