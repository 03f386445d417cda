"""Bash, on real shells."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.host.local import LocalHost
from detent.ports import Finished
from detent.tools.shell.bash import LONGEST, BashArgs
from detent.tools.shell.pacing import ROOM, Paced
from detent.types.effects import Runs
from detent.types.outcomes import Cut, Done, Failed, text_of

from ..conftest import Bench
from .shells import Shells


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    return Shells(tmp_path)


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
        "sandbox": "none",
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


def reason_of(outcome: Any) -> str:
    assert isinstance(outcome, Cut)
    return outcome.reason


def test_time_limit(disk: Bench) -> None:
    outcome = disk.call("Bash", command="echo begun; sleep 60", timeout=300)
    assert outcome == Cut(
        "timed out after 0.3 s: the command and all that it had started were ended. To run longer, "
        "set timeout (at most 600000) or use run_in_background.",
        "begun",
    )


def test_settings_move_the_limits(disk: Bench) -> None:
    disk.settings = {"bash_default_timeout_ms": "200", "bash_max_timeout_ms": "300"}
    soon = reason_of(disk.call("Bash", command="sleep 60"))
    assert soon.startswith("timed out after 0.2 s") and "at most 300" in soon
    last = reason_of(disk.call("Bash", command="sleep 60", timeout=60_000))
    assert last.startswith("timed out after 0.3 s") and "set timeout" not in last
    disk.settings = {"bash_default_timeout_ms": "²", "bash_max_output_length": "soon"}
    assert disk.text("Bash", command="echo fine") == "fine"


class Noting(LocalHost):
    """A host that ends things for reasons of its own."""

    async def run(self, *args: Any, **more: Any) -> Finished:
        finished = await super().run(*args, **more)
        return Finished(finished.exit_code, finished.timed_out, "Ended: too many processes.")


def test_what_the_host_says_is_passed_on(tmp_path: Path) -> None:
    bench = Bench(Noting(), str(tmp_path))
    assert bench.text("Bash", command="exit 2") == "Exit code 2\nEnded: too many processes."
    late = bench.call("Bash", command="sleep 60", timeout=100)
    assert reason_of(late).endswith("Ended: too many processes.")


def test_terminal_sequences_are_taken_out(disk: Bench) -> None:
    command = r"printf '\e[1;31mred\e[0m \e]0;title\a\bdone\r\n10%%\r20%%\n'"
    assert disk.text("Bash", command=command) == "red done\n10%\n20%"


def test_a_torn_sequence_hides_nothing(disk: Bench) -> None:
    command = r"printf '\e]0;no end\nseen\e]\e\\ too\n'"
    assert disk.text("Bash", command=command) == "0;no end\nseen too"


def test_bytes_that_are_not_text(disk: Bench) -> None:
    assert disk.text("Bash", command=r"printf 'a\xff\0b'") == "a\ufffdb"


LONG = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"


@pytest.mark.parametrize("then", ["", "; exit 3"])
def test_much_output_keeps_both_ends_in_little_memory(shells: Shells, then: str) -> None:
    tracemalloc.start()
    outcome = shells.call("Bash", command=LONG + then)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = text_of(outcome)
    assert peak < 20_000_000
    assert len(text) <= 30_000
    assert text.startswith("first\nxxx")
    assert "xxx\nlast" in text[-300:]
    (kept,) = shells.kept.iterdir()
    assert f"the whole output (100.0 MB) is in {kept}: use Read or Grep" in text
    with open(kept, "rb") as file:
        assert file.read(10) == b"first\nxxxx"
        file.seek(-10, os.SEEK_END)
        assert (file.read(), file.tell()) == (b"xxxx\nlast\n", 100_000_012)
    data = data_of(outcome)
    assert len(data["stdout"]) <= 30_000
    assert (data["persistedOutputPath"], data["persistedOutputSize"]) == (str(kept), 100_000_012)


def test_much_output_until_the_time_limit(shells: Shells) -> None:
    outcome = shells.call("Bash", command="seq 50000; sleep 60", timeout=2_000)
    assert isinstance(outcome, Cut)
    assert len(text_of(outcome)) <= 30_000
    assert outcome.text.endswith("\n49999\n50000")
    (kept,) = shells.kept.iterdir()
    assert str(kept) in outcome.text
    assert kept.read_text().split() == [str(number) for number in range(1, 50_001)]


@pytest.mark.parametrize(
    ("setting", "most"),
    [("", 30_000), ("50000", 50_000), ("150000", 150_000), ("3", 1_000), ("-1", 30_000)],
)
def test_the_bound_is_exact_and_can_be_set(shells: Shells, setting: str, most: int) -> None:
    shells.settings = {"bash_max_output_length": setting}
    fits = shells.text("Bash", command=f"printf '%0{most - 2}d' 0")
    assert fits == "0" * (most - 2)
    assert not shells.kept.exists()
    for size in (most, most + 1, 4 * most, 5 * most):
        outcome = shells.call("Bash", command=f"printf '%0{size}d' 0; printf e; exit 3")
        assert len(text_of(outcome)) <= most
        assert text_of(outcome).endswith("0e\n\nExit code 3")
        path = Path(data_of(outcome)["persistedOutputPath"])
        assert path.read_bytes() == b"0" * size + b"e"
        path.unlink()


def test_wide_characters_count_as_one(shells: Shells) -> None:
    Path(shells.cwd, "wide").write_text("€" * 29_990)
    assert shells.text("Bash", command="cat wide") == "€" * 29_990
    assert not shells.kept.exists()


def test_both_streams_are_in_the_file(shells: Shells) -> None:
    text = shells.text("Bash", command="yes out | head -20000; yes err | head -20000 >&2")
    (kept,) = shells.kept.iterdir()
    assert str(kept) in text
    found = kept.read_bytes().split()
    assert (found.count(b"out"), found.count(b"err")) == (20_000, 20_000)


def test_a_full_disk_fails_nothing(shells: Shells) -> None:
    for folder in (shells.kept, shells.elsewhere):
        folder.write_text("in the way of the folder")
    outcome = shells.call("Bash", command="yes | head -c 100000; echo end")
    assert isinstance(outcome, Done)
    assert "the whole (100.0 KB) could not be kept: " in text_of(outcome)
    assert text_of(outcome).endswith("y\nend")


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


def test_a_command_that_no_shell_takes_is_told_the_way(disk: Bench) -> None:
    whole = disk.text("Bash", command="true " + "x" * (LONGEST - 5))
    assert "bytes" not in whole
    said = disk.text("Bash", command="true " + "x" * (LONGEST - 4))
    assert "131,072 bytes" in said and "Write it to a file" in said
