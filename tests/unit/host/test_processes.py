"""Real programs: their output, their end, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from detent.host.processes import run_process
from detent.ports import Finished

from .conftest import open_descriptors, runs, soon


def sh(command: str, **options: Any) -> tuple[Finished, bytes]:
    """Runs a shell command; stderr joins the output unless `errors` is given."""
    pieces: list[bytes] = []
    options = {"cwd": "/", "timeout": 20.0, "output": pieces.append, **options}
    finished = asyncio.run(run_process(["bash", "-c", command], **options))
    return finished, b"".join(pieces)


pytestmark = pytest.mark.usefixtures("way")


async def cancelled_once_it_printed(command: str) -> tuple[bytes, float]:
    """Starts, waits for the first output, cancels: the output and how long the end took."""
    printed = asyncio.Event()
    pieces: list[bytes] = []

    def output(chunk: bytes) -> None:
        pieces.append(chunk)
        printed.set()

    argv = ["bash", "-c", command]
    task = asyncio.create_task(run_process(argv, cwd="/", timeout=None, output=output))
    await printed.wait()
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return b"".join(pieces), time.monotonic() - started


def test_output_and_exit_code() -> None:
    assert sh("echo hello; exit 3") == (Finished(3), b"hello\n")


def test_streams_join_without_an_errors_sink() -> None:
    assert sh("echo one; echo two >&2")[1] == b"one\ntwo\n"


def test_streams_are_kept_apart_with_an_errors_sink() -> None:
    errors: list[bytes] = []
    _, output = sh("echo one; echo two >&2", errors=errors.append)
    assert (output, b"".join(errors)) == (b"one\n", b"two\n")


def test_death_by_signal_is_a_negative_code() -> None:
    assert sh("kill -SEGV $$")[0] == Finished(-signal.SIGSEGV)


def test_input_is_empty_unless_given() -> None:
    assert sh("cat; readlink /proc/self/fd/0")[1] == b"/dev/null\n"


def test_large_input_passes_through() -> None:
    data = os.urandom(3_000_000)
    assert sh("cat", stdin=data)[1] == data


def test_input_that_nobody_reads_does_no_harm() -> None:
    assert sh("exec 0<&-; echo done", stdin=b"x" * 1_000_000)[1] == b"done\n"


def test_environment_is_replaced() -> None:
    assert sh("echo $A-$HOME", env={"A": "1", "PATH": os.environ["PATH"]})[1] == b"1-\n"


def test_it_has_a_session_of_its_own() -> None:
    _, output = sh("ps -o sid= -p $$ | tr -d ' '; echo $$")
    session, pid = output.split()
    assert session == pid


@pytest.mark.parametrize(
    ("argv", "cwd", "error"),
    [
        (["/no/such/program"], "/", FileNotFoundError),
        (["true"], "/no/such/folder", FileNotFoundError),
        (["true"], "/etc/passwd", NotADirectoryError),
        (["/etc/passwd"], "/", PermissionError),
    ],
)
def test_what_cannot_start_raises_and_leaks_nothing(
    argv: list[str], cwd: str, error: type[OSError]
) -> None:
    sh("true")
    before = open_descriptors()
    with pytest.raises(error):
        asyncio.run(run_process(argv, cwd=cwd, timeout=5, output=print, stdin=b"x"))
    assert open_descriptors() == before


def test_no_descriptor_leaks_and_no_thread_is_used() -> None:
    async def many() -> tuple[int, int]:
        await run_process(["true"], cwd="/", timeout=5, output=print)
        before = open_descriptors()
        for _ in range(20):
            await run_process(["cat"], cwd="/", timeout=5, output=len, errors=len, stdin=b"x")
            await run_process(["sleep", "9"], cwd="/", timeout=0, output=len)
        await run_process(["true"], cwd="/", timeout=5, output=print)  # its keeper waits again
        return before, open_descriptors()

    threads = threading.active_count()
    before, after = asyncio.run(many())
    assert before == after
    assert threading.active_count() == threads


def test_time_runs_out() -> None:
    finished, output = sh("echo first; sleep 60", timeout=0.3)
    assert finished == Finished(-signal.SIGTERM, timed_out=True)
    assert output == b"first\n"


def test_a_group_that_ignores_term_dies_at_the_time_limit() -> None:
    started = time.monotonic()
    finished, output = sh("trap '' TERM; sleep 60 & echo $$ $!; wait; sleep 60", timeout=0.3)
    assert finished == Finished(-signal.SIGKILL, timed_out=True)
    assert not any(runs(int(pid)) for pid in output.split())
    assert time.monotonic() - started < 2.3


def test_a_group_that_ignores_term_dies_when_cancelled() -> None:
    command = "trap '' TERM; (sleep 60; true) & echo $$ $!; wait; sleep 60"
    output, took = asyncio.run(cancelled_once_it_printed(command))
    assert not any(runs(int(pid)) for pid in output.split())
    assert took < 2


def test_a_deaf_child_dies_although_its_shell_went_first() -> None:
    """The shell ends at SIGTERM; its child ignores it and has let go of the pipes."""
    command = "(trap '' TERM; exec sleep 60 >/dev/null 2>&1) & echo $!; wait"
    output, took = asyncio.run(cancelled_once_it_printed(command))
    assert not runs(int(output))
    assert took < 2


def test_term_leaves_time_to_clean_up(tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    command = f"trap 'sleep 0.1; touch {mark}; exit' TERM; echo ready; while :; do sleep 0.01; done"
    asyncio.run(cancelled_once_it_printed(command))
    assert mark.exists()


def test_a_second_cancellation_does_not_leave_the_process() -> None:
    async def twice() -> bytes:
        pieces: list[bytes] = []
        printed = asyncio.Event()

        def output(chunk: bytes) -> None:
            pieces.append(chunk)
            printed.set()

        argv = ["bash", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done"]
        task = asyncio.create_task(run_process(argv, cwd="/", timeout=None, output=output))
        await printed.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pieces[0]

    assert not runs(int(asyncio.run(twice())))


def test_a_loop_that_is_torn_down_kills_what_runs() -> None:
    pieces: list[bytes] = []

    async def walk_away() -> None:
        printed = asyncio.Event()

        def output(chunk: bytes) -> None:
            pieces.append(chunk)
            printed.set()

        argv = ["bash", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done"]
        task = asyncio.create_task(run_process(argv, cwd="/", timeout=None, output=output))
        await printed.wait()
        assert not task.done()

    asyncio.run(walk_away())
    assert not runs(int(pieces[0]))


def test_a_loop_that_is_dropped_kills_what_runs() -> None:
    """Nobody cancels, nobody waits. At the latest it goes with the next program."""
    pieces: list[bytes] = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # "Task was destroyed but it is pending!"
    argv = ["bash", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done"]
    before = open_descriptors()
    task = loop.create_task(run_process(argv, cwd="/", timeout=None, output=pieces.append))
    while not pieces:
        loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    del task
    gc.collect()
    sh("true")
    assert soon(lambda: not runs(int(pieces[0])))
    assert soon(lambda: open_descriptors() <= before)


def test_a_background_child_that_holds_the_pipe_does_not_hang() -> None:
    started = time.monotonic()
    finished, output = sh("sleep 60 & echo $!")
    assert finished == Finished(0)
    assert time.monotonic() - started < 2
    assert runs(int(output)), "left alone, as in any shell"
    os.kill(int(output), signal.SIGKILL)


def test_a_background_child_without_the_pipe_costs_no_wait() -> None:
    started = time.monotonic()
    _, output = sh("sleep 60 >/dev/null 2>&1 & echo $!")
    assert time.monotonic() - started < 0.4
    assert runs(int(output))
    os.kill(int(output), signal.SIGKILL)


def test_what_is_printed_last_is_not_lost() -> None:
    assert len(sh("head -c 60000 /dev/zero")[1]) == 60_000
    assert len(sh("head -c 1000000 /dev/zero & wait")[1]) == 1_000_000


def test_a_sink_that_raises_ends_the_program() -> None:
    async def full() -> None:
        def output(chunk: bytes) -> None:
            raise RuntimeError("enough")

        await run_process(["yes"], cwd="/", timeout=20, output=output)

    sh("true")
    before = open_descriptors()
    with pytest.raises(RuntimeError, match="enough"):
        asyncio.run(full())
    sh("true")
    assert open_descriptors() == before


def test_much_output_passes_in_small_pieces() -> None:
    largest = total = 0

    def output(chunk: bytes) -> None:
        nonlocal largest, total
        largest, total = max(largest, len(chunk)), total + len(chunk)

    tracemalloc.start()
    sh("head -c 100000000 /dev/zero | tr '\\0' x", output=output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 100_000_000
    assert largest <= 65_536
    assert peak < 20_000_000


def test_the_loop_lives_on_while_output_floods() -> None:
    async def ticks() -> int:
        flood = asyncio.create_task(run_process(["yes"], cwd="/", timeout=0.3, output=len))
        count = 0
        while not flood.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert asyncio.run(ticks()) > 20


def test_it_works_without_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int) -> int:
        raise OSError("not permitted")

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert sh("echo hello; exit 4") == (Finished(4), b"hello\n")
    assert sh("sleep 60", timeout=0.1)[0] == Finished(-signal.SIGTERM, timed_out=True)


def test_many_run_together() -> None:
    async def together(work: Callable[[], Awaitable[Finished]]) -> list[Finished]:
        return list(await asyncio.gather(*(work() for _ in range(10))))

    started = time.monotonic()
    argv = ["sleep", "0.3"]
    ends = asyncio.run(together(lambda: run_process(argv, cwd="/", timeout=9, output=len)))
    assert ends == [Finished(0)] * 10
    assert time.monotonic() - started < 2
