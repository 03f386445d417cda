"""Hooks for library users: plain callables, sync or async."""

from detent.gate.hooks import Hook, HookAnswer
from detent.gate.hooks import HookSet as Hooks
from detent.gate.hooks.events import (
    AfterCall,
    AfterCalls,
    AfterCompact,
    AgentStarted,
    AgentStopping,
    BeforeCall,
    BeforeCompact,
    CallEvent,
    ContextCompacting,
    HookEvent,
    InstructionsLoaded,
    IterationCompleted,
    LoopStarted,
    Notified,
    PermissionAsked,
    PermissionRefused,
    SessionEnded,
    SessionStarted,
    StopFailed,
    Stopping,
    Submitted,
    suggestion,
)
from detent.gate.hooks.facts import Facts
from detent.gate.hooks.kinds import KINDS, hook_set
from detent.gate.hooks.matching import fault_in, matches
from detent.gate.hooks.moments import whole_paths
from detent.gate.hooks.reading import WrongEvent, read_answer

__all__ = [
    "KINDS",
    "AfterCall",
    "AfterCalls",
    "AfterCompact",
    "AgentStarted",
    "AgentStopping",
    "BeforeCall",
    "BeforeCompact",
    "CallEvent",
    "ContextCompacting",
    "Facts",
    "Hook",
    "HookAnswer",
    "HookEvent",
    "Hooks",
    "InstructionsLoaded",
    "IterationCompleted",
    "LoopStarted",
    "Notified",
    "PermissionAsked",
    "PermissionRefused",
    "SessionEnded",
    "SessionStarted",
    "StopFailed",
    "Stopping",
    "Submitted",
    "WrongEvent",
    "fault_in",
    "hook_set",
    "matches",
    "read_answer",
    "suggestion",
    "whole_paths",
]
