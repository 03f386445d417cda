"""Subagents: a line each while they work."""

from msgspec.structs import replace

from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.folding.terms import Folded
from detent.surfaces.tui.view import View, Worker
from detent.surfaces.wording.gist import amounts, gist, one_line
from detent.surfaces.wording.nesting import innermost
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.events import (
    CallDelta,
    CallStarted,
    Event,
    Nested,
    Notice,
    Replied,
    TextDelta,
    ThinkingDelta,
)


def started(view: View, event: AgentStarted, now: float) -> Folded:
    title = one_line(event.name or event.description or event.kind)
    worker = Worker(
        event.agent, title, event.kind, now, background=event.background, depth=event.depth
    )
    others = tuple(one for one in view.workers if one.agent != event.agent)
    return replace(view, workers=(*others, worker)), ()


def nested(view: View, event: Nested, now: float) -> Folded:
    """What happens to an agent, however deep below."""
    agent, inner = innermost(event)
    match inner:
        case AgentStarted():
            return started(view, inner, now)
        case AgentEnded():
            return ended(view, inner, now)
        case Notice(text=text, level=level) if level != "info":
            return view, (Told(text, level),)
        case _:
            workers = tuple(
                _after(one, inner) if one.agent == agent else one for one in view.workers
            )
            return replace(view, workers=workers), ()


def _after(worker: Worker, event: Event) -> Worker:
    match event:
        case CallStarted(name=name, arguments=arguments):
            return replace(worker, calls=worker.calls + 1, doing=f"{name} {gist(arguments)}")
        case Replied(usage=usage, model=model):
            return replace(worker, usage=worker.usage + usage, model=model)
        case TextDelta():
            return replace(worker, doing="writing")
        case ThinkingDelta():
            return replace(worker, doing="thinking")
        case CallDelta(name=name):
            return replace(worker, doing=f"calling {name}")
        case _:
            return worker


def ended(view: View, event: AgentEnded, now: float) -> Folded:
    """Of one that its parent waits for, the parent's call tells."""
    worker = next((one for one in view.workers if one.agent == event.agent), None)
    workers = tuple(one for one in view.workers if one.agent != event.agent)
    view = replace(view, workers=workers)
    if worker is None or not worker.background:
        return view, ()
    spent = event.spent
    came_to = amounts(event.steps, event.calls, spent.usage.total, spent.dollars)
    state = "has ended" if event.state == "completed" else event.state
    level = "info" if event.state == "completed" else "warning"
    return view, (Told(f"{worker.kind} {worker.title}: {state} · {came_to}", level),)
