"""What is left when the agent itself goes, in whatever way: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .conftest import Marked, horde, parent, runs, soon

AGENT = """
import asyncio, json, sys
from detent.host.local import LocalHost

async def main():
    host = LocalHost()
    argv, env = json.loads(sys.argv[1])
    print("up", flush=True)
    out = lambda piece: print(piece.decode(), end="", flush=True)
    if sys.argv[2] == "leave":
        await host.run(argv, cwd="/", timeout=None, output=out, env=env)
        await asyncio.sleep(600)
    elif sys.argv[2] == "start":
        await host.start(argv, cwd="/", output=out, env=env)
        await asyncio.sleep(600)
    else:
        await host.run(argv, cwd="/", timeout=None, output=out, env=env)

asyncio.run(main())
"""


def agent(argv: list[str], env: dict[str, str], how: str) -> subprocess.Popen[str]:
    """A small agent in a process of its own, once its command says that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(AGENT), json.dumps([argv, env]), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("how", ["run", "start", "leave"])
def test_nothing_outlives_an_agent_that_is_killed(tmp_path: Path, marked: Marked, how: str) -> None:
    argv = horde(tmp_path, "exit" if how == "leave" else "sleep 600")
    with agent(argv, marked.env, how) as process:
        try:
            assert len(marked.pids()) >= 3
            nurses = children(process.pid)
            assert nurses
        finally:
            process.kill()
        assert marked.are_gone(within=5)
    assert soon(lambda: not any(map(runs, nurses)), within=5), "the nursery goes as well"


def children(pid: int) -> list[int]:
    return [int(n) for n in os.listdir("/proc") if n.isdigit() and _is_child(int(n), pid)]


def _is_child(pid: int, of: int) -> bool:
    try:
        return parent(pid) == of
    except OSError:  # it has ended meanwhile
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_outlives_an_agent_that_ends_by_a_signal(marked: Marked, number: int) -> None:
    with agent(["sh", "-c", "echo ready; sleep 600; true"], marked.env, "start") as process:
        assert marked.pids()
        process.send_signal(number)
        assert marked.are_gone(within=5)


def test_a_fork_of_the_agent_has_a_nursery_of_its_own(marked: Marked) -> None:
    """And holds nothing of the parent's: it does not prolong the life of the parent's programs."""
    code = f"""
        import asyncio, os, sys, time
        from detent.host.local import LocalHost

        async def run(host, *argv):
            return (await host.run(argv, cwd="/", timeout=9, output=len)).exit_code

        async def main():
            host = LocalHost()
            await run(host, "true")
            await host.start(["sleep", "600"], cwd="/", output="/dev/null", env={marked.env!r})

        async def other():
            sys.exit(await run(LocalHost(), "sh", "-c", "exit 7"))

        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        if pid := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            if (last := os.fork()):
                print(last, flush=True)
                os.kill(os.getpid(), 9)
            time.sleep(600)
        asyncio.run(other())
    """
    argv = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "7\n"
        last = int(process.stdout.readline())
        try:
            assert marked.are_gone(within=5)
        finally:
            os.kill(last, signal.SIGKILL)


def test_a_fork_in_another_thread_holds_nothing_either(marked: Marked) -> None:
    code = f"""
        import asyncio, os, threading, time
        from detent.host.local import LocalHost

        ready = threading.Event()

        def work():
            async def main():
                await LocalHost().start(
                    ["sleep", "600"], cwd="/", output="/dev/null", env={marked.env!r}
                )
                ready.set()
                await asyncio.sleep(600)

            asyncio.run(main())

        threading.Thread(target=work, daemon=True).start()
        ready.wait()
        if (last := os.fork()):
            print(last, flush=True)
            os.kill(os.getpid(), 9)
        time.sleep(600)
    """
    argv = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = int(process.stdout.readline())
        try:
            assert marked.are_gone(within=5)
        finally:
            os.kill(last, signal.SIGKILL)
