"""Hooks: what a user has to say to what happens. One bus, whoever listens.

A hook is a callable, sync or async. It gets an event (`events.py`) and gives an answer or None;
commands from settings and callbacks of a host program are such callables too. An exception in a
hook is not a decision: it is reported, and all goes on as if the hook were not there.

This file is loaded at every start, all else of the package with the first hook.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from detent.types.verdicts import HookAnswer

__all__ = ["Hook", "HookAnswer", "HookSet"]

Returned = HookAnswer | None
Hook = Callable[[Any], Returned | Awaitable[Returned]]


class HookSet(Struct, frozen=True):
    """Who listens to what. Beside each the event that it gets."""

    before_call: tuple[Hook, ...] = ()
    """BeforeCall: may deny, ask, allow, change the arguments."""
    after_call: tuple[Hook, ...] = ()
    """AfterCall, of calls that went well and of those that failed."""
    after_calls: tuple[Hook, ...] = ()
    """AfterCalls: all calls of one answer are done."""
    permission_asked: tuple[Hook, ...] = ()
    """PermissionAsked: may answer in place of the person."""
    permission_refused: tuple[Hook, ...] = ()
    """PermissionRefused."""
    submitted: tuple[Hook, ...] = ()
    """Submitted: may block a prompt or add to it."""
    stopping: tuple[Hook, ...] = ()
    """Stopping: a denial makes the turn go on."""
    stop_failed: tuple[Hook, ...] = ()
    """StopFailed: the turn ended with a failed request."""
    agent_started: tuple[Hook, ...] = ()
    """AgentStarted."""
    agent_stopping: tuple[Hook, ...] = ()
    """AgentStopping: as Stopping, of a subagent."""
    task_created: tuple[Hook, ...] = ()
    """TaskCreated: a denial, and there is no such task."""
    task_completed: tuple[Hook, ...] = ()
    """TaskCompleted: a denial leaves it as it is."""
    session_started: tuple[Hook, ...] = ()
    """SessionStarted: may add to the first prompt."""
    session_ended: tuple[Hook, ...] = ()
    """SessionEnded."""
    before_compact: tuple[Hook, ...] = ()
    """BeforeCompact: a denial leaves the conversation as it is."""
    after_compact: tuple[Hook, ...] = ()
    """AfterCompact."""
    instructions_loaded: tuple[Hook, ...] = ()
    """InstructionsLoaded: the model was told a memory file."""
    notified: tuple[Hook, ...] = ()
    """Notified: a person should look."""
    on_loop_start: tuple[Hook, ...] = ()
    """LoopStarted, before the first request of a turn. This and the next two only look on."""
    on_iteration_complete: tuple[Hook, ...] = ()
    """IterationCompleted, after each request and its calls."""
    on_context_compact: tuple[Hook, ...] = ()
    """ContextCompacting."""
