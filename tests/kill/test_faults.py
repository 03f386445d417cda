"""The tools of the kill matrix: a fault strikes where it was planned, and the checks can fail."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.types.agents import AgentEnded, AgentStarted, Task, TaskChanged
from detent.types.content import Call, Result, Text
from detent.types.events import CallEnded, CallStarted
from detent.types.messages import Assistant, User
from detent.types.outcomes import Cut, Done
from detent.types.verdicts import Allow

from . import checks, forks
from .cases import Case, Trial, prepared
from .checks import Told
from .faults import AFTER, BEFORE, HALF, NAMES, SPAWNS, SYNCS, WRITES, Layer, Point
from .playing import unpaired
from .stories import TOOLS

SOURCE = Path(__file__).parents[2] / "src" / "detent"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def in_a_fork(task: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 70
        try:
            task()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, b"12345678")


def write_at(path: Path) -> None:
    os.pwrite(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), b"12345678", 0)


def write_unbuffered(path: Path) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(b"12345678")


def write_buffered(path: Path) -> None:
    with open(path, "wb") as file:
        file.write(b"1234")
        file.write(b"5678")


def write_text(path: Path) -> None:
    path.write_text("12345678")


def write_in_a_thread(path: Path) -> None:
    import threading

    thread = threading.Thread(target=write, args=(path,))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    "act",
    [write, write_at, write_unbuffered, write_buffered, write_text, write_in_a_thread],
    ids=lambda act: act.__name__,
)
@pytest.mark.parametrize(("how", "left"), [(BEFORE, b""), (HALF, b"1234"), (AFTER, b"12345678")])
def test_a_write_is_the_last_thing_that_happens(
    act: Callable[[Path], None], how: str, left: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"

    def task() -> None:
        Layer(Point(1, how)).install()
        act(path)

    assert in_a_fork(task) == -9
    assert path.read_bytes() == left


def spawned(path: Path) -> None:
    os.posix_spawn("/bin/sh", ["sh", "-c", f"echo > {path}"], {})


def popened(path: Path) -> None:
    subprocess.Popen(["/bin/sh", "-c", f"echo > {path}"])


def renamed(path: Path) -> None:
    os.rename(path.with_name("old"), path)


def replaced(path: Path) -> None:
    path.with_name("old").replace(path)


def linked(path: Path) -> None:
    os.link(path.with_name("old"), path)


@pytest.mark.parametrize(
    "act", [spawned, popened, renamed, replaced, linked], ids=lambda a: a.__name__
)
def test_nothing_happens_before(act: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "old").touch()

    def task() -> None:
        Layer(Point(1, BEFORE)).install()
        act(tmp_path / "file")

    assert in_a_fork(task) == -9
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("act", [renamed, replaced, linked], ids=lambda act: act.__name__)
def test_it_has_happened_after(act: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "old").touch()

    def task() -> None:
        Layer(Point(1, AFTER)).install()
        act(tmp_path / "file")

    assert in_a_fork(task) == -9
    assert (tmp_path / "file").exists()


def test_half_an_order_is_sent_to_another_process() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:

        def task() -> None:
            Layer(Point(1, HALF)).install()
            socket.send_fds(ours, [b"12345678"], [0])

        assert in_a_fork(task) == -9
        assert theirs.recv(100) == b"1234"


def test_errors_hit_the_disk_from_then_on_and_nothing_else(tmp_path: Path) -> None:
    told = tmp_path / "elsewhere"
    home = tmp_path / "home"
    home.mkdir()

    def task() -> None:
        Layer(Point(2, error=errno.ENOSPC), under=str(home)).install()
        write(home / "one")
        for name in ("two", "three"):
            with pytest.raises(OSError, match="No space"):
                write(home / name)
        write(told)

    assert in_a_fork(task) == 0
    assert (home / "one").read_bytes() == told.read_bytes() == b"12345678"
    assert (home / "two").read_bytes() == b""


def test_the_program_reaches_the_kernel_by_names_that_the_layer_covers() -> None:
    """A name taken out of its module at import time would get past it."""
    covered = "|".join((*WRITES, *SYNCS, *NAMES, *SPAWNS, "send_fds", "fdopen"))
    taken = re.compile(
        rf"^\s*from (os|socket|posix|io) import .*\b({covered}|open)\b", re.MULTILINE
    )
    found = [str(path) for path in SOURCE.rglob("*.py") if taken.search(path.read_text())]
    assert found == []


# The checks


def test_an_orphan_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "GONE_WITHIN", 0.2)

    def task() -> None:
        forks.settle()
        died = forks.run(lambda: os.kill(subprocess.Popen(["sleep", "60"]).pid, 0))
        assert [command.split() for command in died.orphans] == [["sleep", "60"]]

    assert in_a_fork(task) == 0


def test_a_call_without_its_result_is_found() -> None:
    asked, call = User((Text("x"),)), Assistant((Call("a", "T", "{}"),))
    result = User((Result("a", (Text("y"),)),))
    assert unpaired([asked, call, result]) == ""
    assert "got results []" in unpaired([asked, call, User((Text("z"),))])
    assert "calls []" in unpaired([asked, Assistant((Text("b"),)), result])
    assert "come twice" in unpaired([asked, call, result, call, result])
    assert "the model's own" in unpaired([asked, Assistant((Text("b"),))])


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a fault, and what it has reported."""
    ground = prepared(str(tmp_path_factory.mktemp("ended")))

    def task() -> None:
        forks.settle()
        trial = Trial(TOOLS, ground, Case("tools", (Point(),)))
        trial.killed()
        assert trial.complaints == []

    assert in_a_fork(task) == 0
    return Path(ground.root)


def complaints(root: Path, told: Told | None = None) -> list[str]:
    ground = checks.Ground(str(root))
    return list(checks.in_the_end(TOOLS, ground, told or checks.told_by(ground.reports), 0))


def copied(root: Path, to: Path) -> Path:
    """The log names its folder, and nothing that is checked depends on it."""
    import shutil

    return Path(shutil.copytree(root, to / "copy"))


def test_of_a_good_run_nothing_is_said(ended: Path) -> None:
    assert complaints(ended) == []


def test_an_effect_that_happened_twice_is_found(ended: Path, tmp_path: Path) -> None:
    root = copied(ended, tmp_path)
    counter = root / "outside" / "counter"
    counter.write_text(counter.read_text() + "@n1@\n")
    assert complaints(root) == ["effect @n1@ happened 2 times"]


def test_an_effect_that_did_not_happen_is_found(ended: Path, tmp_path: Path) -> None:
    root = copied(ended, tmp_path)
    counter = root / "outside" / "counter"
    counter.write_text(counter.read_text().replace("@n2@\n", ""))
    assert complaints(root) == ["effect @n2@ is said to be done, and is not"]


def test_an_entry_that_was_shown_and_is_lost_is_found(ended: Path, tmp_path: Path) -> None:
    root = copied(ended, tmp_path)
    (log,) = root.glob("home/sessions/*/*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    assert any("was shown and is lost" in text for text in complaints(root))


def test_a_file_that_is_another_or_too_many_is_found(ended: Path, tmp_path: Path) -> None:
    root = copied(ended, tmp_path)
    (root / "work" / "a.txt").write_text("half")
    (root / "work" / ".detent-0123456789ab.tmp").touch()
    assert complaints(root) == [
        ".detent-0123456789ab.tmp was left behind",
        "a.txt holds 'half'",
    ]


def test_what_was_refused_and_has_happened_is_found(ended: Path, tmp_path: Path) -> None:
    root = copied(ended, tmp_path)
    (root / "work" / "forbidden").touch()
    assert "what was refused has happened" in complaints(root)


def test_an_agent_without_an_end_or_begun_again_when_it_was_done_is_found() -> None:
    begun = AgentStarted(agent="a", kind="k", call_id="c")
    done = AgentEnded(agent="a", state="completed")
    cut = AgentEnded(agent="a", state="interrupted")
    assert list(checks._unended([begun, done])) == []
    assert list(checks._unended([begun, cut, begun, done])) == []
    assert list(checks._unended([begun])) == ["agent a has no end"]
    assert list(checks._unended([begun, done, begun, done])) == [
        "agent a was done and has begun again"
    ]


def test_a_task_that_is_lost_or_comes_twice_is_found() -> None:
    listed = [TaskChanged(task=Task(id=str(n), subject="Do @t1@")) for n in (1, 2)]
    certain: Any = {"@t1@": [Done(())]}
    assert list(checks._tasks(listed[:1], certain)) == []
    assert list(checks._tasks([], {"@t1@": [Cut("who knows")]})) == []
    assert list(checks._tasks([], certain)) == ["task @t1@ is 0 times on the list"]
    assert list(checks._tasks(listed, certain)) == ["task @t1@ is 2 times on the list"]


def test_an_effect_in_the_log_of_a_subagent_is_known() -> None:
    started = CallStarted(call_id="c", name="Add", arguments="@n1@", effects=(), verdict=Allow("x"))
    ended = CallEnded(call_id="c", name="Add", outcome=Done(()))
    assert checks.outcomes((), (started, ended)) == {"@n1@": [Done(())]}
    assert checks.outcomes((started, ended), (started,)) == {"@n1@": [Done(()), None]}
