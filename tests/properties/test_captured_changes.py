"""What a command changed is exactly the difference: random trees, random shell scripts."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.workspace import MirroredWorkspace
from detent.session.blobs import Blobs
from detent.types.files import Change, FileState
from shellbench import run

NAMES = ["a", "b", "c", "d.txt", "e.log", "keep.log", "ü", "sp ace", "out"]
IGNORES = [
    "*.log\n",
    "*.log\n!keep.log\n",
    "/out\n",
    "out/\n",
    "b/*\n!b/a\n",
    "**/c\n",
    "a/d.txt\n",
]
MODES = ["600", "644", "755", "700"]

names = st.sampled_from(NAMES)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
words = st.sampled_from(["one", "two", "three\nfour", ""])


def quoted(path: str) -> str:
    return f"'{path}'"


def lines() -> st.SearchStrategy[str]:
    one, two = paths.map(quoted), st.tuples(paths.map(quoted), paths.map(quoted))
    in_place = (  # same size, and the time put back: only the bytes tell
        "[ -f {0} ] && touch -r {0} ../time && printf X | dd of={0} bs=1 conv=notrunc && "
        "touch -r ../time {0}"
    )
    return st.one_of(
        st.tuples(words, one).map(lambda t: f"printf '{t[0]}' > {t[1]}"),
        st.tuples(words, one).map(lambda t: f"printf '{t[0]}' >> {t[1]}"),
        one.map(lambda p: f"mkdir -p {p}"),
        one.map(lambda p: f"mkdir -p {p} && printf new > {p}/d.txt"),
        one.map(lambda p: f"rm -rf {p}"),
        one.map(lambda p: f"rm -rf {p}; mkdir {p} && printf again > {p}/a"),
        two.map(lambda t: f"mv {t[0]} {t[1]}"),
        two.map(lambda t: f"mv {t[0]} ../aside && mv {t[1]} {t[0]}; mv ../aside {t[1]}"),
        two.map(lambda t: f"cp -r {t[0]} {t[1]}"),
        two.map(lambda t: f"ln {t[0]} {t[1]}"),
        two.map(lambda t: f"ln -s {t[0]} {t[1]}"),
        st.tuples(st.sampled_from(MODES), one).map(lambda t: f"chmod {t[0]} {t[1]}"),
        st.tuples(st.integers(0, 9), one).map(lambda t: f"truncate -s {t[0]} {t[1]}"),
        one.map(lambda p: f"[ -f {p} ] && sed -i s/o/0/ {p}"),
        one.map(lambda p: f"touch {p}"),
        one.map(in_place.format),
    )


scripts = st.lists(lines(), max_size=8).map("\n".join)


Snapshot = dict[str, tuple[str, int, bytes | str]]


def state(path: str) -> tuple[str, int, bytes | str]:
    facts = os.lstat(path)
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode):
        return "link", 0, os.readlink(path)
    if stat.S_ISDIR(facts.st_mode):
        return "folder", mode, ""
    if stat.S_ISREG(facts.st_mode):
        return "file", mode, Path(path).read_bytes()
    return "other", mode, ""


def snapshot(root: Path, git: Path) -> Snapshot:
    """Everything that git would not ignore, by git's own word."""
    found = []
    for folder, folders, files in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, name), root) for name in folders + files]
    asked = subprocess.run(
        ["git", f"--git-dir={git}", f"--work-tree={root}", "check-ignore", "--no-index", "-z",
         "--stdin"],
        input="\0".join(found).encode(),
        cwd=root,
        capture_output=True,
        check=False,
    )  # fmt: skip
    assert asked.returncode in (0, 1), asked.stderr
    ignored = set(asked.stdout.decode().split("\0"))
    return {path: state(os.path.join(root, path)) for path in found if path not in ignored}


def expected(before: Snapshot, after: Snapshot) -> dict[str, tuple[object, object]]:
    return {
        path: (before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }


def told(changes: tuple[Change, ...], root: Path, blobs: Blobs) -> dict[str, tuple[object, object]]:
    def plain(found: FileState) -> object:
        if found.kind == "none":
            return None
        content: bytes | str = found.target
        if found.kind == "file":
            assert found.digest
            content = blobs.get(found.digest)
            assert len(content) == found.size
        return found.kind, found.mode, content

    assert len({change.path for change in changes}) == len(changes)
    return {
        os.path.relpath(each.path, root): (plain(each.before), plain(each.after))
        for each in changes
    }


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to ask what is ignored. It holds nothing, so all trees can share it."""
    git = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q", "--bare", "--template=", str(git)], check=True)
    subprocess.run(["git", f"--git-dir={git}", "config", "core.bare", "false"], check=True)
    return git


def blind(workspace: MirroredWorkspace) -> None:
    """As where the system tells nothing."""
    for tree in workspace.trees:
        tree.stop_watching()


@pytest.mark.parametrize("is_watched", [True, False], ids=["watched", "scanned"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    first=st.lists(lines(), min_size=3, max_size=12).map("\n".join),
    ignores=st.dictionaries(st.sampled_from(["", "a/", "b/"]), st.sampled_from(IGNORES)),
    others=st.lists(scripts, min_size=2, max_size=2),
    commands=st.lists(scripts, min_size=2, max_size=2),
)
def test_changed_is_exactly_the_difference(
    is_watched: bool,
    git: Path,
    first: str,
    ignores: dict[str, str],
    others: list[str],
    commands: list[str],
) -> None:
    """Also with what others do between the calls: that is nobody's."""
    with TemporaryDirectory() as top:
        root, home = Path(top, "work"), Path(top, "home")
        root.mkdir()
        run(first, root)
        for folder, text in ignores.items():
            if folder == "" or (root / folder).is_dir():
                (root / folder / ".gitignore").write_text(text)
        workspace = MirroredWorkspace([str(root)], str(home), Terms(), Blobs(str(home)))
        if not is_watched:
            blind(workspace)
        try:
            for other, command in zip(others, commands, strict=True):
                run(other, root)
                workspace.settle(workspace.touched(), "call")
                before = snapshot(root, git)
                run(command, root)
                changes = workspace.changes(workspace.touched())
                wanted = expected(before, snapshot(root, git))
                assert told(changes, root, Blobs(str(home))) == wanted
        finally:
            workspace.close()
