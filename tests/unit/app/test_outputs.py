"""Where long output lies, and that nobody else can have prepared the place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.app.outputs import OutputFolder


@pytest.fixture
def outputs(tmp_path: Path) -> OutputFolder:
    return OutputFolder(str(tmp_path / "beside"), str(tmp_path / "elsewhere"))


def kept(outputs: OutputFolder, name: str = "x") -> Path:
    with outputs.create(name) as file:
        file.write(b"kept")
        return Path(file.name)


def test_it_lies_beside_the_log_and_stays(outputs: OutputFolder, tmp_path: Path) -> None:
    path = kept(outputs)
    outputs.close()
    assert path == tmp_path / "beside" / "x.txt" and path.read_bytes() == b"kept"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "elsewhere").exists()


def test_it_lies_elsewhere_where_nothing_can_be_made(outputs: OutputFolder, tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("in the way")
    first, second = kept(outputs), kept(outputs)
    assert (first.name, second.name) == ("x.txt", "x-2.txt")
    assert first.parent == tmp_path / "elsewhere"
    assert first.parent.stat().st_mode & 0o777 == 0o700
    outputs.close()
    assert not first.parent.exists()


def test_an_unsaved_session_leaves_nothing(tmp_path: Path) -> None:
    outputs = OutputFolder("", str(tmp_path / "elsewhere"))
    path = kept(outputs)
    assert path.parent == tmp_path / "elsewhere"
    outputs.close()
    assert not path.parent.exists()


def test_our_own_folder_is_used_again(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir(0o700)
    assert kept(OutputFolder("", str(folder))).parent == folder


@pytest.mark.parametrize("trap", ["open", "link", "file"])
def test_a_folder_that_others_prepared_is_refused(tmp_path: Path, trap: str) -> None:
    folder, theirs = tmp_path / "elsewhere", tmp_path / "theirs"
    theirs.mkdir(0o700)
    if trap == "link":
        folder.symlink_to(theirs)
    elif trap == "file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    outputs = OutputFolder("", str(folder))
    with pytest.raises(PermissionError, match="not ours alone"):
        outputs.create("x")
    outputs.close()
    assert folder.exists() and os.listdir(theirs) == []
