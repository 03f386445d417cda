"""What hooks are told: one struct for each event, with its name and fields as JSON has them."""

from typing import Any, ClassVar

from msgspec import Struct

from detent.ports import Proposal
from detent.types.outcomes import Cut, Outcome, is_error, text_of
from detent.types.usage import Usage


class HookEvent(Struct, frozen=True, kw_only=True):
    wire: ClassVar[str] = ""
    """The name in settings and JSON; an event without one is for Python callables alone."""
    listeners: ClassVar[str] = ""
    """The field of HookSet."""

    agent_id: str = ""
    """The subagent that it is of; empty is the session itself."""
    agent_type: str = ""
    cwd: str = ""
    """Where the subagent stands; empty is where the session does."""
    permission_mode: str = ""
    """The subagent's."""

    @property
    def name(self) -> str:
        return self.wire

    @property
    def subject(self) -> str | None:
        """What a matcher is compared with; None: there is nothing to choose."""
        return None

    def fields(self) -> dict[str, Any]:
        """As JSON has them, beside what all events have in common."""
        return {}


class CallEvent(HookEvent, frozen=True):
    tool: str
    arguments: dict[str, Any]
    """Paths of file tools are absolute."""
    call_id: str

    @property
    def subject(self) -> str | None:
        return self.tool

    def fields(self) -> dict[str, Any]:
        return {
            "tool_name": self.tool,
            "tool_input": self.arguments,
            "tool_use_id": self.call_id,
        }


class BeforeCall(CallEvent, frozen=True):
    wire = "PreToolUse"
    listeners = "before_call"

    proposal: Proposal | None = None
    """The call as it is judged, with what it will touch."""


class AfterCall(CallEvent, frozen=True):
    listeners = "after_call"

    outcome: Outcome
    ms: int = 0
    proposal: Proposal | None = None

    @property
    def name(self) -> str:
        return "PostToolUseFailure" if is_error(self.outcome) else "PostToolUse"

    def fields(self) -> dict[str, Any]:
        given = {**CallEvent.fields(self), "duration_ms": self.ms}
        if is_error(self.outcome):
            cut = isinstance(self.outcome, Cut)
            return {**given, "error": text_of(self.outcome), "is_interrupt": cut}
        return {**given, "tool_response": response(self.outcome)}


class AfterCalls(HookEvent, frozen=True):
    """Every call of one answer has ended."""

    wire = "PostToolBatch"
    listeners = "after_calls"

    calls: tuple[AfterCall, ...]

    def fields(self) -> dict[str, Any]:
        seen = [{**CallEvent.fields(c), "tool_response": text_of(c.outcome)} for c in self.calls]
        return {"tool_calls": seen}


class PermissionAsked(CallEvent, frozen=True):
    """A person would be asked now."""

    wire = "PermissionRequest"
    listeners = "permission_asked"

    reason: str = ""
    rules: tuple[str, ...] = ()
    """Those that would permit it, the narrowest first."""
    proposal: Proposal | None = None

    def fields(self) -> dict[str, Any]:
        suggested = [suggestion(rule) for rule in self.rules]
        return {**CallEvent.fields(self), "permission_suggestions": suggested}


class PermissionRefused(CallEvent, frozen=True):
    wire = "PermissionDenied"
    listeners = "permission_refused"

    reason: str = ""
    proposal: Proposal | None = None

    def fields(self) -> dict[str, Any]:
        return {**CallEvent.fields(self), "reason": self.reason}


class Submitted(HookEvent, frozen=True):
    """A prompt on its way to the model."""

    wire = "UserPromptSubmit"
    listeners = "submitted"

    text: str

    def fields(self) -> dict[str, Any]:
        return {"prompt": self.text}


class Stopping(HookEvent, frozen=True):
    """The model has finished its turn."""

    wire = "Stop"
    listeners = "stopping"

    text: str
    again: bool
    """A stop hook has already made this turn go on."""

    def fields(self) -> dict[str, Any]:
        return {"stop_hook_active": self.again, "last_assistant_message": self.text}


class StopFailed(HookEvent, frozen=True):
    """The turn ended because a request failed."""

    wire = "StopFailure"
    listeners = "stop_failed"

    error: str
    details: str = ""
    text: str = ""

    @property
    def subject(self) -> str | None:
        return self.error

    def fields(self) -> dict[str, Any]:
        return {
            "error": self.error,
            "error_details": self.details,
            "last_assistant_message": self.text,
        }


class AgentStarted(HookEvent, frozen=True):
    wire = "SubagentStart"
    listeners = "agent_started"

    agent_id: str
    agent_type: str

    @property
    def subject(self) -> str | None:
        return self.agent_type

    def fields(self) -> dict[str, Any]:
        return {"agent_id": self.agent_id, "agent_type": self.agent_type}


class AgentStopping(HookEvent, frozen=True):
    wire = "SubagentStop"
    listeners = "agent_stopping"

    agent_id: str
    agent_type: str
    text: str
    again: bool
    path: str = ""
    """Its log."""

    @property
    def subject(self) -> str | None:
        return self.agent_type

    def fields(self) -> dict[str, Any]:
        return {
            "agent_id": self.agent_id,
            "agent_type": self.agent_type,
            "agent_transcript_path": self.path,
            "stop_hook_active": self.again,
            "last_assistant_message": self.text,
        }


class TaskEvent(HookEvent, frozen=True):
    """Of a task that all agents share."""

    task_id: str
    task_subject: str
    task_description: str = ""
    agent: str = ""
    """Whose doing it is; empty is the session itself."""

    def fields(self) -> dict[str, Any]:
        given = {
            "task_id": self.task_id,
            "task_subject": self.task_subject,
            "task_description": self.task_description,
        }
        return {**given, "teammate_name": self.agent} if self.agent else given


class TaskCreated(TaskEvent, frozen=True):
    """It is about to be."""

    wire = "TaskCreated"
    listeners = "task_created"


class TaskCompleted(TaskEvent, frozen=True):
    """It is about to be."""

    wire = "TaskCompleted"
    listeners = "task_completed"


class SessionStarted(HookEvent, frozen=True):
    """The first turn of a run begins."""

    wire = "SessionStart"
    listeners = "session_started"

    source: str
    """startup or resume."""
    model: str = ""

    @property
    def subject(self) -> str | None:
        return self.source

    def fields(self) -> dict[str, Any]:
        return {"source": self.source, "model": self.model}


class SessionEnded(HookEvent, frozen=True):
    wire = "SessionEnd"
    listeners = "session_ended"

    reason: str = "other"

    @property
    def subject(self) -> str | None:
        return self.reason

    def fields(self) -> dict[str, Any]:
        return {"reason": self.reason}


class BeforeCompact(HookEvent, frozen=True):
    wire = "PreCompact"
    listeners = "before_compact"

    trigger: str
    """auto or manual."""
    instructions: str = ""

    @property
    def subject(self) -> str | None:
        return self.trigger

    def fields(self) -> dict[str, Any]:
        return {"trigger": self.trigger, "custom_instructions": self.instructions}


class AfterCompact(HookEvent, frozen=True):
    wire = "PostCompact"
    listeners = "after_compact"

    trigger: str
    summary: str

    @property
    def subject(self) -> str | None:
        return self.trigger

    def fields(self) -> dict[str, Any]:
        return {"trigger": self.trigger, "compact_summary": self.summary}


class Notified(HookEvent, frozen=True):
    wire = "Notification"
    listeners = "notified"

    message: str
    kind: str
    """permission_prompt: a question waits for an answer."""
    title: str = ""

    @property
    def subject(self) -> str | None:
        return self.kind

    def fields(self) -> dict[str, Any]:
        return {"message": self.message, "title": self.title, "notification_type": self.kind}


class InstructionsLoaded(HookEvent, frozen=True):
    """The model was told what a memory file says."""

    wire = "InstructionsLoaded"
    listeners = "instructions_loaded"

    path: str
    level: str
    """managed, user, project or local."""
    reason: str
    """session_start, nested_traversal, path_glob_match, include or compact."""
    globs: tuple[str, ...] = ()
    parent: str = ""
    """The file that imports it."""

    @property
    def subject(self) -> str | None:
        return self.reason

    def fields(self) -> dict[str, Any]:
        given: dict[str, Any] = {
            "file_path": self.path,
            "memory_type": self.level.capitalize(),
            "load_reason": self.reason,
        }
        if self.globs:
            given["globs"] = list(self.globs)
        return {**given, "parent_file_path": self.parent} if self.parent else given


class LoopStarted(HookEvent, frozen=True):
    listeners = "on_loop_start"

    turn: int
    prompt: str


class IterationCompleted(HookEvent, frozen=True):
    listeners = "on_iteration_complete"

    turn: int
    step: int
    stop: str
    """The model's stop reason."""
    calls: int
    usage: Usage


class ContextCompacting(HookEvent, frozen=True):
    listeners = "on_context_compact"

    trigger: str
    before_tokens: int


BY_MOMENT: dict[str, type[HookEvent]] = {
    event.listeners: event
    for event in (
        AfterCompact,
        AgentStarted,
        AgentStopping,
        BeforeCompact,
        ContextCompacting,
        InstructionsLoaded,
        IterationCompleted,
        LoopStarted,
        SessionEnded,
        SessionStarted,
        StopFailed,
        TaskCompleted,
        TaskCreated,
    )
}
"""What is told by those who do not know these classes."""


def event_of(moment: str, **facts: Any) -> HookEvent:
    """The event of listeners by their name; calls are given as the fields of AfterCall."""
    if moment == AfterCalls.listeners:
        return AfterCalls(tuple(AfterCall(*call) for call in facts["calls"]))
    return BY_MOMENT[moment](**facts)


def response(outcome: Outcome) -> dict[str, Any]:
    return getattr(outcome, "data", None) or {"text": text_of(outcome)}


def suggestion(rule: str) -> dict[str, Any]:
    """An update of the permissions that whoever answers may send back."""
    tool, has_more, what = rule.partition("(")
    content = {"toolName": tool, "ruleContent": what.removesuffix(")")}
    return {
        "type": "addRules",
        "rules": [content if has_more else {"toolName": tool}],
        "behavior": "allow",
        "destination": "localSettings",
    }
