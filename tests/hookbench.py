"""Hooks as real commands on the bench: a loop whose model is scripted and whose hooks are not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from detent.gate.hooks.commands import Surroundings, command_hooks
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.facts import Facts
from detent.host.local import LocalHost
from detent.types.events import Event, Notice
from kitbench import Bench


class Hooked:
    """Adds command hooks to the gate of a bench. `told` is what people were told."""

    def __init__(self, bench: Bench, folder: Path, entries: Sequence[HookEntry]) -> None:
        self.bench = bench
        self.host = LocalHost()
        self.told: list[str] = []
        self.shown: list[Event] = []
        self.facts = facts = Facts()
        facts.session, facts.path, facts.project = "s1", "/log.jsonl", str(folder)
        gate = bench.kit.gate
        facts.mode = lambda: gate.mode  # type: ignore[attr-defined]
        around = Surroundings(
            lambda: self.host,
            facts,
            report=self.told.append,
            show=self.shown.append,
            beside=gate.beside,  # type: ignore[attr-defined]
            falls_under=lambda rule, event: gate.falls_under(rule, event.proposal),  # type: ignore[attr-defined]
        )
        gate.add_hooks(command_hooks(entries, around))  # type: ignore[attr-defined]

    @property
    def notices(self) -> list[str]:
        return [notice.text for notice in self.bench.of(Notice)]

    async def aclose(self) -> None:
        await self.bench.kit.gate.aclose()  # type: ignore[attr-defined]
        await self.host.aclose()


def saying(answer: Any, *, code: int = 0) -> str:
    """A command that answers with this JSON."""
    return f"printf %s {shlex.quote(json.dumps(answer))}; exit {code}"


def special(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
