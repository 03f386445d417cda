"""Programs that run beside us: their output, their input, their end."""

from __future__ import annotations

import asyncio
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.host.local import LocalHost
from detent.ports import Finished

from .conftest import Marked, open_descriptors, runs, with_host

pytestmark = pytest.mark.usefixtures("way")


def shell(command: str) -> list[str]:
    return ["bash", "-c", command]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def test_it_runs_beside_us_and_ends_by_itself() -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        errors: list[bytes] = []
        command = "echo $$; echo wrong >&2; exit 5"
        running = await host.start(
            shell(command), cwd="/", output=pieces.append, errors=errors.append
        )
        assert await running.wait() == Finished(5)
        assert b"".join(pieces) == b"%d\n" % running.pid
        assert b"".join(errors) == b"wrong\n"
        assert await running.wait() == Finished(5), "as often as one asks"
        assert await running.end() == Finished(5), "too late to change anything"

    with_host(story)


def test_a_file_takes_both_streams(tmp_path: Path) -> None:
    path = tmp_path / "output"

    async def story(host: LocalHost) -> None:
        for word in ("first", "second"):
            command = f"echo {word}; echo wrong >&2"
            running = await host.start(shell(command), cwd="/", output=str(path))
            assert await running.wait() == Finished(0)

    with_host(story)
    assert path.read_text() == "first\nwrong\nsecond\nwrong\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_opened_starts_nothing(tmp_path: Path) -> None:
    async def story(host: LocalHost) -> None:
        await host.run(["true"], cwd="/", timeout=9, output=len)
        before = open_descriptors()
        with pytest.raises(FileNotFoundError):
            await host.start(["true"], cwd="/", output=str(tmp_path / "none" / "file"))
        assert open_descriptors() == before

    with_host(story)


def test_what_is_written_arrives_in_order(tmp_path: Path) -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        running = await host.start(["cat"], cwd="/", output=pieces.append, keeps_input=True)
        running.write(b"one ")
        await until(lambda: b"".join(pieces) == b"one ")
        running.write(b"")
        running.write(b"two " * 100_000)  # more than a pipe holds
        running.write(b"end")
        await until(lambda: b"".join(pieces).endswith(b"end"))
        assert b"".join(pieces) == b"one " + b"two " * 100_000 + b"end"
        assert await running.end() == Finished(-signal.SIGTERM)
        running.write(b"nobody reads this")

    with_host(story)


def test_writing_to_a_closed_input_is_lost_in_silence() -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        command = "exec 0<&-; echo closed; sleep 600"
        running = await host.start(shell(command), cwd="/", output=pieces.append, keeps_input=True)
        await until(lambda: pieces)
        running.write(b"x" * 1_000_000)
        await asyncio.sleep(0)
        running.write(b"y")
        assert await running.end() == Finished(-signal.SIGTERM)

    with_host(story)


def test_without_kept_input_there_is_none() -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        running = await host.start(["cat"], cwd="/", output=pieces.append)
        running.write(b"ignored")
        assert await running.wait() == Finished(0)
        assert pieces == []

    with_host(story)


def test_cancelling_the_wait_ends_only_the_wait() -> None:
    async def story(host: LocalHost) -> None:
        running = await host.start(["sleep", "600"], cwd="/", output=len)
        waiting = asyncio.create_task(running.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert runs(running.pid)
        assert await running.end() == Finished(-signal.SIGTERM)
        assert not runs(running.pid)

    with_host(story)


def test_it_is_asked_then_made_to_end_with_all_its_children(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        command = "trap '' TERM; sleep 600 & echo ready; wait; sleep 600; true"
        running = await host.start(shell(command), cwd="/", output=pieces.append, env=marked.env)
        await until(lambda: pieces)
        started = time.monotonic()
        ends = await asyncio.gather(running.end(), running.end(), running.wait())
        assert ends == [Finished(-signal.SIGKILL)] * 3
        assert time.monotonic() - started < 2
        assert marked.pids() == []

    with_host(story)


def test_ending_finishes_although_the_caller_is_cancelled(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        command = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
        running = await host.start(shell(command), cwd="/", output=pieces.append, env=marked.env)
        await until(lambda: pieces)
        ending = asyncio.create_task(running.end())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert await running.wait() == Finished(-signal.SIGKILL)
        assert marked.pids() == []

    with_host(story)


def test_the_host_ends_what_runs(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        before = open_descriptors()
        running = [
            await host.start(["sleep", "600"], cwd="/", output=len, env=marked.env)
            for _ in range(5)
        ]
        await host.aclose()
        assert marked.pids() == []
        ends = await asyncio.gather(*(one.wait() for one in running))
        assert ends == [Finished(-signal.SIGTERM)] * 5
        assert open_descriptors() == before

    with_host(story)


def test_the_host_ends_what_was_left_behind(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        command = "sleep 600 >/dev/null 2>&1 & sleep 600 >/dev/null 2>&1 & true"
        argv = shell(command)
        await host.run(argv, cwd="/", timeout=9, output=len, env=marked.env)
        await host.run(["true"], cwd="/", timeout=9, output=len)
        assert len(marked.pids()) == 2
        await host.aclose()
        assert marked.pids() == []

    with_host(story)


def test_a_background_child_that_holds_the_pipe_does_not_delay_the_end_for_ever() -> None:
    async def story(host: LocalHost) -> None:
        pieces: list[bytes] = []
        running = await host.start(shell("sleep 600 & echo $!"), cwd="/", output=pieces.append)
        async with asyncio.timeout(5):
            assert await running.wait() == Finished(0)
        assert runs(int(b"".join(pieces)))

    with_host(story)


def test_a_sink_that_raises_ends_the_program(marked: Marked) -> None:
    async def story(host: LocalHost) -> None:
        def full(piece: bytes) -> None:
            raise RuntimeError("enough")

        running = await host.start(["yes"], cwd="/", output=full, env=marked.env)
        with pytest.raises(RuntimeError, match="enough"):
            await running.wait()
        assert marked.pids() == []

    with_host(story)


def test_a_host_that_ran_nothing_closes_at_once() -> None:
    with_host(lambda host: host.aclose())


def test_a_closed_host_can_be_used_again() -> None:
    async def story(host: LocalHost) -> None:
        for _ in range(2):
            assert await host.run(["true"], cwd="/", timeout=9, output=len) == Finished(0)
            await host.aclose()

    with_host(story)
