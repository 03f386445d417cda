"""Subagents in the log: who was set to what, how it went, and the tasks they share.

Records are immutable: whatever changes is a further entry, and a record is folded from them.
"""

from typing import Any, Literal

from msgspec import Struct

from detent.types.budget import Spent
from detent.types.durable import Durable
from detent.types.files import Change

State = Literal["running", "completed", "failed", "stopped", "interrupted", "skipped"]
"""`stopped`: somebody ended it. `interrupted`: the program died under it. `skipped`: what it
depends on was not done, so it never began."""


class Lineage(Struct, frozen=True, omit_defaults=True):
    """Where an agent stands below the session that it works for."""

    agent: str
    """Its id; its log bears the same."""
    kind: str
    root: str
    """The session of the person."""
    parent: str = ""
    """The agent that it works for; empty is the session itself."""
    call: str = ""
    """The parent's call that it answers."""
    group: str = ""
    index: int = 0
    """Its place among those that the call began."""
    depth: int = 1


class AgentStarted(Durable, frozen=True, kw_only=True):
    """In the log of its parent, before it begins."""

    agent: str
    kind: str
    call_id: str
    description: str = ""
    name: str = ""
    """What others call it."""
    parent: str = ""
    group: str = ""
    index: int = 0
    depth: int = 1
    model: str = ""
    background: bool = False
    worktree: str = ""
    """The folder of its own that it works in."""
    goes_on: bool = False
    """It has a past: its log is gone on with."""
    mode: str = ""
    """What its task holds it to, beside its kind: a permission mode,"""
    max_turns: int = 0
    """and how many model requests it may make;"""
    effort: str = ""
    wanted_model: str = ""
    """the model that it named, if it did;"""
    at_end: str = ""
    """and what becomes of the worktree."""


NOT_STARTED = "not started"
"""Why one has failed that could not begin: no such kind, too deep, no budget left."""


class AgentEnded(Durable, frozen=True, kw_only=True):
    agent: str
    state: State
    reason: str = ""
    """Why its turn ended; of one that was skipped, the dependency that was not done."""
    answer: str = ""
    error: str = ""
    """What a person should know when it was not a normal end."""
    steps: int = 0
    """Model requests."""
    calls: int = 0
    """Of tools, by itself."""
    spent: Spent = Spent()
    """By it and all below it, in this run of it."""
    ms: int = 0
    unread: tuple[str, ...] = ()
    """What it was told and did not come to hear: it hears it when it goes on."""

    @property
    def never_began(self) -> bool:
        return self.state == "skipped" or self.reason == NOT_STARTED


class GroupEnded(Durable, frozen=True, kw_only=True):
    """What came of a group of subtasks."""

    group: str
    call_id: str
    strategy: str = "parallel"
    completed: int = 0
    failed: int = 0
    batches: int = 0
    """How often children began together."""
    largest_batch: int = 0
    skipped: int = 0
    """Children whose dependencies were not done."""
    ms: int = 0


class ChildChanged(Durable, frozen=True, kw_only=True):
    """In the log of the person's session: what a call of a subagent has done to files. In the
    order in which it happened, so that it can be undone from there."""

    agent: str
    call_id: str
    changed: tuple[Change, ...]


class Task(Struct, frozen=True, omit_defaults=True):
    """Something to do that all agents of a session see."""

    id: str
    subject: str
    description: str = ""
    status: Literal["pending", "in_progress", "completed", "deleted"] = "pending"
    owner: str = ""
    """The agent that has claimed it: its name or id."""
    blocked_by: tuple[str, ...] = ()
    """Tasks that must be completed before."""
    active_form: str = ""
    metadata: dict[str, Any] = {}


class TaskChanged(Durable, frozen=True, kw_only=True):
    """In the log of the person's session: a task as it is from now on."""

    task: Task
    by: str = ""
    """The agent that changed it; empty is the session itself."""


class AgentRecord(Struct, frozen=True, kw_only=True):
    """What is known of an agent: folded from `AgentStarted` and `AgentEnded`."""

    agent: str
    kind: str
    state: State = "running"
    name: str = ""
    description: str = ""
    call_id: str = ""
    parent_agent_id: str = ""
    group_id: str = ""
    child_index: int = 0
    depth: int = 1
    model: str = ""
    background: bool = False
    worktree: str = ""
    mode: str = ""
    max_turns: int = 0
    effort: str = ""
    wanted_model: str = ""
    at_end: str = ""
    """What its task says, beside its kind."""
    unread: tuple[str, ...] = ()
    session_path: str = ""
    turns: int = 0
    """Model requests: what the source documents call turns."""
    tool_calls: int = 0
    stop_reason: str = ""
    answer: str = ""
    error: str = ""
    spent: Spent = Spent()
    begun: float = 0.0
    ms: int = 0

    @property
    def never_began(self) -> bool:
        return self.state == "skipped" or self.stop_reason == NOT_STARTED

    @property
    def cause(self) -> str:
        """Why it ended, where its state does not say that."""
        is_said = self.stop_reason == self.state or self.state == "stopped"
        return "" if is_said else self.stop_reason
