"""Files are opened where they were judged, part by part, through no link."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from detent.host.beneath import folder_of, open_real
from detent.host.local import LocalHost

HOST = LocalHost()


def read(path: Path) -> bytes:
    return asyncio.run(HOST.read(str(path), 1_000, real=True))


def write(path: Path, data: bytes) -> None:
    asyncio.run(HOST.write(str(path), data, real=True))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret")
    return tmp_path / "outside"


def test_a_plain_file_is_read_and_written(tmp_path: Path) -> None:
    write(tmp_path / "new" / "deep" / "a.txt", b"one")
    assert read(tmp_path / "new" / "deep" / "a.txt") == b"one"
    write(tmp_path / "new" / "deep" / "a.txt", b"two")
    assert read(tmp_path / "new" / "deep" / "a.txt") == b"two"
    assert os.listdir(tmp_path / "new" / "deep") == ["a.txt"]


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "a.txt").symlink_to(secret / "a.txt")
    with pytest.raises(PermissionError, match="a link has come"):
        read(tmp_path / "a.txt")
    with pytest.raises(PermissionError, match="a link has come"):
        write(tmp_path / "a.txt", b"mine")
    assert (secret / "a.txt").read_text() == "secret"


def test_a_link_in_place_of_a_folder_is_not_followed(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "folder").symlink_to(secret)
    for path in (tmp_path / "folder" / "a.txt", tmp_path / "folder" / "new" / "b.txt"):
        with pytest.raises(PermissionError, match="a link has come"):
            read(path)
        with pytest.raises(PermissionError, match="a link has come"):
            write(path, b"mine")
    assert os.listdir(secret) == ["a.txt"]


def test_a_folder_that_is_bent_after_it_was_entered_changes_nothing(
    tmp_path: Path, secret: Path
) -> None:
    (tmp_path / "folder").mkdir()
    with folder_of(str(tmp_path / "folder" / "b.txt")) as (handle, name):
        (tmp_path / "folder").rename(tmp_path / "moved")
        (tmp_path / "folder").symlink_to(secret)
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=handle))
    assert os.listdir(tmp_path / "moved") == ["b.txt"]
    assert os.listdir(secret) == ["a.txt"]


def test_what_is_not_there_is_told_by_its_whole_name(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none" / "a.txt"):
        with pytest.raises(FileNotFoundError) as caught:
            open_real(str(path), os.O_RDONLY)
        assert caught.value.filename == str(path)


def test_a_file_in_the_middle_of_a_path_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        read(tmp_path / "file" / "a.txt")


def test_a_link_that_was_there_before_is_followed_where_nothing_was_judged(
    tmp_path: Path, secret: Path
) -> None:
    (tmp_path / "a.txt").symlink_to(secret / "a.txt")
    asyncio.run(HOST.write(str(tmp_path / "a.txt"), b"new"))
    assert (secret / "a.txt").read_bytes() == b"new"
    assert (tmp_path / "a.txt").is_symlink()


def test_no_descriptor_is_left_open(tmp_path: Path, secret: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    (tmp_path / "folder").symlink_to(secret)
    for _ in range(5):
        write(tmp_path / "b.txt", b"x")
        with pytest.raises(PermissionError):
            read(tmp_path / "folder" / "a.txt")
    assert len(os.listdir("/proc/self/fd")) == before
