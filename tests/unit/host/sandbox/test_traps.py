"""The traps that were found before there was a sandbox, each of them once sprung."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

from detent.host.local import LocalHost
from detent.host.nursery import ROOT

from .conftest import Cell, bash

AGENT = """
import asyncio, json, os, sys, time
from msgspec import convert
from detent.host.local import LocalHost
from detent.host.sandbox.profile import Profile
from detent.host.sandbox.sandbox import Sandbox

backend, command, profile, how = json.loads(sys.argv[1])

async def main():
    host = LocalHost(sandbox=Sandbox.unproven(backend, convert(profile, Profile)))
    out = lambda piece: print(piece.decode(), end="", flush=True)
    argv = ["bash", "-c", command.replace("AGENT", str(os.getpid()))]
    if how == "stay":
        await host.start(argv, cwd="/", output=out, confined=True)
        await asyncio.sleep(600)
    await host.run(argv, cwd="/", timeout=30, output=out, confined=True)
    await host.aclose()

asyncio.run(main())
"""


def agent(
    cell: Cell, command: str, how: str = "go", env: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """In a process of its own."""
    profile = {"roots": [str(cell.work)], "denied_reads": [str(cell.secret)]}
    words = json.dumps([cell.backend, command, profile, how])
    temporary = {"TMPDIR": str(tempfile.gettempdir())}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(AGENT), words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **temporary, **(env or {})},
    )


def test_1_root_cannot_undo_the_mounts(bwrap: Cell) -> None:
    ran = bwrap.bash(
        f"mount -o remount,rw,bind / ; mount -o remount,rw / ; mount --bind / . ;"
        f"echo x > {bwrap.outside}/new ; grep -c . /proc/self/uid_map"
    )
    assert os.listdir(bwrap.outside) == ["old"]
    assert ran.output.endswith("1\n"), "a user namespace of its own"


def test_2_the_first_process_inside_has_none_of_our_environment(cell: Cell) -> None:
    """Nor has anything else a command can look at: the agent's key is in its environment."""
    mark = "sk-" + os.urandom(8).hex()
    look = "cat /proc/1/environ /proc/AGENT/environ /proc/*/environ 2>/dev/null"
    with agent(cell, look, env={"ANTHROPIC_API_KEY": mark, "HARMLESS": "seen"}) as process:
        said, _ = process.communicate(timeout=30)
    assert "HARMLESS=seen" in said, "its own environment is there"
    assert mark not in said


def test_2_the_agent_cannot_be_looked_into() -> None:
    """Nor without any sandbox, by its own user: so without the privileges that root has."""
    mark = "sk-" + os.urandom(8).hex()
    words = json.dumps(["none", "cat /proc/AGENT/environ; echo end", {"roots": ["/"]}, "go"])
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    ran = subprocess.run(
        [*bare, sys.executable, "-c", AGENT, words],
        env={**os.environ, "MY_API_KEY": mark, "TMPDIR": tempfile.gettempdir()},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert ran.stdout.endswith("end\n")
    assert "Permission denied" in ran.stdout and mark not in ran.stdout


def test_3_a_sandbox_lives_as_long_as_those_who_use_it(cell: Cell) -> None:
    """Not only as long as the thread that happened to start it."""
    host = cell.host()
    said: list[str] = []

    def once() -> None:
        said.append(asyncio.run(bash(host, "echo one", str(cell.work))).output)

    async def main() -> None:
        first = threading.Thread(target=once)
        first.start()
        await asyncio.to_thread(first.join)
        await bash(host, "echo kept > $TMPDIR/file", str(cell.work))
        job = await host.start(
            ["sleep", "60"], cwd=str(cell.work), output="/dev/null", confined=True
        )
        for _ in range(2):
            thread = threading.Thread(target=once)
            thread.start()
            await asyncio.to_thread(thread.join)
        said.append((await bash(host, "cat $TMPDIR/file", str(cell.work))).output)
        ended = await asyncio.wait_for(job.end(), 10)
        assert ended.exit_code == -15, "it was still there to be ended"
        await host.aclose()

    asyncio.run(main())
    assert said == ["one\n", "one\n", "one\n", "kept\n"]


def test_4_a_protected_folder_cannot_be_replaced(bwrap: Cell) -> None:
    settings = bwrap.work / ".detent" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("mine")
    ran = bwrap.bash(
        "echo x > .detent/settings.json; echo x > .detent/other; rm -rf .detent;"
        "mv .detent old; mkdir -p .detent; echo x > .detent/settings.json; cat .detent/*"
    )
    assert "Device or resource busy" in ran.output and ran.output.endswith("mine")
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]
    assert settings.read_text() == "mine"


def test_4_nor_can_it_be_put_there(bwrap: Cell) -> None:
    ran = bwrap.bash(
        "for f in .detent .claude; do mkdir -p made/$f; echo x > made/$f/settings.json;"
        "mv -T made/$f $f; mkdir -p $f; cp made/$f/settings.json $f/; done; true"
    )
    assert ran.output.count("Read-only file system") == 2
    assert os.listdir(bwrap.work) == ["made"], "and what it was mounted on is gone again"


def test_4_nor_can_its_parent_be_moved(bwrap: Cell) -> None:
    hooks = bwrap.work / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (bwrap.work / ".git" / "config").write_text("[core]\n")
    ran = bwrap.bash(
        "mv .git old; rm -rf .git/hooks; mv .git/hooks .git/old; echo x > .git/hooks/pre-commit;"
        "echo x >> .git/config; mv .git/config .git/c; echo x > c; mv c .git/config;"
        "echo ref > .git/HEAD && cat .git/HEAD"
    )
    assert ran.output.endswith("ref\n"), "all else of it can be written"
    assert list(hooks.iterdir()) == []
    assert (bwrap.work / ".git" / "config").read_text() == "[core]\n"
    assert sorted(os.listdir(bwrap.work)) in ([".git"], [".git", "c"])


def test_4_what_was_replaced_from_outside_is_protected_again(bwrap: Cell) -> None:
    """A mount goes with the file that it lay on: the next command gets a new sandbox."""
    config = bwrap.work / ".mcp.json"
    config.write_text("one")

    async def tell(host: LocalHost) -> str:
        await bash(host, "echo kept > /tmp/file", str(bwrap.work))
        fresh = bwrap.work / "fresh"
        fresh.write_text("two")
        fresh.rename(config)
        ran = await bash(host, "echo x > .mcp.json; cat .mcp.json /tmp/file", str(bwrap.work))
        return ran.output

    said: str = bwrap.story(tell)
    assert said.endswith("twokept\n")
    assert config.read_text() == "two"


def test_4_a_repository_is_protected_from_its_first_moment_on(bwrap: Cell) -> None:
    bwrap.bash("mkdir .git && echo '[core]' > .git/config", "echo x > .git/hooks/post-commit; true")
    assert list((bwrap.work / ".git").iterdir()) == [bwrap.work / ".git" / "config"]


def test_5_sockets_of_services_are_not_even_seen(bwrap: Cell) -> None:
    """That none can be called, in either backend, is in `test_escapes.py`."""
    ran = bwrap.bash("ls -A /run; find / -xdev -type s 2>/dev/null | head")
    assert ran.output == ""


def test_5_the_machines_own_temporary_files_are_not_seen(bwrap: Cell) -> None:
    """But for what lies there and is needed: the workspace, and where we were installed."""
    needed = (bwrap.work, Path(ROOT), Path(sys.prefix), Path(sys.base_prefix))
    bound = {path.parts[2] for path in needed if path.parts[1] == "tmp"}
    with tempfile.NamedTemporaryFile(dir="/tmp") as other:
        seen = set(bwrap.bash("ls -A /tmp").output.split())
        assert os.path.basename(other.name) not in seen
    assert seen <= bound
