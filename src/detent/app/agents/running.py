"""A subagent at work: one turn, told to its parent's reader, and what came of it."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.child import ChildEngine
from detent.app.agents.logs import own
from detent.app.engine import Engine
from detent.app.inbox import Queue
from detent.loop.turn import run_turn
from detent.types.agents import AgentEnded, AgentRecord, State
from detent.types.budget import Spent
from detent.types.content import Text, UserBlock, plain_text
from detent.types.events import (
    CallStarted,
    Entry,
    Event,
    Nested,
    Prompted,
    Reminded,
    Replied,
    TurnEnded,
)

if TYPE_CHECKING:
    from detent.app.agents.files.worktrees import Worktree

BRIEFING = (
    "[You work as a subagent: what you write last is all that the one who asked you will read. "
    "Nobody answers questions; decide, and say what you decided.]"
)


class Work(Struct, frozen=True):
    engine: ChildEngine
    above: Engine
    agent: str
    prompt: str
    first: int = 0
    """The last entry that was there before this run."""
    worktree: "Worktree | None" = None


async def at_work(work: Work) -> TurnEnded:
    """One turn, and another for what came too late for it. Cancelling ends whatever runs below."""
    engine, above = work.engine, work.above

    async def deliver(event: Event) -> None:
        await above.recorder.emit(Nested(work.agent, event))

    engine.recorder.attach(deliver, lambda event: above.recorder.hint(Nested(work.agent, event)))
    was_asked = any(isinstance(entry, Prompted) for entry in own(engine.journal.log.entries))
    await engine.begin()
    if not was_asked:
        await engine.recorder.emit(Reminded(text=BRIEFING, source="subagent"))
    ended = await run_turn(engine.kit, (Text(work.prompt),), engine.turns + 1)
    while ended.reason == "end_turn" and (late := _unread(engine.inbox)):
        ended = await run_turn(engine.kit, late, engine.turns + 1)
    return ended


def _unread(inbox: Queue) -> tuple[UserBlock, ...]:
    """News as well: whoever tells something here was told that it is read."""
    news = (Text(text) for text in inbox.news())
    return (*news, *(block for blocks in inbox.take() for block in blocks))


def ended_of(work: Work, task: "asyncio.Task[TurnEnded] | None", ms: int) -> AgentEnded:
    """What came of it: of its entries, and of how the task ended, if there ever was one."""
    engine = work.engine
    entries = [entry for entry in engine.journal.log.entries if entry.seq > work.first]
    state, reason, error = _standing(task, entries)
    return AgentEnded(
        agent=work.agent,
        state=state,
        reason=reason,
        answer=answer_in(entries),
        error=error,
        steps=sum(isinstance(entry, Replied) for entry in entries),
        calls=sum(isinstance(entry, CallStarted) for entry in entries),
        spent=spent_by(engine),
        ms=ms,
        unread=tuple(plain_text(content) for content in engine.inbox.take()),
    )


def so_far(work: Work, record: AgentRecord, ms: int) -> AgentRecord:
    """What is known of one that still works."""
    entries = [entry for entry in work.engine.journal.log.entries if entry.seq > work.first]
    return replace(
        record,
        answer=answer_in(entries),
        turns=record.turns + sum(isinstance(entry, Replied) for entry in entries),
        tool_calls=record.tool_calls + sum(isinstance(entry, CallStarted) for entry in entries),
        spent=record.spent + spent_by(work.engine),
        ms=record.ms + ms,
    )


def spent_by(engine: ChildEngine) -> Spent:
    """In this run of it. Its turns and its time are part of its parent's."""
    return replace(engine.kit.account.spent - engine.spent_before, turns=0, seconds=0.0)


def _standing(
    task: "asyncio.Task[TurnEnded] | None", entries: Sequence[Entry]
) -> tuple[State, str, str]:
    ended = next((entry for entry in reversed(entries) if isinstance(entry, TurnEnded)), None)
    fault = None if task is None or task.cancelled() else task.exception()
    if fault is not None:
        return "failed", type(fault).__name__, str(fault) or type(fault).__name__
    if ended is None or ended.reason == "user_cancelled":
        return "stopped", "user_cancelled", ""
    if ended.reason == "end_turn":
        return "completed", ended.reason, ""
    return "failed", ended.reason, ended.error


def answer_in(entries: Sequence[Entry]) -> str:
    """The last words that it wrote."""
    for entry in reversed(entries):
        if isinstance(entry, Replied) and (text := plain_text(entry.content).strip()):
            return text
    return ""
