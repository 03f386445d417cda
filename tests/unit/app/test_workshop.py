"""What the desks of a session share: made when wanted, closed when made, remembered by the log."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.engine import Engine
from detent.app.options import Options
from detent.app.wire import assemble
from detent.testing.memory_host import MemoryHost
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import CallEnded, Switched
from detent.types.outcomes import done


class Part:
    def __init__(self, closed: list[str], name: str, fails: bool = False) -> None:
        self._closed, self._name, self._fails = closed, name, fails

    async def aclose(self) -> None:
        self._closed.append(self._name)
        if self._fails:
            raise OSError("broken")


def engine(home: Path, **options: Any) -> Engine:
    environ = {"HOME": str(home), "DETENT_HOME": str(home / "state")}
    model = ScriptedModel("ok")
    return assemble(Options(model=model, cwd=str(home), environ=environ, **options))


def test_what_was_made_is_closed_and_nothing_else_is_made(tmp_path: Path) -> None:
    made = engine(tmp_path)
    closed: list[str] = []
    made.shop.__dict__ |= {"jobs": Part(closed, "jobs"), "host": Part(closed, "host")}
    asyncio.run(made.aclose())
    assert closed == ["jobs", "host"], "the ground goes last"
    assert "web" not in made.shop.__dict__ and "code" not in made.shop.__dict__


def test_a_part_that_fails_does_not_keep_the_others_open(tmp_path: Path) -> None:
    made = engine(tmp_path)
    closed: list[str] = []
    made.shop.__dict__ |= {
        "jobs": Part(closed, "jobs", fails=True),
        "code": Part(closed, "code", fails=True),
        "host": Part(closed, "host"),
    }
    with pytest.raises(OSError, match="broken"):
        asyncio.run(made.aclose())
    assert closed == ["jobs", "code", "host"]


def test_a_host_that_was_given_is_left_to_its_owner(tmp_path: Path) -> None:
    closed: list[str] = []

    class Theirs(MemoryHost):
        async def aclose(self) -> None:
            closed.append("host")

    made = engine(tmp_path, host=Theirs())
    assert isinstance(made.shop.host, Theirs)
    asyncio.run(made.aclose())
    assert closed == []


@pytest.mark.parametrize("persist", [True, False])
def test_outputs_stay_with_a_saved_session_and_go_with_another(
    tmp_path: Path, persist: bool
) -> None:
    made = engine(tmp_path, persist=persist)
    with made.shop.outputs.create("long") as file:
        file.write(b"text")
    assert made.gate._workspace.reads_freely(file.name)
    assert os.stat(file.name).st_mode & 0o777 == 0o600
    asyncio.run(made.aclose())
    assert os.path.exists(file.name) is persist


def test_the_last_result_of_a_tool_by_any_of_its_names(tmp_path: Path) -> None:
    made = engine(tmp_path)
    for name, value in (("TodoWrite", 1), ("todo_write", 2), ("Read", 3)):
        outcome = done("", {"v": value})
        made.journal.log.append(CallEnded(call_id=name, name=name, outcome=outcome))
    assert made.shop.last("TodoWrite") == {"v": 2}
    assert made.shop.last("Glob") is None


@pytest.mark.parametrize(
    ("modes", "asked", "now"),
    [
        (["plan"], "", "plan"),
        (["plan", "default"], "", "acceptEdits"),
        ([], "", "acceptEdits"),
        (["plan"], "default", "default"),
    ],
)
def test_plan_mode_outlasts_a_resume(
    tmp_path: Path, modes: list[str], asked: str, now: str
) -> None:
    settings = {"permissions": {"defaultMode": "acceptEdits"}}
    first = engine(tmp_path, settings=settings)

    async def story() -> None:
        await first.begin()
        for mode in modes:
            first.journal.log.append(Switched(mode=mode))
        await first.aclose()

    asyncio.run(story())
    session = first.journal.session
    again = engine(tmp_path, settings=settings, resume=session, permission_mode=asked)
    assert again.gate.mode == now
    assert again.gate.usual_mode == (asked or "acceptEdits")
    asyncio.run(again.aclose())
