"""Worktrees of subagents: made of what is there, merged whole or not at all, and nothing else of
the repository is touched."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from detent.app.agents.files import worktree_git
from detent.app.agents.files.merging import Merged, merge
from detent.app.agents.files.sharing import Sharing
from detent.app.agents.files.worktrees import Worktree, discard, open_worktree
from detent.app.checkpoints.keeper import FileKeeper
from detent.app.checkpoints.terms import Terms
from detent.app.desk import KeptFiles
from detent.ports.delegation import CannotDelegate
from detent.session.blobs import Blobs
from detent.session.undo import deeds_of, moves_since
from detent.types.agents import ChildChanged
from detent.types.events import Entry

Result = TypeVar("Result")
AGENT = "agent-1"


class Bench:
    """A repository, and what its session has recorded."""

    def __init__(self, folder: Path) -> None:
        self.top = Path(os.path.realpath(folder)) / "work"
        self.home = folder / "home"
        self.top.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "A")
        self.told: list[Entry] = []
        self.blobs = Blobs(str(self.home))
        kept = KeptFiles(self._keeper)
        self.kept = kept
        self.sharing = Sharing(kept, self.told.append)

    def _keeper(self) -> FileKeeper:
        roots = [str(self.top)]
        home = str(self.home)
        return FileKeeper(roots, home, Terms(), self.blobs, lambda text: None, self.kept.found)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.top,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        return done.stdout

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.top / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, **files: str) -> None:
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-qm", "one")

    async def open(self, agent: str = AGENT, **more: Any) -> Worktree:
        cwd = more.pop("cwd", str(self.top))
        roots = more.pop("roots", [str(self.top)])
        return await open_worktree(cwd, agent, self.environ, roots, **more)

    async def merge(
        self, tree: Worktree, refusal: Callable[[Sequence[str]], str] = lambda paths: ""
    ) -> Merged:
        files = self.sharing.of(tree.agent, "worker")
        return await merge(tree, files, self.blobs, [str(self.top)], refusal)

    def user_state(self) -> tuple[str, ...]:
        """What is the user's in the repository."""
        seen = ("status --porcelain", "branch -a", "stash list", "reflog", "diff --cached")
        index = (self.top / ".git" / "index").read_bytes() if self.git("ls-files") else b""
        return (*(self.git(*what.split()) for what in seen), str(index))

    def files(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for folder, folders, files in os.walk(self.top):
            folders[:] = [name for name in folders if name != ".git"]
            for name in (*files, *(f for f in folders if os.path.islink(os.path.join(folder, f)))):
                path = os.path.join(folder, name)
                is_link = os.path.islink(path)
                text = os.readlink(path) if is_link else Path(path).read_bytes().decode("latin-1")
                runs = "x" if not is_link and os.access(path, os.X_OK) else ""
                found[os.path.relpath(path, self.top)] = f"{'->' if is_link else ''}{text}{runs}"
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    made = Bench(tmp_path)
    yield made
    made.kept.close()


def at(folder: str, *names: str) -> Path:
    return Path(folder, *names)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(work)


def test_it_begins_as_what_is_there_and_the_users_repository_is_as_it_was(bench: Bench) -> None:
    bench.commit(a="one\n", sub__b="two\n", gone="x", **{".gitignore": "left-out\n"})
    bench.write(a="changed\n", new="untracked\n", **{"left-out": "secret"})
    (bench.top / "gone").unlink()
    (bench.top / "link").symlink_to("a")
    bench.write(staged="in the index\n")
    bench.git("add", "staged")
    before = bench.user_state()
    tree = run(bench.open(cwd=str(bench.top / "sub")))
    top = Path(tree.top)
    assert tree.folder == str(top / "sub")
    assert (top / "a").read_text() == "changed\n"
    assert (top / "sub" / "b").read_text() == "two\n"
    assert (top / "new").read_text() == "untracked\n"
    assert (top / "staged").exists() and os.readlink(top / "link") == "a"
    assert not (top / "gone").exists() and not (top / "left-out").exists()
    assert bench.user_state() == before
    assert bench.git("status", "--porcelain", cwd=top) == "", "git works in it"
    assert bench.git("branch", "--show-current", cwd=top) == "", "on no branch"
    assert "one" in bench.git("log", "--format=%s", cwd=top)
    run(discard(tree))
    assert not (bench.top / ".detent-worktrees").exists()
    assert not (bench.top / ".git" / "worktrees").exists()
    assert bench.user_state() == before


def test_what_it_changes_is_merged_and_can_be_taken_back(bench: Bench) -> None:
    bench.commit(a="one\n", d__b="two\n", d__c="three\n", keep="k", run="#!/bin/sh\n", bin="\0\1")
    (bench.top / "link").symlink_to("a")
    first, before = bench.files(), bench.user_state()

    async def work() -> Merged:
        tree = await bench.open()
        top = Path(tree.top)
        (top / "a").write_text("one\nmore\n")
        (top / "d" / "b").unlink()
        (top / "d" / "c").unlink()
        (top / "d").rmdir()
        (top / "run").chmod(0o755)
        (top / "bin").write_bytes(b"\0\2")
        (top / "link").unlink()
        (top / "link").symlink_to("keep")
        (top / "new" / "deep").mkdir(parents=True)
        (top / "new" / "deep" / "file").write_text("n")
        (top / "keep").rename(top / "moved")
        return await bench.merge(tree)

    merged = run(work())
    assert merged.is_done, merged
    after = bench.files()
    assert after == {
        "a": "one\nmore\n",
        "run": "#!/bin/sh\nx",
        "bin": "\0\2",
        "link": "->keep",
        "new/deep/file": "n",
        "moved": "k",
    }
    assert not (bench.top / "d").exists()
    assert not (bench.top / ".detent-worktrees").exists(), "it is gone"
    assert bench.user_state()[1:4] == before[1:4], "branches, stashes, reflog"
    words = merged.words(Worktree(*[""] * 6))  # type: ignore[arg-type]
    assert "a (+1 −0)" in words and "d/b (removed)" in words and "bin (binary)" in words
    assert "moved (new, +1 −0)" in words
    (told,) = bench.told
    assert isinstance(told, ChildChanged) and told.agent == AGENT
    from detent.app.undo.applying import apply

    moves = moves_since(deeds_of(bench.told), -1)
    applied = apply(moves, bench.blobs, [str(bench.top)], is_again=False, merges=False)
    assert not applied.left
    assert bench.files() == first, "all of it, folders too"


def test_lines_of_both_sides_count_where_they_do_not_meet(bench: Bench) -> None:
    lines = [f"{number}\n" for number in range(20)]
    bench.commit(a="".join(lines))

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").write_text("".join(["child\n", *lines[1:]]))
        (bench.top / "a").write_text("".join([*lines[:-1], "parent\n"]))
        (bench.top / "a").chmod(0o755)
        return await bench.merge(tree)

    assert run(work()).is_done
    assert (bench.top / "a").read_text() == "".join(["child\n", *lines[1:-1], "parent\n"])
    assert os.access(bench.top / "a", os.X_OK), "its mode stays the parent's"


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (lambda top: (top / "a").write_text("child"), lambda top: (top / "a").write_text("parent")),
        (lambda top: (top / "a").unlink(), lambda top: (top / "a").write_text("parent")),
        (lambda top: (top / "a").write_text("child"), lambda top: (top / "a").unlink()),
        (lambda top: (top / "n").write_text("child"), lambda top: (top / "n").write_text("parent")),
        (lambda top: (top / "n").write_text("child"), lambda top: (top / "n").mkdir()),
        (lambda top: (top / "b").write_bytes(b"\0c"), lambda top: (top / "b").write_bytes(b"\0p")),
        (
            lambda top: ((top / "l").unlink(), (top / "l").symlink_to("b")),
            lambda top: ((top / "l").unlink(), (top / "l").write_text("file")),
        ),
    ],
)
def test_with_one_conflict_nothing_is_merged(
    bench: Bench, child: Callable[[Path], object], parent: Callable[[Path], object]
) -> None:
    bench.commit(a="one\n", b="\0\0", other="o\n")
    (bench.top / "l").symlink_to("a")

    async def work() -> tuple[Worktree, Merged, dict[str, str]]:
        tree = await bench.open()
        child(Path(tree.top))
        at(tree.top, "other").write_text("also the child's\n")
        parent(bench.top)
        if (bench.top / "n").is_dir():
            (bench.top / "n" / "file").write_text("in the way")
        here = bench.files()
        return tree, await bench.merge(tree), here

    tree, merged, here = run(work())
    assert len(merged.conflicts) == 1
    assert bench.files() == here and bench.told == []
    words = merged.words(tree)
    assert "Nothing was merged" in words and tree.top in words
    assert os.path.basename(merged.conflicts[0].path) in words
    assert at(tree.top, "other").read_text() == "also the child's\n", "the worktree is kept"


def test_the_same_change_on_both_sides_is_no_conflict(bench: Bench) -> None:
    bench.commit(a="one\n")

    async def work() -> Merged:
        tree = await bench.open()
        for top in (Path(tree.top), bench.top):
            (top / "a").write_text("same\n")
            (top / "n").write_text("new\n")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert (bench.top / "a").read_text() == "same\n"


def test_a_file_in_place_of_a_folder_and_the_other_way_round(bench: Bench) -> None:
    bench.commit(d__x="x", f="f")

    async def work() -> Merged:
        tree = await bench.open()
        top = Path(tree.top)
        (top / "d" / "x").unlink()
        (top / "d").rmdir()
        (top / "d").write_text("a file now")
        (top / "f").unlink()
        (top / "f").mkdir()
        (top / "f" / "y").write_text("in a folder now")
        return await bench.merge(tree)

    merged = run(work())
    assert merged.is_done, merged
    assert bench.files() == {"d": "a file now", "f/y": "in a folder now"}


def test_a_folder_that_holds_more_here_stays(bench: Bench) -> None:
    bench.commit(d__b="two\n", **{".gitignore": "left-out\n"})
    (bench.top / "d" / "left-out").write_text("mine")

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "d", "b").unlink()
        at(tree.top, "d").rmdir()
        return await bench.merge(tree)

    merged = run(work())
    assert merged.is_done, merged
    assert not (bench.top / "d" / "b").exists() and (bench.top / "d" / "left-out").exists()


def test_without_changes_it_goes_and_commits_of_its_own_count(bench: Bench) -> None:
    bench.commit(a="one\n")

    async def nothing() -> Merged:
        return await bench.merge(await bench.open())

    assert run(nothing()).files == ()
    assert not (bench.top / ".detent-worktrees").exists() and bench.told == []

    async def committed() -> Merged:
        tree = await bench.open("agent-2")
        at(tree.top, "a").write_text("two\n")
        bench.git("commit", "-qam", "by the child", cwd=Path(tree.top))
        return await bench.merge(tree)

    assert run(committed()).is_done
    assert (bench.top / "a").read_text() == "two\n"
    assert "by the child" not in bench.git("log", "--all"), "only the files count"


def test_what_the_parent_may_not_write_is_not_merged(bench: Bench) -> None:
    bench.commit(a="one\n", b="two\n")

    async def work() -> tuple[Worktree, Merged]:
        tree = await bench.open()
        at(tree.top, "a").write_text("child")
        at(tree.top, "b").write_text("child")

        def refusal(paths: Sequence[str]) -> str:
            return "a rule denies it" if f"{bench.top}/b" in paths else ""

        return tree, await bench.merge(tree, refusal)

    _, merged = run(work())
    assert [one.path for one in merged.conflicts] == [f"{bench.top}/b"]
    assert (bench.top / "a").read_text() == "one\n"


def test_what_may_not_be_read_or_lies_outside_of_the_workspace_is_not_in_it(bench: Bench) -> None:
    bench.commit(secret="s", sub__a="one\n", sub__secret="s", other__b="two\n")

    async def work() -> Merged:
        tree = await bench.open(
            cwd=str(bench.top / "sub"),
            roots=[str(bench.top / "sub")],
            is_hidden=lambda path: path.endswith("secret"),
        )
        assert tree.top == str(bench.top / "sub" / ".detent-worktrees" / AGENT)
        held = {name for _, _, files in os.walk(tree.top) for name in files}
        assert held == {".git", "a"}
        at(tree.folder, "a").write_text("child\n")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert (bench.top / "sub" / "a").read_text() == "child\n"
    assert (bench.top / "secret").exists() and (bench.top / "other" / "b").exists()


def test_one_that_is_left_of_an_earlier_run_is_gone_on_with(bench: Bench) -> None:
    bench.commit(a="one\n")
    tree = run(bench.open())
    at(tree.top, "a").write_text("half done\n")
    bench.git("commit", "-qam", "half", cwd=Path(tree.top))
    again = run(bench.open())
    assert again == tree, "also what it began with"
    assert run(bench.merge(again)).is_done
    assert (bench.top / "a").read_text() == "half done\n"


def test_reasons_why_there_can_be_none(bench: Bench, tmp_path: Path) -> None:
    bare = tmp_path / "plain"
    bare.mkdir()
    with pytest.raises(CannotDelegate, match="no git repository"):
        run(bench.open(cwd=str(bare), roots=[str(bare)]))
    bench.write(a="a")
    empty = {**bench.environ, "PATH": str(bare)}
    with pytest.raises(CannotDelegate, match="needs git"):
        run(open_worktree(str(bench.top), AGENT, empty, [str(bench.top)]))
    (bare / ".gitignore").write_text("")
    bare.chmod(0o755)
    (bench.top / ".detent-worktrees").symlink_to(bare)
    with pytest.raises(CannotDelegate, match="link"):
        run(bench.open())
    assert [one.name for one in bare.iterdir()] == [".gitignore"]
    assert stat.S_IMODE(bare.stat().st_mode) == 0o755
    (bench.top / ".detent-worktrees").unlink()
    with pytest.raises(CannotDelegate, match="no name"):
        run(bench.open("../../etc"))


def test_a_repository_without_a_commit_will_do(bench: Bench) -> None:
    bench.write(a="one\n")

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").write_text("two\n")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert (bench.top / "a").read_text() == "two\n"


def test_an_empty_folder_before_or_after_will_do(bench: Bench) -> None:
    async def first() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").write_text("one\n")
        return await bench.merge(tree)

    assert run(first()).is_done
    assert bench.files() == {"a": "one\n"}

    async def last() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").unlink()
        return await bench.merge(tree)

    assert run(last()).is_done
    assert bench.files() == {}


def test_nothing_of_the_repository_is_run(bench: Bench, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    bad = tmp_path / "bad.sh"
    bad.write_text(f"#!/bin/sh\necho $0 >> {trace}\ncat\n")
    bad.chmod(0o755)
    bench.commit(a="one\n", **{".gitattributes": "* filter=evil diff=evil\n"})
    hooks = bench.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "pre-commit", "reference-transaction"):
        (hooks / hook).symlink_to(bad)
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv",
                "filter.evil.process", "diff.external"):  # fmt: skip
        bench.git("config", key, str(bad))
    trace.unlink(missing_ok=True)

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").write_text("two\n")
        (bench.top / "b").write_text("x")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert not trace.exists(), trace.read_text()


def test_a_forged_git_file_in_it_leads_nowhere(bench: Bench, tmp_path: Path) -> None:
    bench.commit(a="one\n")
    trace, bad = tmp_path / "ran", tmp_path / "bad.sh"
    bad.write_text(f"#!/bin/sh\ntouch {trace}\n")
    bad.chmod(0o755)

    async def work() -> Merged:
        tree = await bench.open()
        other = Path(tree.top) / "forged"
        bench.git("init", "-q", str(other))
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        bench.git(*who, "commit", "-q", "--allow-empty", "-m", "one", cwd=other)
        bench.git("config", "core.fsmonitor", str(bad), cwd=other)
        at(tree.top, ".git").write_text(f"gitdir: {other}/.git\n")
        at(tree.top, "a").write_text("two\n")
        return await bench.merge(tree)

    merged = run(work())
    assert not trace.exists()
    assert [one.path for one in merged.files if one.path == "a"], merged


def test_files_that_git_would_write_otherwise_are_no_conflict(bench: Bench) -> None:
    bench.git("config", "core.autocrlf", "true")
    lines = b"1\r\n2\r\n3\r\n"
    (bench.top / "b").write_bytes(lines)
    bench.commit(a="one\r\ntwo\r\n")

    async def work() -> Merged:
        tree = await bench.open()
        assert at(tree.top, "a").read_bytes() == b"one\r\ntwo\r\n"
        at(tree.top, "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
        at(tree.top, "b").write_bytes(b"child\r\n" + lines)
        (bench.top / "b").write_bytes(lines + b"parent\r\n")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert (bench.top / "a").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    assert (bench.top / "b").read_bytes() == b"child\r\n" + lines + b"parent\r\n"


def test_files_outside_of_a_sparse_checkout_are_not_taken_for_removed(bench: Bench) -> None:
    bench.commit(a__x="x\n", b__y="y\n")
    bench.git("sparse-checkout", "set", "a")
    assert not (bench.top / "b").exists()

    async def work() -> Merged:
        tree = await bench.open()
        assert at(tree.top, "b", "y").exists()
        at(tree.top, "a", "x").write_text("child\n")
        return await bench.merge(tree)

    merged = run(work())
    assert [one.path for one in merged.files] == ["a/x"] and merged.is_done
    assert bench.git("status", "--porcelain") == " M a/x\n"


def test_what_it_changes_outside_of_a_sparse_checkout_is_not_lost(bench: Bench) -> None:
    bench.commit(a__x="x\n", b__y="y\n")
    bench.git("sparse-checkout", "set", "a")

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "b", "y").write_text("child\n")
        return await bench.merge(tree)

    assert [one.path for one in run(work()).conflicts] == [f"{bench.top}/b/y"]


def test_a_mode_and_a_content_that_change_on_different_sides(bench: Bench) -> None:
    bench.commit(a="one\n", b="two\n")

    async def work() -> Merged:
        tree = await bench.open()
        at(tree.top, "a").write_text("child\n")
        (bench.top / "a").chmod(0o755)
        at(tree.top, "b").chmod(0o755)
        (bench.top / "b").write_text("parent\n")
        return await bench.merge(tree)

    assert run(work()).is_done
    assert bench.files() == {"a": "child\nx", "b": "parent\nx"}


def test_a_worktree_within_a_worktree(bench: Bench) -> None:
    bench.commit(a="one\n", b="two\n")

    async def work() -> None:
        outer = await bench.open()
        at(outer.top, "a").write_text("outer\n")
        inner = await open_worktree(outer.folder, "agent-2", bench.environ, [outer.top])
        assert inner.top.startswith(f"{outer.top}/")
        assert at(inner.top, "a").read_text() == "outer\n"
        at(inner.top, "b").write_text("inner\n")
        apart = bench.sharing.of("agent-2", "inner", apart=outer.top)
        assert (await merge(inner, apart, bench.blobs, [outer.top])).is_done
        assert at(outer.top, "b").read_text() == "inner\n"
        assert bench.told == [], "nobody's affair yet"
        assert (await bench.merge(outer)).is_done

    run(work())
    assert bench.files() == {"a": "outer\n", "b": "inner\n"}
    assert len(bench.told) == 1


def test_many_at_the_same_time(bench: Bench) -> None:
    """Made, merged and removed beside one another; one file is everybody's."""
    count = 6
    bench.commit(all="".join(f"{n}\n\n\n" for n in range(count)), keep="k\n")

    async def one(number: int) -> bool:
        tree = await bench.open(f"agent-{number}")
        at(tree.top, f"own{number}").write_text("own")
        shared = at(tree.top, "all")
        shared.write_text(shared.read_text().replace(f"{number}\n", f"done {number}\n"))
        return (await bench.merge(tree)).is_done

    async def work() -> list[bool]:
        return await asyncio.gather(*map(one, range(count)))

    assert run(work()) == [True] * count
    assert (bench.top / "all").read_text() == "".join(f"done {n}\n\n\n" for n in range(count))
    assert bench.git("ls-files", "--others").split() == [f"own{n}" for n in range(count)]
    assert not (bench.top / ".detent-worktrees").exists()
    assert not (bench.top / ".git" / "worktrees").exists()


def test_git_that_hangs_is_ended(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.commit(a="one\n")
    slow = tmp_path / "slow"
    slow.mkdir()
    pid = tmp_path / "pid"
    (slow / "git").write_text(f"#!/bin/sh\necho $$ > {pid}\nexec sleep 60\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setattr(worktree_git, "SECONDS", 0.2)
    environ = {**bench.environ, "PATH": f"{slow}:{bench.environ['PATH']}"}
    with pytest.raises(CannotDelegate, match="seconds"):
        run(open_worktree(str(bench.top), AGENT, environ, [str(bench.top)]))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_cancelled_while_it_is_made_nothing_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.commit(a="one\n")
    real = worktree_git.Repository.run

    async def run_until(self: Any, *arguments: str, **more: Any) -> bytes:
        if arguments[0] == "checkout-index":
            raise asyncio.CancelledError
        return await real(self, *arguments, **more)

    monkeypatch.setattr(worktree_git.Repository, "run", run_until)
    with pytest.raises(asyncio.CancelledError):
        run(bench.open())
    assert not (bench.top / ".detent-worktrees").exists()
    assert not (bench.top / ".git" / "worktrees").exists()


def test_a_folder_that_is_closed_goes_all_the_same(bench: Bench) -> None:
    bench.commit(a="one\n")
    tree = run(bench.open())
    closed = at(tree.top, "closed")
    closed.mkdir()
    (closed / "file").write_text("x")
    closed.chmod(0)
    run(discard(tree))
    assert not os.path.exists(tree.top)
    assert stat.S_ISDIR(os.stat(bench.top / ".git").st_mode)


def test_names_that_git_would_read_otherwise(bench: Bench) -> None:
    odd = ('"quoted"', "return\r", "new\nline", "back\\slash", " blank ", os.fsdecode(b"caf\xe9"))
    for name in odd:
        (bench.top / name).write_text("one\n")
    bench.git("add", "-A")
    bench.git("commit", "-qm", "one")

    async def work() -> Merged:
        tree = await bench.open()
        for name in odd:
            at(tree.top, name).write_text("two\n")
        return await bench.merge(tree)

    merged = run(work())
    assert merged.is_done and {one.path for one in merged.files} == set(odd)
    assert {(bench.top / name).read_text() for name in odd} == {"two\n"}


def test_what_git_cannot_take_is_not_taken_for_unchanged(bench: Bench) -> None:
    """A repository without a commit, and likewise a file that cannot be read."""
    bench.commit(a="one\n")

    async def work() -> Worktree:
        tree = await bench.open()
        bench.git("init", "-q", str(at(tree.top, "sub")))
        at(tree.top, "sub", "work").write_text("done\n")
        with pytest.raises(CannotDelegate, match="sub"):
            await bench.merge(tree)
        return tree

    tree = run(work())
    assert at(tree.top, "sub", "work").read_text() == "done\n"


def test_files_in_a_submodule_are_not_lost(bench: Bench, tmp_path: Path) -> None:
    bench.commit(a="one\n")
    bench.git("init", "-q", "module")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    bench.git(*who, "commit", "-q", "--allow-empty", "-m", "one", cwd=bench.top / "module")
    bench.git("-c", "advice.addEmbeddedRepo=false", "add", "module")
    bench.git("commit", "-qm", "two")

    async def work(agent: str, **written: str) -> tuple[Worktree, Merged]:
        tree = await bench.open(agent)
        for name, text in written.items():
            at(tree.top, *name.split("__")).write_text(text)
        return tree, await bench.merge(tree)

    _, merged = run(work("agent-1", a="two\n"))
    assert merged.is_done, "one that is empty is in nobody's way"
    tree, merged = run(work("agent-2", a="three\n", module__work="done\n"))
    assert (bench.top / "a").read_text() == "three\n"
    assert "Not all was merged: module (files in a submodule)" in merged.words(tree)
    assert at(tree.top, "module", "work").read_text() == "done\n"
    tree, merged = run(work("agent-3", module__work="alone\n"))
    assert f"That is kept in {tree.top}" in merged.words(tree)


def test_a_worktree_that_was_kept_within_another_is_not_lost(bench: Bench) -> None:
    bench.commit(a="one\n")

    async def work() -> tuple[Worktree, Worktree, Merged]:
        outer = await bench.open()
        inner = await open_worktree(outer.top, "agent-2", bench.environ, [outer.top])
        at(inner.top, "a").write_text("inner\n")
        at(outer.top, "b").write_text("outer\n")
        return outer, inner, await bench.merge(outer)

    outer, inner, merged = run(work())
    assert (bench.top / "b").read_text() == "outer\n"
    assert ".detent-worktrees/agent-2 (a worktree that was kept)" in merged.words(outer)
    assert at(inner.top, "a").read_text() == "inner\n"
    run(discard(inner))
    assert run(bench.merge(outer)).is_done and not os.path.exists(outer.top)
