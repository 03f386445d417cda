"""Every command is handed to the sandbox, but for those that were judged to run outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.clock import SystemClock
from detent.app.outputs import OutputFolder
from detent.host.local import LocalHost
from detent.ports import Finished, Running
from detent.tools.registry import Registry
from detent.tools.shell.jobs import JobTable
from detent.types.effects import Runs
from detent.types.outcomes import Done

from .shells import Shells


class Recording(LocalHost):
    """Says that a sandbox held what was to be confined, and keeps the wishes."""

    def __init__(self, scratch: str = "") -> None:
        super().__init__()
        self.wishes: list[bool] = []
        self.environments: list[dict[str, str]] = []
        self._scratch = scratch

    @property
    def scratch(self) -> str:
        return self._scratch

    async def run(self, argv: Any, **more: Any) -> Finished:
        self.wishes.append(more["confined"])
        self.environments.append(dict(more["env"]))
        return replace(await super().run(argv, **more), sandbox="held")

    async def start(self, argv: Any, **more: Any) -> Running:
        self.wishes.append(more["confined"])
        running = await super().start(argv, **more)
        running.sandbox = "held"  # type: ignore[misc]
        return running


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    made = Shells(tmp_path)
    made.host = made.shop.host = Recording(str(tmp_path))
    return made


def called(shells: Shells, **arguments: Any) -> tuple[bool, str, bool]:
    """Whether it was to be confined, what the result says of it, and what was judged."""

    outputs = OutputFolder(str(shells.kept), str(shells.elsewhere))
    shells.table = JobTable(shells.host, outputs, SystemClock(), shells.news.append)
    shells.shop.jobs = shells.table

    async def story() -> Any:
        return await shells.acall("Bash", **arguments)

    outcome = shells.during(story)
    assert isinstance(outcome, Done) and outcome.data is not None, outcome
    tool = shells.registry.find("Bash")
    assert tool is not None
    (effect,) = tool.effects(tool.parse(json.dumps(arguments)), "/")
    assert isinstance(effect, Runs)
    return shells.host.wishes[-1], outcome.data["sandbox"], effect.outside  # type: ignore[attr-defined]


@pytest.mark.parametrize("behind", [True, False])
def test_commands_are_confined(shells: Shells, behind: bool) -> None:
    found = called(shells, command="true", run_in_background=behind)
    assert found == (True, "held", False)
    wished = {"dangerouslyDisableSandbox": True, "run_in_background": behind}
    assert called(shells, command="true", **wished)[::2] == (True, False)


@pytest.mark.parametrize("behind", [True, False])
def test_what_was_judged_to_be_outside_runs_outside(shells: Shells, behind: bool) -> None:
    shells.registry = Registry(given={"Bash": (True, ("true",))})
    wished = {"dangerouslyDisableSandbox": True, "run_in_background": behind}
    assert called(shells, command="echo a", **wished)[::2] == (False, True)
    assert called(shells, command="true", run_in_background=behind)[::2] == (False, True)
    assert called(shells, command="true; true", run_in_background=behind)[::2] == (True, False)


def test_the_footprint_lies_where_a_confined_command_may_write(shells: Shells) -> None:
    called(shells, command="cd .")
    host = shells.host
    assert isinstance(host, Recording)
    path = host.environments[-1]["DETENT_FOLDER_TO"]
    assert os.path.dirname(path) == host.scratch
    assert not os.path.exists(path)
