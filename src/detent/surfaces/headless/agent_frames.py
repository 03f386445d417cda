"""Subagents as hosts see them: tasks that begin, go on and end, and what they do meanwhile, under
the call that began them."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.surfaces.headless.frames import Frames
from detent.surfaces.wording.nesting import innermost
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.content import Call, plain_text
from detent.types.events import (
    CallEnded,
    Event,
    Prompted,
    Replied,
    TurnEnded,
)

LONGEST = 200
"""Characters of a summary."""
STATUS = {"completed": "completed", "failed": "failed"}
"""Hosts know `stopped` besides; whatever else has ended an agent is that."""

Frame = dict[str, Any]


class _Worker(Struct):
    """An agent as far as hosts were told of it."""

    started: AgentStarted
    frames: Frames
    tokens: int = 0
    calls: int = 0


class AgentFrames:
    def __init__(
        self, session: str, new_id: Callable[[], str], folder: str, *, forwards_text: bool
    ) -> None:
        """`folder` holds the agents' logs; empty where nothing is saved. Only with
        `forwards_text` is told what agents say, and not only what they call."""
        self._session, self._new_id, self._folder = session, new_id, folder
        self._forwards_text = forwards_text
        self._workers: dict[str, _Worker] = {}

    def of(self, event: Event) -> list[Frame]:
        agent, event = innermost(event)
        match event:
            case AgentStarted():
                return self._started(event)
            case AgentEnded():
                return self._ended(event)
        worker = self._workers.get(agent)
        return [] if worker is None else self._of_work(worker, event)

    def call_of(self, event: Event) -> str | None:
        """The call under which it happens; None is the session itself."""
        agent, _ = innermost(event)
        worker = self._workers.get(agent)
        return None if worker is None else worker.started.call_id

    def _started(self, event: AgentStarted) -> list[Frame]:
        frames = Frames(self._session, self._new_id, event.call_id)
        worker = self._workers[event.agent] = _Worker(event, frames)
        kind = {"subagent_type": event.kind, "is_backgrounded": event.background}
        return [self._frame("task_started", worker) | kind]

    def _ended(self, event: AgentEnded) -> list[Frame]:
        worker = self._workers.pop(event.agent, None)
        if worker is None:
            return []
        usage = {
            "total_tokens": event.spent.usage.total,
            "tool_uses": event.calls,
            "duration_ms": event.ms,
        }
        status = STATUS.get(event.state, "stopped")
        patch = {
            "status": "killed" if status == "stopped" else status,
            "end_time": round(event.at * 1000),
            **({"error": event.error} if event.error else {}),
        }
        told = {
            "status": status,
            "output_file": f"{self._folder}/{event.agent}.jsonl" if self._folder else "",
            "summary": _summary(event) or f"{_title(worker.started)}: {event.state}",
            "usage": usage,
        }
        return [
            self._frame("task_updated", worker) | {"patch": patch},
            self._frame("task_notification", worker) | told,
        ]

    def _of_work(self, worker: _Worker, event: Event) -> list[Frame]:
        match event:
            case Replied():
                worker.tokens += event.usage.total
                return self._said(worker, event)
            case CallEnded() | TurnEnded():
                return worker.frames.of(event)
            case Prompted() if self._forwards_text and (text := plain_text(event.content)):
                message = {"role": "user", "content": [{"type": "text", "text": text}]}
                frame = {"type": "user", "message": message}
                parent = {"parent_tool_use_id": worker.started.call_id}
                return [worker.frames.stamped(frame | parent, event.seq)]
            case _:
                return []

    def _said(self, worker: _Worker, reply: Replied) -> list[Frame]:
        calls = tuple(block for block in reply.content if isinstance(block, Call))
        shown = reply if self._forwards_text else replace(reply, content=calls)
        frames = worker.frames.of(shown) if shown.content else []
        if calls:
            worker.calls += len(calls)
            frames.append(self._progress(worker, reply, calls[-1].name))
        return frames

    def _progress(self, worker: _Worker, reply: Replied, tool: str) -> Frame:
        usage = {
            "total_tokens": worker.tokens,
            "tool_uses": worker.calls,
            "duration_ms": max(0, round((reply.at - worker.started.at) * 1000)),
        }
        frame = self._frame("task_progress", worker)
        return frame | {"usage": usage, "last_tool_name": tool}

    def _frame(self, subtype: str, worker: _Worker) -> Frame:
        started = worker.started
        return worker.frames.stamped(
            {
                "type": "system",
                "subtype": subtype,
                "task_id": started.agent,
                "task_type": "local_agent",
                "description": _title(started),
                "tool_use_id": started.call_id,
            }
        )


def _title(started: AgentStarted) -> str:
    return started.description or started.name or started.kind


def _summary(ended: AgentEnded) -> str:
    text = " ".join((ended.error or ended.answer or ended.reason).split())
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
