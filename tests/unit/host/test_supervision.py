"""One supervisor owns every process: nothing outlives a cancel, the host, or a killed agent."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from detent.host.local import LocalHost
from detent.host.nursery import nursery
from detent.ports import Finished

from .conftest import Marked, Pieces, horde, open_descriptors, parent, runs, soon, with_host


def test_cancelling_ends_what_ignores_leaves_and_hides(tmp_path: Path, marked: Marked) -> None:
    async def story(host: LocalHost) -> float:
        out = Pieces()
        run = host.run(
            horde(tmp_path, "sleep 600"), cwd="/", timeout=None, output=out, env=marked.env
        )
        task = asyncio.create_task(run)
        await out.first()
        assert len(marked.pids()) >= 5
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        took = time.monotonic() - started
        assert marked.pids() == [], "before it returns"
        return took

    assert with_host(story) < 2


def test_a_timeout_does_the_same(tmp_path: Path, marked: Marked) -> None:
    async def story(host: LocalHost) -> Finished:
        argv = horde(tmp_path, "sleep 600")
        finished = await host.run(argv, cwd="/", timeout=1.5, output=len, env=marked.env)
        assert marked.pids() == []
        return finished

    assert with_host(story) == Finished(-signal.SIGKILL, timed_out=True)


def test_a_daemon_survives_a_normal_end_and_goes_with_the_host(
    tmp_path: Path, marked: Marked
) -> None:
    async def story() -> None:
        host = LocalHost()
        out = Pieces()
        argv = horde(tmp_path, "exit 3")
        finished = await host.run(argv, cwd="/", timeout=20, output=out, env=marked.env)
        assert finished == Finished(3)
        assert len(marked.pids()) >= 3, "as in any shell"
        started = time.monotonic()
        await host.aclose()
        assert marked.pids() == []
        assert time.monotonic() - started < 3
        await host.aclose()

    asyncio.run(story())


def test_one_host_leaves_the_programs_of_another_alone(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        other = LocalHost()
        await other.run(["true"], cwd="/", timeout=9, output=len)
        running = await host.start(["sleep", "600"], cwd="/", output=len, env=marked.env)
        await other.aclose()
        assert runs(running.pid)
        await host.aclose()
        assert not runs(running.pid)

    with_host(story)


def test_a_killed_keeper_counts_as_a_killed_program(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        command = "trap '' TERM; setsid sleep 600 & echo $PPID; sleep 600; true"
        out = Pieces()
        argv = ["bash", "-c", command]
        running = await host.start(argv, cwd="/", output=out, env=marked.env)
        os.kill(int(await out.first()), signal.SIGKILL)
        assert await asyncio.wait_for(running.wait(), 5) == Finished(-signal.SIGKILL)
        assert marked.are_gone(), "the nursery has swept"
        assert (await host.run(["true"], cwd="/", timeout=9, output=len)).exit_code == 0

    with_host(story)


def test_a_killed_nursery_is_replaced_and_leaves_nothing(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        out = Pieces()
        argv = ["bash", "-c", "trap '' TERM; echo $PPID; sleep 600; true"]
        running = await host.start(argv, cwd="/", output=out, env=marked.env)
        nurse = parent(int(await out.first()))
        os.kill(nurse, signal.SIGKILL)
        assert soon(lambda: not runs(nurse))
        keeper = Pieces()
        argv = ["bash", "-c", "echo $PPID; sleep 600; true"]
        other = await host.start(argv, cwd="/", output=keeper)
        assert parent(int(await keeper.first())) == nursery()._pid != nurse
        assert runs(running.pid), "its keeper lives on"
        await other.end()
        await host.aclose()
        assert marked.pids() == []

    with_host(story)


def test_an_idle_nursery_goes_with_its_last_host() -> None:
    async def story() -> None:
        host, out = LocalHost(), Pieces()
        await host.run(["bash", "-c", "echo $PPID"], cwd="/", timeout=9, output=out)
        nurse = nursery()._pid
        assert runs(nurse)
        await host.aclose()
        assert not runs(nurse)

    asyncio.run(story())


def test_a_spare_keeper_that_died_does_no_lasting_harm() -> None:
    async def story(host: LocalHost) -> None:
        async def run() -> Finished:
            return await host.run(["true"], cwd="/", timeout=9, output=len)

        await run()
        assert soon(lambda: len(children(nursery()._pid)) == 1), "the one ahead of need"
        spare = children(nursery()._pid)[0]
        os.kill(spare, signal.SIGKILL)
        assert soon(lambda: not runs(spare))
        assert await run() == Finished(0)

    with_host(story)


def test_a_keeper_serves_one_command_after_the_other_while_they_end_by_themselves() -> None:
    async def story(host: LocalHost) -> None:
        async def keeper_of(command: str, seconds: float = 9) -> int:
            said: list[bytes] = []
            await host.run(["sh", "-c", command], cwd="/", timeout=seconds, output=said.append)
            return int(b"".join(said) or b"0")

        first = await keeper_of("echo $PPID")
        assert [await keeper_of("cd /tmp; echo $PPID; exit 3") for _ in range(5)] == [first] * 5
        with pytest.raises(FileNotFoundError):
            await host.run(["/no/such"], cwd="/", timeout=9, output=len)
        assert await keeper_of("echo $PPID") == first
        assert await keeper_of("echo $PPID; exec sleep 100", seconds=0.3) == first
        second = await keeper_of("echo $PPID")
        assert second != first, "one that had to end something goes with it"
        assert soon(lambda: not runs(first))

    with_host(story)


def children(pid: int) -> list[int]:
    return [
        int(name)
        for name in os.listdir("/proc")
        if name.isdigit() and runs(int(name)) and _parent_or_none(int(name)) == pid
    ]


def _parent_or_none(pid: int) -> int | None:
    try:
        return parent(pid)
    except OSError:
        return None


def test_nothing_runs_twice_though_it_ends_before_we_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = socket.send_fds

    def slow(*args: Any) -> int:
        sent = send(*args)
        time.sleep(0.1)  # the loop stands still; the command does not
        return sent

    async def story(host: LocalHost) -> bytes:
        out = Pieces()
        monkeypatch.setattr(socket, "send_fds", slow)
        assert await host.run(["echo", "once"], cwd="/", timeout=9, output=out) == Finished(0)
        return out.data

    assert with_host(story) == b"once\n"


def test_what_cannot_start_says_which_name_was_wrong() -> None:
    async def story(host: LocalHost) -> list[tuple[int | None, str]]:
        found = []
        for argv, cwd in (
            (["no-such-program"], "/"),
            (["./none"], "/tmp"),
            (["true"], "/no/such/folder"),
            (["/etc/passwd"], "/"),
            (["true", "x" * 200_000], "/"),
        ):
            with pytest.raises(OSError) as caught:
                await host.run(argv, cwd=cwd, timeout=9, output=len)
            found.append((caught.value.errno, caught.value.filename))
        return found

    assert with_host(story) == [
        (errno.ENOENT, "no-such-program"),
        (errno.ENOENT, "./none"),
        (errno.ENOENT, "/no/such/folder"),
        (errno.EACCES, "/etc/passwd"),
        (errno.E2BIG, "true"),
    ]


def test_names_are_looked_up_on_the_path_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "frob").write_text("#!/bin/sh\necho found; pwd\n")
    (tmp_path / "frob").chmod(0o755)

    async def story(host: LocalHost) -> bytes:
        out = Pieces()
        env = {"PATH": f"/none:{tmp_path}:/bin"}
        await host.run(["frob"], cwd=str(tmp_path), timeout=9, output=out, env=env)
        await host.run(["./frob"], cwd=str(tmp_path), timeout=9, output=out)
        return out.data

    assert with_host(story) == f"found\n{tmp_path}\n".encode() * 2


def test_null_bytes_are_refused() -> None:
    async def story(host: LocalHost) -> None:
        before = None
        for _ in range(2):
            with pytest.raises(ValueError, match="null byte"):
                await host.run(["echo", "a\0b"], cwd="/", timeout=9, output=len)
            before = before or open_descriptors()
            assert open_descriptors() == before

    with_host(story)


def test_long_orders_and_odd_bytes_arrive_whole() -> None:
    async def story(host: LocalHost) -> None:
        words = [f"{n}" * 100_000 for n in range(9)] + ["ünï", "\udcff"]
        out = Pieces()
        await host.run(["printf", "%s\n", *words], cwd="/", timeout=20, output=out)
        assert out.data == b"".join(os.fsencode(word) + b"\n" for word in words)

    with_host(story)


def test_a_program_starts_with_a_clean_slate() -> None:
    """No descriptor of ours, no ignored or blocked signal, no core, no terminal."""
    leak = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leak, True)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:

        async def story(host: LocalHost) -> list[str]:
            out = Pieces()
            command = (
                "ls /proc/self/fd | wc -l; ulimit -c;"
                "awk '/^Sig(Blk|Ign)/ {print $2}' /proc/self/status; tty"
            )
            await host.run(["bash", "-c", command], cwd="/", timeout=9, output=out)
            return out.data.decode().splitlines()

        descriptors, core, blocked, ignored, terminal = with_host(story)
        assert (descriptors, core, terminal) == ("4", "0", "not a tty"), "4: the listing's own"
        own_of_libc = 1 << 31 | 1 << 32
        assert (int(blocked, 16), int(ignored, 16) & ~own_of_libc) == (0, 0)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        os.close(leak)


def test_no_process_of_ours_knows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("BASH_FUNC_ls%%", "() { echo hijacked; }")
    monkeypatch.setenv("SHELLOPTS", "xtrace")

    async def story(host: LocalHost) -> bytes:
        out = Pieces()
        look = "ls -d /; cat /proc/self/environ /proc/$PPID/environ /proc/$PPID/cmdline"
        await host.run(["bash", "-c", look], cwd="/", timeout=9, output=out)
        return out.data + environ(nursery()._pid)

    seen = with_host(story)
    assert seen.startswith(b"/\n")
    assert b"sk-secret" not in seen and b"hijacked" not in seen


def environ(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def test_a_hundred_at_once() -> None:
    async def story(host: LocalHost) -> None:
        async def one(number: int) -> tuple[Finished, bytes]:
            out = Pieces()
            argv = ["sh", "-c", f"echo {number}; exit {number}"]
            return await host.run(argv, cwd="/", timeout=30, output=out), out.data

        ends = await asyncio.gather(*(one(number) for number in range(100)))
        assert ends == [(Finished(n), b"%d\n" % n) for n in range(100)]

    with_host(story)


def test_descriptors_stay_constant() -> None:
    async def story(host: LocalHost) -> None:
        await host.run(["true"], cwd="/", timeout=9, output=len)
        before = open_descriptors()
        for _ in range(200):
            await host.run(["true"], cwd="/", timeout=9, output=len)
        assert open_descriptors() == before
        await host.run(["sh", "-c", "sleep 0.1 &"], cwd="/", timeout=9, output=len)
        while open_descriptors() != before:
            await asyncio.sleep(0.01)

    with_host(story)
