"""Hooks that stand in an agent's own file: they hear what it does, and what those do who work for
it. What is there called the end of the turn is the end of the agent."""

from msgspec.structs import replace

from detent.app.agents.kinds.record import AgentKind, key_of
from detent.app.engine import Engine
from detent.app.hooking import surroundings
from detent.app.settings.hooks import declared_hooks, not_run
from detent.gate.child import ChildGate
from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookSet
from detent.gate.hooks.commands import command_hooks
from detent.gate.hooks.kinds import KINDS
from detent.types.events import Notice


def add_hooks(engine: Engine, root: Engine, kind: AgentKind) -> None:
    """Of those that may run at all. Raises BadInput."""
    if kind.source in root.grounds.settings.without_hooks:
        return
    entries = declared_hooks({"hooks": kind.hooks}, kind.path or kind.name)
    for text in not_run(entries):
        root.recorder.hint(Notice(text, "warning"))
    run = [entry for entry in entries if entry.kind == "command" and entry.event in KINDS]
    around = surroundings(root, root.grounds.cwd)
    ends = [replace(entry, event="SubagentStop") for entry in run if entry.event == "Stop"]
    if not _is_heard(engine.gate, root, kind):
        others = [entry for entry in run if entry.event != "Stop"]
        engine.gate.add_hooks(command_hooks(others, around))
    if ends:
        engine.gate.add_hooks(HookSet(stopping=command_hooks(ends, around).agent_stopping))


def _is_heard(gate: Gatekeeper, root: Engine, kind: AgentKind) -> bool:
    """Whether somebody above it is of the same kind: what hooks hear of that they hear once."""
    while isinstance(gate, ChildGate):
        gate = gate.above
        if isinstance(gate, ChildGate) and gate.kind == kind.name:
            return True
    grounds = root.grounds
    session = grounds.options.agent or grounds.settings.agent
    return bool(session) and key_of(session) == key_of(kind.name)
