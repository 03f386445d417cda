"""Files of a real disk, and the environment of children."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.host.environment import child_environment
from detent.host.local import LocalHost
from detent.ports import FileFacts

LIMIT = 1_000
unless_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")


@pytest.fixture
def host() -> LocalHost:
    return LocalHost()


def read(host: LocalHost, path: object, limit: int = LIMIT) -> bytes:
    return asyncio.run(host.read(str(path), limit))


def write(host: LocalHost, path: object, data: bytes) -> None:
    asyncio.run(host.write(str(path), data))


def walk(host: LocalHost, root: object) -> list[FileFacts]:
    async def collect() -> list[FileFacts]:
        return [facts async for facts in host.walk(str(root))]

    return asyncio.run(collect())


def names(host: LocalHost, root: Path) -> list[str]:
    return [os.path.relpath(facts.path, root) for facts in walk(host, root)]


def test_read_follows_links(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"data")
    (tmp_path / "link").symlink_to("real")
    assert read(host, tmp_path / "link") == b"data"


def test_read_refuses_what_is_too_large(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "just").write_bytes(b"x" * LIMIT)
    (tmp_path / "over").write_bytes(b"x" * (LIMIT + 1))
    assert len(read(host, tmp_path / "just")) == LIMIT
    with pytest.raises(OSError) as caught:
        read(host, tmp_path / "over")
    assert caught.value.errno == errno.EFBIG


def test_read_of_a_file_that_hides_its_size(host: LocalHost) -> None:
    assert b"PPid" in read(host, "/proc/self/status", 100_000)
    with pytest.raises(OSError) as caught:
        read(host, "/proc/self/status", 10)
    assert caught.value.errno == errno.EFBIG


def test_read_never_blocks_on_fifos_and_devices(host: LocalHost, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero"):
        with pytest.raises(OSError, match="Not a regular file"):
            read(host, path)


def test_read_of_folders_and_nothing(host: LocalHost, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read(host, tmp_path)
    with pytest.raises(FileNotFoundError):
        read(host, tmp_path / "none")


@unless_root
def test_read_of_what_is_closed_to_us(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(PermissionError):
        read(host, tmp_path / "secret")


def test_write_creates_folders_and_honours_the_umask(host: LocalHost, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(host, tmp_path / "a" / "b" / "new", b"data")
    finally:
        os.umask(before)
    path = tmp_path / "a" / "b" / "new"
    assert path.read_bytes() == b"data"
    assert path.stat().st_mode & 0o777 == 0o640


def test_write_keeps_the_mode_and_leaves_no_litter(host: LocalHost, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(0o755)
    write(host, path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o755
    assert os.listdir(tmp_path) == ["run.sh"]


def test_write_through_a_link_changes_its_target(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("folder/real")
    (tmp_path / "dangling").symlink_to("folder/later")
    write(host, tmp_path / "link", b"new")
    write(host, tmp_path / "dangling", b"made")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"new"
    assert (tmp_path / "folder" / "later").read_bytes() == b"made"


def test_a_failed_write_leaves_the_old_content(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(host, tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_cannot_be_replaced_is_written_in_place(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a single file mounted into a container."""
    (tmp_path / "file").write_bytes(b"old")

    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", busy)
    write(host, tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_all_names_of_a_file_go_on_naming_one(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"old, and longer")
    os.link(tmp_path / "one", tmp_path / "other")
    write(host, tmp_path / "one", b"new")
    assert (tmp_path / "other").read_bytes() == b"new"
    assert (tmp_path / "one").samefile(tmp_path / "other")


def test_write_keeps_extended_attributes(host: LocalHost, tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"here")
    except OSError:
        pytest.skip("this disk has no extended attributes")
    write(host, path, b"new")
    assert (path.read_bytes(), os.getxattr(path, "user.origin")) == (b"new", b"here")


def test_a_write_that_cannot_be_names_what_was_asked_for(host: LocalHost, tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    with pytest.raises(OSError) as caught:
        write(host, path, b"data")
    assert (caught.value.errno, caught.value.filename) == (errno.ENAMETOOLONG, str(path))
    assert caught.value.filename2 is None


@unless_root
def test_write_respects_write_protection(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(PermissionError):
        write(host, tmp_path / "file", b"new")


def test_write_refuses_folders_and_fifos(host: LocalHost, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(IsADirectoryError):
        write(host, tmp_path, b"x")
    with pytest.raises(OSError, match="Not a regular file"):
        write(host, tmp_path / "fifo", b"x")


def test_facts(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    found = asyncio.run(host.facts(str(tmp_path / "file")))
    assert found is not None
    assert (found.size, found.is_dir) == (5, False)
    assert found.modified == (tmp_path / "file").stat().st_mtime
    folder = asyncio.run(host.facts(str(tmp_path)))
    assert folder is not None
    assert folder.is_dir
    assert asyncio.run(host.facts(str(tmp_path / "none"))) is None
    assert asyncio.run(host.facts(str(tmp_path / "file" / "below"))) is None


def test_walk_is_breadth_first_in_order(host: LocalHost, tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "a/deep/er", "c", "ünï/名前.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    order = ["a", "b", "c", "ünï", "a/deep", "b/a", "b/z", "ünï/名前.txt", "a/deep/er"]
    assert names(host, tmp_path) == order


def test_walk_names_but_does_not_enter_what_nobody_looks_for(
    host: LocalHost, tmp_path: Path
) -> None:
    for name in (".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".github"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").write_bytes(b"")
    found = names(host, tmp_path)
    assert "node_modules" in found
    assert [name for name in found if "/" in name] == [".github/inside"]
    assert names(host, tmp_path / "node_modules") == ["inside"], "unless asked to start there"


def test_walk_enters_those_that_are_named(host: LocalHost, tmp_path: Path) -> None:
    for folder in (".git", "node_modules"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").touch()

    async def collect() -> list[str]:
        return [facts.path async for facts in host.walk(str(tmp_path), ["node_modules"])]

    found = [os.path.relpath(path, tmp_path) for path in asyncio.run(collect())]
    assert found == [".git", "node_modules", "node_modules/x"]


def test_walk_tells_links_and_what_is_no_file(host: LocalHost, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    told = [(facts.is_link, facts.is_special) for facts in walk(host, tmp_path)]
    assert told == [(False, False), (True, False), (False, True)]


def test_walk_ends_in_a_loop_of_links_and_shows_dangling_ones(
    host: LocalHost, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "a" / "nowhere").symlink_to("gone")
    assert names(host, tmp_path) == ["a", "a/nowhere", "a/up"]


def test_walk_of_nothing_is_empty(host: LocalHost, tmp_path: Path) -> None:
    assert walk(host, tmp_path / "none") == []


def test_walk_of_many_files_leaves_the_loop_free(host: LocalHost, tmp_path: Path) -> None:
    for index in range(5_000):
        os.close(os.open(tmp_path / f"{index:05}", os.O_CREAT))

    async def walk_and_tick() -> tuple[int, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        found = [facts async for facts in host.walk(str(tmp_path))]
        ticking.cancel()
        return len(found), ticks

    found, ticks = asyncio.run(walk_and_tick())
    assert found == 5_000
    assert ticks >= 5


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "frob"
    path.write_text("#!/bin/sh\necho $GREETING\n")
    path.chmod(0o755)
    yield path


def test_which_searches_the_path_of_children(program: Path) -> None:
    host = LocalHost({"PATH": f"/nowhere:{program.parent}"})
    assert host.which("frob") == str(program)
    assert host.which("no-such-program") is None
    program.chmod(0o644)
    assert LocalHost({"PATH": str(program.parent)}).which("frob") is None


def test_which_ignores_relative_folders(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.parent)
    assert LocalHost({"PATH": ".:"}).which("frob") is None


def test_which_finds_programs_beside_the_interpreter() -> None:
    found = LocalHost({"PATH": "/nowhere"}).which("rg")
    assert found == os.path.join(os.path.dirname(sys.executable), "rg")


def test_run_adds_to_the_environment(program: Path) -> None:
    host = LocalHost({"PATH": os.environ["PATH"], "OPENAI_API_KEY": "k", "MINE": "m"})
    pieces: list[bytes] = []
    command = "echo $GREETING $OPENAI_API_KEY $MINE $DETENT"
    run = host.run(
        ["sh", "-c", command], cwd="/", timeout=9, output=pieces.append, env={"GREETING": "hi"}
    )
    assert asyncio.run(run).exit_code == 0
    assert b"".join(pieces) == b"hi m 1\n"


def test_the_environment_of_children() -> None:
    base = {
        "PATH": "/bin",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_AUTH_TOKEN": "k",
        "GEMINI_API_KEY": "k",
        "OPENROUTER_API_KEY": "k",
        "CLAUDE_CODE_OAUTH_TOKEN": "k",
        "AWS_BEARER_TOKEN_BEDROCK": "k",
        "DETENT_CLIENT_KEY_PASSPHRASE": "k",
        "ANTHROPIC_BASE_URL": "http://localhost",
        "STRIPE_API_KEY": "k",
        "PAGER": "less",
    }
    made = child_environment(base)
    assert "k" not in made.values()
    assert made["PATH"] == "/bin"
    assert (made["PAGER"], made["GIT_TERMINAL_PROMPT"], made["TERM"]) == ("cat", "0", "dumb")
    assert (made["DETENT"], made["CLAUDECODE"]) == ("1", "1")
    assert child_environment({"TERM": "xterm"})["TERM"] == "xterm"


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "NPM_TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
     "AWS_ACCESS_KEY_ID", "OPENAI_KEY", "OPENAI_ADMIN_KEY", "REPLICATE_API_TOKEN", "DB_PASSWORD",
     "MY_CLIENT_SECRET", "my_api_key", "VAULT_TOKEN", "TOKEN", "ANTHROPIC_CUSTOM_HEADERS"],
)  # fmt: skip
def test_what_is_called_a_key_is_withheld_unless_the_user_names_it(name: str) -> None:
    assert name not in child_environment({name: "x"})
    assert child_environment({name: "x"}, passed={name})[name] == "x"


@pytest.mark.parametrize(
    "name",
    ["PATH", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "MAX_THINKING_TOKENS", "KEYBOARD",
     "MONKEY", "AWS_PROFILE", "TOKEN_FILE", "KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS"],
)  # fmt: skip
def test_what_only_sounds_like_one_is_passed(name: str) -> None:
    assert name in child_environment({name: "x"})


def test_more_keys_can_be_withheld_and_some_passed_on() -> None:
    base = {"HOUSE_KEY": "house", "OPENAI_API_KEY": "theirs", "XAI_API_KEY": "k", "BASH_ENV": "x"}
    made = child_environment(
        base, withheld={"HOUSE_KEY"}, passed={"OPENAI_API_KEY", "BASH_ENV", "NOT_SET"}
    )
    assert "HOUSE_KEY" not in made and "XAI_API_KEY" not in made
    assert made["OPENAI_API_KEY"] == "theirs", "the user wants it so"
    assert "BASH_ENV" not in made, "that is no key, and nobody can want it"
    host = LocalHost(base, withheld=lambda: {"HOUSE_KEY"}, passed={"HOUSE_KEY"})
    assert host.environment["HOUSE_KEY"] == "house", "what the user wants wins"
    assert "HOUSE_KEY" not in LocalHost(base, withheld=lambda: {"HOUSE_KEY"}).environment
