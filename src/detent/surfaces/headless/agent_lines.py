"""What people are told of subagents on stderr. With `--verbose` a line for each call of one, and
for the end of one in the background."""

import time

from msgspec import Struct

from detent.surfaces.headless.activity import LONG_CALL, say_cut, tell_notice
from detent.surfaces.wording.gist import amounts, came_to, gist, one_line
from detent.surfaces.wording.marks import mark
from detent.surfaces.wording.nesting import innermost
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import CallEnded, CallStarted, Event, Nested
from detent.types.outcomes import Done

MARKS = {"completed": "✓", "failed": "✗"}


class _Worker(Struct):
    started: AgentStarted
    calls: dict[str, CallStarted]
    """Those that run."""


class AgentLines:
    def __init__(self) -> None:
        self._workers: dict[str, _Worker] = {}

    def tell(self, event: Event) -> None:
        agent, event = innermost(event)
        match event:
            case AgentStarted():
                self._workers[event.agent] = _Worker(event, {})
                return
            case AgentEnded():
                self._tell_end(event)
                return
        worker = self._workers.get(agent)
        match event:
            case CallStarted() if worker is not None:
                worker.calls[event.call_id] = event
            case CallEnded() if worker is not None:
                _tell_call(worker, event)
            case _:
                tell_notice(event)

    def _tell_end(self, ended: AgentEnded) -> None:
        """Of any other its parent's call tells."""
        worker = self._workers.pop(ended.agent, None)
        if worker is None or not worker.started.background:
            return
        spent = ended.spent
        came_to = amounts(ended.steps, ended.calls, spent.usage.total, spent.dollars)
        state = "" if ended.state == "completed" else f" · {ended.state}"
        sign, name = MARKS.get(ended.state, "✂"), _called(worker.started)
        say_cut(f"{_indent(worker, 0)}{sign} {name} has ended{state} · {ended.ms} ms · {came_to}")


class LongWork:
    """A line every ten seconds for each agent in the background, while it gives signs of life: a
    turn that only waits for them must not look like a hang."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[AgentStarted, int]] = {}
        """And how many times ten seconds were told."""

    def tell(self, event: Event) -> None:
        match event:
            case AgentStarted(background=True):
                self._begun[event.agent] = event, 0
            case AgentEnded():
                self._begun.pop(event.agent, None)
            case Nested(agent=agent) if agent in self._begun:
                self._tell_life(agent)

    def _tell_life(self, agent: str) -> None:
        started, told = self._begun[agent]
        seconds = time.time() - started.at
        times = int(seconds // LONG_CALL)
        if times > told:
            self._begun[agent] = started, times
            say_cut(f"  … {_called(started)} · {seconds:.0f} s")


def _tell_call(worker: _Worker, ended: CallEnded) -> None:
    started = worker.calls.pop(ended.call_id, None)
    about = f" {gist(started.arguments)}" if started is not None else ""
    line = f"{mark(ended.outcome)} {_called(worker.started)}: {ended.name}{about} · {ended.ms} ms"
    why = "" if isinstance(ended.outcome, Done) else f" · {came_to(ended.outcome)}"
    say_cut(f"{_indent(worker)}{line}{why}")


def _indent(worker: _Worker, more: int = 1) -> str:
    return "  " * (worker.started.depth + more)


def _called(started: AgentStarted) -> str:
    about = started.name or started.description
    return one_line(about or started.kind)
