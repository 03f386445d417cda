"""Hooks from settings, wired to a session; loaded only where there are some."""

import asyncio
from typing import TYPE_CHECKING, Any

from detent.app.recorder import Recorder
from detent.app.settings.hooks import not_run
from detent.gate.gate import Gatekeeper
from detent.gate.hooks.commands import Surroundings, command_hooks
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.events import SessionEnded
from detent.gate.hooks.facts import Facts
from detent.gate.hooks.kinds import KINDS
from detent.ports import Proposal
from detent.types.events import Notice

if TYPE_CHECKING:
    from detent.app.engine import Engine

PARTING = KINDS["SessionEnd"].seconds
"""Seconds that all hooks together have when a session ends."""


def add_commands(engine: "Engine", entries: tuple[HookEntry, ...], project: str) -> list[str]:
    """What the user should know of those that will not run."""
    run = [entry for entry in entries if entry.kind == "command" and entry.event in KINDS]
    engine.gate.add_hooks(command_hooks(run, surroundings(engine, project)))
    return not_run(entries)


def surroundings(engine: "Engine", project: str) -> Surroundings:
    """What commands run in, of a session and of its subagents."""
    gate, recorder, shop = engine.gate, engine.recorder, engine.shop
    facts = Facts()
    facts.session, facts.path = engine.journal.session, engine.journal.path
    facts.project = project
    facts.cwd, facts.mode = lambda: engine.cwd, lambda: gate.mode

    def falls_under(rule: str, event: Any) -> bool:
        call: Proposal | None = getattr(event, "proposal", None)
        return call is None or gate.below.get(event.agent_id, gate).falls_under(rule, call)

    return Surroundings(
        lambda: shop.host,
        facts,
        report=lambda text: recorder.hint(Notice(text, "warning")),
        show=recorder.hint,
        beside=gate.beside,
        falls_under=falls_under,
    )


async def say_goodbye(gate: Gatekeeper, recorder: Recorder) -> None:
    """SessionEnd. Whoever closes a session does not wait for long."""
    try:
        async with asyncio.timeout(PARTING):
            await gate.tell(SessionEnded())
    except TimeoutError:
        text = f"hooks for the end of the session were left after {PARTING:g} s"
        recorder.hint(Notice(text, "warning"))
