"""Bash, on real shells."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.tools.bash import BashArgs
from detent.tools.pacing import ROOM, Paced
from detent.types.effects import Runs
from detent.types.outcomes import Cut, Done, Failed, text_of

from .conftest import Bench


def data_of(outcome: Any) -> dict[str, Any]:
    assert isinstance(outcome, Done | Failed)
    assert outcome.data is not None
    return outcome.data


def test_output_of_both_streams(disk: Bench) -> None:
    outcome = disk.call("Bash", command="echo out; echo err >&2")
    assert isinstance(outcome, Done)
    assert sorted(text_of(outcome).split("\n")) == ["err", "out"]
    assert data_of(outcome) == {
        "stdout": "out\n",
        "stderr": "err\n",
        "interrupted": False,
        "isImage": False,
        "exitCode": 0,
    }


def test_both_streams_in_order_of_arrival(disk: Bench) -> None:
    """The second stream is written only after the first has been seen."""
    seen = Path(disk.cwd, "seen")
    disk.show = lambda text: seen.touch()
    command = "echo one; while [ ! -e seen ]; do sleep 0.01; done; echo two >&2"
    assert disk.text("Bash", command=command, timeout=9_000) == "one\ntwo"


def test_it_runs_in_the_working_folder_without_input(disk: Bench) -> None:
    assert disk.text("Bash", command="pwd; cat") == disk.cwd


def test_no_output_is_said(disk: Bench) -> None:
    assert disk.text("Bash", command="true") == "(no output)"


def test_failure_has_output_and_code(disk: Bench) -> None:
    outcome = disk.call("Bash", command="echo bad; exit 3")
    assert isinstance(outcome, Failed)
    assert outcome.text == "bad\n\nExit code 3"
    assert data_of(outcome)["exitCode"] == 3


def test_death_by_signal_is_said(disk: Bench) -> None:
    assert disk.text("Bash", command="kill -KILL $$") == "Killed by SIGKILL."
    said = disk.text("Bash", command="bash -c 'kill -SEGV $$'; exit $?")
    assert said.endswith("Exit code 139 (as after SIGSEGV).")


@pytest.mark.parametrize(
    ("command", "meaning"),
    [
        ("grep needle /etc/passwd", "nothing matched"),
        ("diff /etc/passwd /etc/group", "the inputs differ"),
        ("test -e /nowhere", "the condition is false"),
    ],
)
def test_one_can_be_an_answer(disk: Bench, command: str, meaning: str) -> None:
    outcome = disk.call("Bash", command=command)
    assert isinstance(outcome, Done)
    assert text_of(outcome).endswith(f"Exit code 1: {meaning}.")


@pytest.mark.parametrize(
    "command", ["grep x /etc/passwd && false", "test -e /nowhere; false", "grep x /nowhere"]
)
def test_other_failures_stay_failures(disk: Bench, command: str) -> None:
    assert isinstance(disk.call("Bash", command=command), Failed)


def test_time_limit(disk: Bench) -> None:
    outcome = disk.call("Bash", command="echo begun; sleep 60", timeout=300)
    assert outcome == Cut("timed out after 0.3 s", "begun")


def test_settings_move_the_limits(disk: Bench) -> None:
    disk.settings = {"bash_default_timeout_ms": "200", "bash_max_timeout_ms": "300"}
    assert disk.call("Bash", command="sleep 60") == Cut("timed out after 0.2 s")
    assert disk.call("Bash", command="sleep 60", timeout=60_000) == Cut("timed out after 0.3 s")
    disk.settings = {"bash_default_timeout_ms": "soon"}
    assert disk.text("Bash", command="echo fine") == "fine"


def test_background_is_refused_honestly(disk: Bench) -> None:
    outcome = disk.call("Bash", command="sleep 1", run_in_background=True)
    assert isinstance(outcome, Failed)
    assert "not part of this version" in outcome.text


def test_terminal_sequences_are_taken_out(disk: Bench) -> None:
    command = r"printf '\e[1;31mred\e[0m \e]0;title\a\bdone\r\n10%%\r20%%\n'"
    assert disk.text("Bash", command=command) == "red done\n10%\n20%"


def test_bytes_that_are_not_text(disk: Bench) -> None:
    assert disk.text("Bash", command=r"printf 'a\xff\0b'") == "a\ufffdb"


def test_much_output_keeps_both_ends_in_little_memory(disk: Bench) -> None:
    command = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"
    tracemalloc.start()
    outcome = disk.call("Bash", command=command)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = text_of(outcome)
    assert peak < 20_000_000
    assert text.startswith("first\nxxx")
    assert text.endswith("xxx\nlast")
    assert "[... 99,970,012 bytes left out ...]" in text
    assert len(text) < 31_000


def test_progress_comes_at_once_and_goes_on_while_the_command_runs(disk: Bench) -> None:
    go = Path(disk.cwd, "go")
    os.mkfifo(go)

    async def watch() -> list[str]:
        printed: asyncio.Queue[str] = asyncio.Queue()
        disk.show = printed.put_nowait
        command = "echo first; cat go; echo second; cat go"
        task = asyncio.create_task(disk.acall("Bash", command=command))
        seen = [await printed.get()]
        await asyncio.to_thread(go.write_text, "")
        seen.append(await printed.get())
        await asyncio.to_thread(go.write_text, "")
        await task
        return seen

    assert asyncio.run(watch()) == ["first\n", "second\n"]


def test_progress_is_paced_and_bounded() -> None:
    async def flood() -> list[str]:
        shown: list[str] = []
        paced = Paced(shown.append)
        for number in range(2000):
            paced.feed(b"%04d\n" % number)
        paced.close()
        return shown

    shown = asyncio.run(flood())
    assert shown[0] == "0000\n"
    assert len(shown) < 100, "a burst is gathered, not shown piece by piece"
    assert all(len(text) <= ROOM for text in shown)


def test_cancelling_ends_the_command(disk: Bench) -> None:
    async def cancel() -> None:
        printed: asyncio.Queue[str] = asyncio.Queue()
        disk.show = printed.put_nowait
        task = asyncio.create_task(disk.acall("Bash", command="echo $$; exec sleep 60"))
        pid = int(await printed.get())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    asyncio.run(cancel())


def test_a_missing_folder_is_an_outcome(disk: Bench) -> None:
    disk.cwd = "/no/such/folder"
    assert disk.text("Bash", command="true") == "Bash: No such file or directory: /no/such/folder"


def test_a_command_too_long_or_impossible_is_an_outcome(disk: Bench) -> None:
    assert isinstance(disk.call("Bash", command="#" + "x" * 3_000_000), Failed)
    assert isinstance(disk.call("Bash", command="echo \0"), Failed)


def test_sh_serves_where_there_is_no_bash(memory: Callable[..., Bench]) -> None:
    bench = memory(commands={"make": (0, "built\n")})
    assert bench.text("Bash", command="make") == "built"
    assert bench.host.ran == [["sh", "-c", "make"]]  # type: ignore[attr-defined]


def test_effects(disk: Bench) -> None:
    tool = disk.registry.find("Bash")
    assert tool is not None
    assert tool.effects(BashArgs("rm x"), "/p") == (Runs("rm x"),)
