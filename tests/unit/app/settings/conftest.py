"""A folder of the user, one of the program, one of a project, one of the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.app.settings.sources import Where, load_sources, merge, where_of
from detent.app.wire import assemble
from detent.gate.terms import Rule
from detent.ports import Proposal
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call
from detent.types.effects import Runs


def texts(rules: Iterable[Rule]) -> tuple[str, ...]:
    return tuple(rule.text for rule in rules)


class Disk:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.cwd = str(self.root / "work")
        for name in ("home", "state", "work", "etc"):
            (self.root / name).mkdir()
        self.environ = {"HOME": str(self.root / "home"), "DETENT_HOME": str(self.root / "state")}

    def put(self, place: str, values: Any) -> str:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values))
        return str(path)

    def merged(
        self, *, trusted: bool = True, wanted: Any = ("user", "project", "local"), extra: Any = None
    ) -> Settings:
        return merge(load_sources(self.where, wanted, extra), trusted=trusted)

    @property
    def where(self) -> Where:
        return where_of(self.cwd, self.environ, (str(self.root / "etc"),))

    def settled(self, **more: Any) -> Settings:
        """As a session sees them, with the trust that is stored."""
        return grounds_of(self.options(**more)).settings

    def options(self, **more: Any) -> Options:
        given = {"model": ScriptedModel("x"), "cwd": self.cwd, "environ": self.environ}
        managed = (str(self.root / "etc"),)
        return Options(**{**given, "persist": False, "managed_folders": managed, **more})

    def verdict(self, command: str, **more: Any) -> type:
        engine = assemble(self.options(**more))
        proposal = Proposal(Call("c", "Bash", ""), "Bash", {}, (Runs(command),))
        return type(engine.gate.judge(proposal))


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)
