"""The mirror is a cache: it remembers, and whatever happens to it, it never lies."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from detent.session import mirror as module
from detent.session.mirror import Mirror, Seen, sweep
from detent.types.files import FileState


def file(mirror: Mirror, data: bytes) -> Seen:
    offset = mirror.add(data)
    return Seen(stat.S_IFREG | 0o644, len(data), 1, 2, 3, sha256(data).digest(), offset)


def filled(folder: Path, **files: bytes) -> None:
    mirror = Mirror(str(folder))
    names: dict[str, Seen | None] = {name: file(mirror, data) for name, data in files.items()}
    mirror.write([("", names)])
    mirror.close()


def contents(mirror: Mirror) -> dict[str, bytes]:
    return {name: mirror.get(seen) for name, seen in mirror.folders.get("", {}).items()}


def test_it_remembers(tmp_path: Path) -> None:
    filled(tmp_path / "m", a=b"one", b=b"two")
    again = Mirror(str(tmp_path / "m"))
    assert contents(again) == {"a": b"one", "b": b"two"}
    again.write([("", {"a": None, "c": file(again, b"three")}), ("deep", {})])
    again.write([("deep", None)], running="call_1")
    again.close()
    third = Mirror(str(tmp_path / "m"))
    assert contents(third) == {"b": b"two", "c": b"three"}
    assert (third.running, "deep" in third.folders) == ("call_1", False)
    third.close()


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    filled(tmp_path / "mirrors" / "m", a=b"secret")
    assert stat.S_IMODE((tmp_path / "mirrors").stat().st_mode) == 0o700
    (tmp_path / "mirrors" / "m").rename(tmp_path / "m")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o700


def test_bytes_that_wait_to_be_written_can_be_read(tmp_path: Path) -> None:
    mirror = Mirror(str(tmp_path))
    small, large = b"x", b"y" * (module.BUFFER + 1)
    seen = [file(mirror, data) for data in (small, large, small)]
    assert [mirror.get(each) for each in seen] == [small, large, small]
    mirror.close()


def test_damage_anywhere_makes_it_empty_or_leaves_what_was_whole(tmp_path: Path) -> None:
    """Every byte of the index, and every place where it may be cut off."""
    folder = tmp_path / "m"
    filled(folder, a=b"one", b=b"two")
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    index = whole["index"]
    for position in range(len(index)):
        flipped = index[:position] + bytes([index[position] ^ 0x41]) + index[position + 1 :]
        for data in (flipped, index[:position]):
            for name, content in {**whole, "index": data}.items():
                (folder / name).write_bytes(content)
            mirror = Mirror(str(folder))
            assert mirror.folders == {}
            mirror.close()


def test_an_empty_one_takes_the_place_of_a_lost_pack(tmp_path: Path) -> None:
    filled(tmp_path / "m", a=b"one")
    (pack,) = (tmp_path / "m").glob("pack-*")
    pack.unlink()
    mirror = Mirror(str(tmp_path / "m"))
    assert mirror.folders == {}
    mirror.write([("", {"b": file(mirror, b"two")})])
    mirror.close()
    again = Mirror(str(tmp_path / "m"))
    assert contents(again) == {"b": b"two"}
    again.close()


def test_a_pack_that_is_mostly_of_no_use_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SPARE", 10)
    mirror = Mirror(str(tmp_path / "m"))
    mirror.folders[""] = {"b": file(mirror, b"stays")}
    for number in range(20):
        mirror.folders[""]["a"] = file(mirror, b"ten bytes%d" % (number % 10))
        mirror.write([("", dict(mirror.folders[""]))])
        if mirror.is_wasteful(15):
            mirror.renew("call")
    whole = {"a": b"ten bytes9", "b": b"stays"}
    assert contents(mirror) == whole
    mirror.write([("", {"c": file(mirror, b"more")})], "call")
    mirror.close()
    (pack,) = (tmp_path / "m").glob("pack-*")
    assert pack.stat().st_size <= 44
    again = Mirror(str(tmp_path / "m"))
    assert (contents(again), again.running) == ({**whole, "c": b"more"}, "call")
    again.close()


def test_a_pack_that_cannot_be_renewed_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = Mirror(str(tmp_path))
    mirror.folders[""] = {"a": file(mirror, b"one")}
    mirror.write([("", dict(mirror.folders[""]))])

    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module, "_write_all", full)
        with pytest.raises(OSError):
            mirror.renew("")
    assert len(list(tmp_path.glob("pack-*"))) == 1 and contents(mirror) == {"a": b"one"}
    mirror.close()
    again = Mirror(str(tmp_path))
    assert contents(again) == {"a": b"one"}
    again.close()


def test_it_leaves_room_on_the_disk_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = Mirror(str(tmp_path))
    free = mirror.room()
    assert free < os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    monkeypatch.setattr(
        os, "statvfs", lambda folder: os.statvfs_result((1, 1, 1000, 99, 99) + (0,) * 5)
    )
    assert mirror.room() < 0, "the last tenth of a small one"
    mirror.close()


def test_a_second_one_reads_along_and_writes_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "m", a=b"one")
    first = Mirror(str(tmp_path / "m"))
    second = Mirror(str(tmp_path / "m"))
    assert (first.is_shared, second.is_shared) == (False, True)
    mine, yours = file(second, b"mine"), file(first, b"yours, and longer")
    second.write([("", {"b": mine})])
    first.write([("", {"b": yours})])
    assert contents(second) == {"a": b"one"}
    assert (second.get(mine), first.get(yours)) == (b"mine", b"yours, and longer")
    second.close()
    first.close()
    third = Mirror(str(tmp_path / "m"))
    assert contents(third) == {"a": b"one", "b": b"yours, and longer"}
    third.close()


def test_a_second_one_before_the_first_has_written_anything(tmp_path: Path) -> None:
    first, second = Mirror(str(tmp_path)), Mirror(str(tmp_path))
    seen = file(second, b"mine")
    assert second.get(seen) == b"mine"
    first.close()
    second.close()


def test_a_spoilt_one_is_begun_anew(tmp_path: Path) -> None:
    filled(tmp_path / "m", a=b"one")
    mirror = Mirror(str(tmp_path / "m"))
    mirror.spoil()
    mirror.close()
    again = Mirror(str(tmp_path / "m"))
    assert again.folders == {}
    again.close()


def test_what_nobody_uses_any_more_is_swept(tmp_path: Path) -> None:
    for name in ("old", "new", "kept"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / "old", (1, 1))
    os.utime(tmp_path / "kept", (1, 1))
    sweep(str(tmp_path), 1000.0, 1000.0, ["kept"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "new"]


def test_what_is_a_mirror_of_nothing_is_swept_earlier(tmp_path: Path) -> None:
    mirrors, there = tmp_path / "mirrors", tmp_path / "there"
    there.mkdir()
    for name, root in (("here", there), ("gone", tmp_path / "gone"), ("just", tmp_path / "just")):
        Mirror(str(mirrors / name), str(root)).close()
        os.utime(mirrors / name, (100, 100 if name != "just" else 900))
    (mirrors / "odd").mkdir()
    os.utime(mirrors / "odd", (100, 100))
    sweep(str(mirrors), 50.0, 500.0, [])
    assert sorted(path.name for path in mirrors.iterdir()) == ["here", "just", "odd"]


def test_a_mirror_of_another_folder_is_none(tmp_path: Path) -> None:
    mirror = Mirror(str(tmp_path), "/one")
    mirror.write([("", {"a": file(mirror, b"one")})])
    mirror.close()
    other = Mirror(str(tmp_path), "/other")
    assert other.folders == {}
    other.close()


def seen(mode: int, **more: object) -> Seen:
    facts = {"size": 3, "changed": 1, "stamped": 2, "inode": 3, **more}
    return Seen(mode, **facts)  # type: ignore[arg-type]


FILE, LINK = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (seen(FILE, digest=b"d"), seen(FILE, digest=b"d", changed=9, stamped=9, inode=9), True),
        (seen(FILE, digest=b"d"), seen(FILE, digest=b"e"), False),
        (seen(FILE, digest=b"d"), seen(stat.S_IFREG | 0o755, digest=b"d"), False),
        (seen(FILE), seen(FILE, digest=b"d"), True),
        (seen(FILE), seen(FILE, changed=9), False),
        (seen(FILE), seen(FILE, inode=9), False),
        (seen(LINK, target="a"), seen(LINK, target="b"), False),
        (seen(LINK, target="a"), seen(LINK, target="a", changed=9), True),
        (seen(stat.S_IFDIR | 0o755), seen(stat.S_IFDIR | 0o755, changed=9, inode=9), True),
    ],
)
def test_what_counts_as_the_same(one: Seen, other: Seen, is_same: bool) -> None:
    assert one.is_same(other) is is_same
    assert other.is_same(one) is is_same


def test_states_are_those_of_the_log() -> None:
    assert seen(FILE, digest=b"\x01").state == FileState("file", 0o644, 3, "01")
    assert seen(LINK, target="a").state == FileState("link", target="a")
    assert seen(stat.S_IFDIR | 0o700).state == FileState("folder", 0o700)
    assert seen(stat.S_IFIFO | 0o600).state == FileState("other", 0o600)
