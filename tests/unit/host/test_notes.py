"""How commands ended is written down by those who outlive us; what stays is found again."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from detent.host.local import LocalHost
from detent.host.notes import Line, Notes, read_notes
from detent.host.staying import Staying, keeper_of, read_state, state_path

from .conftest import Marked, soon, with_host


def run(path: Path, command: str, timeout: float = 20.0, **more: str) -> dict[str, Line]:
    async def story() -> None:
        host = LocalHost(notes=Notes(str(path / "deep" / "notes")))
        argv = ["sh", "-c", command]
        await host.run(argv, cwd="/", timeout=timeout, output=len, noted_as="one", **more)
        await host.run(["true"], cwd="/", timeout=9, output=len)
        await host.aclose()

    asyncio.run(story())
    return read_notes(str(path / "deep" / "notes"))


def test_an_end_is_noted(tmp_path: Path) -> None:
    found = run(tmp_path, "exit 3")
    assert list(found) == ["one"], "what has no name is not noted"
    assert (found["one"].ended, found["one"].code) == ("itself", 3)
    assert 0 < found["one"].began <= found["one"].at


def test_one_that_was_made_to_end(tmp_path: Path) -> None:
    assert run(tmp_path, "sleep 600", timeout=0.2)["one"].ended == "asked"


@pytest.mark.usefixtures("directly")
def test_without_a_keeper_only_the_beginning_is_noted(tmp_path: Path) -> None:
    line = run(tmp_path, "true")["one"]
    assert line.began and not line.ended


def test_a_command_does_not_get_the_file(tmp_path: Path) -> None:
    target = tmp_path / "seen"
    run(tmp_path, f"ls -l /proc/self/fd > {target}")
    assert "notes" not in target.read_text()


def test_torn_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b'{"call":"a","began":1.0}\nrubbish\n{"call":"a","ended":"gone","code":-9,')
    assert read_notes(str(path), ["a"]) == {"a": Line(call="a", began=1.0)}
    assert read_notes(str(tmp_path / "none")) == {}


def stay(host: LocalHost, output: Path, command: str, marked: Marked) -> asyncio.Future[Staying]:
    output.touch()
    facts = {"job": output.stem, "call": "c", "command": command}
    argv = ["env", f"{marked.name}=1", "sh", "-c", command]
    return host.stay(argv, cwd="/", output=str(output), confined=False, facts=facts)  # type: ignore[return-value]


def test_one_that_stays_outlives_its_host(tmp_path: Path, marked: Marked) -> None:
    output = tmp_path / "job_1.txt"
    with_host(lambda host: stay(host, output, "echo up; sleep 600", marked))
    assert soon(lambda: output.read_text() == "up\n")
    assert marked.pids()
    again = Staying(state_path(str(output)))
    assert again.pid > 0 and read_state(state_path(str(output))).job == "job_1"
    assert asyncio.run(again.end()).exit_code == -15
    assert again.pid == 0 and marked.are_gone()


def test_its_exit_code_is_known_when_nobody_was_there(tmp_path: Path, marked: Marked) -> None:
    output = tmp_path / "job_1.txt"
    with_host(lambda host: stay(host, output, "exit 6", marked))
    state = state_path(str(output))
    assert soon(lambda: read_state(state).ended and not keeper_of(state))
    assert asyncio.run(Staying(state).wait()).exit_code == 6


def test_a_keeper_that_was_killed_leaves_nothing_and_is_no_lie(
    tmp_path: Path, marked: Marked
) -> None:
    """The number of a process proves nothing: only who holds the lock counts."""
    output = tmp_path / "job_1.txt"
    with_host(lambda host: stay(host, output, "sleep 600", marked))
    state = Staying(state_path(str(output)))
    assert soon(marked.pids)
    os.kill(state.pid, 9)
    assert soon(lambda: state.pid == 0) and marked.are_gone()
    ended = asyncio.run(state.wait())
    assert ended.exit_code == -9 and "not known" in ended.note


def test_a_file_that_somebody_else_has_open_runs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "job_1.state"
    with path.open("w") as file:
        file.write('{"job":"job_1","began":1.0,"pid":1}\n')
        file.flush()
        assert keeper_of(str(path)) == 0


AGENT = """
import asyncio, sys
from detent.host.local import LocalHost

async def main():
    open(sys.argv[1], "w").close()
    argv = ["sh", "-c", "echo up; sleep 600"]
    await LocalHost().stay(argv, cwd="/", output=sys.argv[1], confined=False, facts={"job": "j"})
    print("started", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_it_outlives_an_agent_that_is_killed(tmp_path: Path) -> None:
    output = tmp_path / "job_1.txt"
    argv = [sys.executable, "-c", textwrap.dedent(AGENT), str(output)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "started\n"
        process.kill()
    state = Staying(state_path(str(output)))
    assert soon(lambda: output.read_text() == "up\n") and state.pid > 0
    asyncio.run(state.end())
    assert state.pid == 0
