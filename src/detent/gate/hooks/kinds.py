"""The events that settings and host programs may name, and what a hook may do to each."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import asdict

from detent.gate.hooks import Hook, HookSet

USUAL_SECONDS = 600.0


class Kind(Struct, frozen=True):
    listeners: str
    """The field of HookSet."""
    decides: bool = False
    """A denial means something here."""
    blocks: bool = False
    """So does exit code 2."""
    takes_text: bool = False
    """Output that is no JSON is context for the model."""
    about_calls: bool = False
    """A permission rule (`if`) may choose."""
    seconds: float = USUAL_SECONDS


KINDS: dict[str, Kind] = {
    "PreToolUse": Kind("before_call", decides=True, blocks=True, about_calls=True),
    "PostToolUse": Kind("after_call", decides=True, blocks=True, about_calls=True),
    "PostToolUseFailure": Kind("after_call", decides=True, blocks=True, about_calls=True),
    "PostToolBatch": Kind("after_calls", decides=True, blocks=True),
    "PermissionRequest": Kind("permission_asked", decides=True, about_calls=True),
    "PermissionDenied": Kind("permission_refused", about_calls=True),
    "UserPromptSubmit": Kind("submitted", decides=True, blocks=True, takes_text=True, seconds=30.0),
    "Stop": Kind("stopping", decides=True, blocks=True),
    "StopFailure": Kind("stop_failed"),
    "SubagentStart": Kind("agent_started"),
    "SubagentStop": Kind("agent_stopping", decides=True, blocks=True),
    "TaskCreated": Kind("task_created", decides=True, blocks=True),
    "TaskCompleted": Kind("task_completed", decides=True, blocks=True),
    "SessionStart": Kind("session_started", takes_text=True),
    "SessionEnd": Kind("session_ended", seconds=1.5),
    "PreCompact": Kind("before_compact", decides=True, blocks=True),
    "PostCompact": Kind("after_compact"),
    "InstructionsLoaded": Kind("instructions_loaded"),
    "Notification": Kind("notified"),
}


def hook_set(hooks: Mapping[str, Iterable[Hook]]) -> HookSet:
    """Hooks by the name of their event; two events may have the same listeners, and a hook
    passes over what is not its own."""
    found: dict[str, tuple[Hook, ...]] = {}
    for name, added in hooks.items():
        listeners = KINDS[name].listeners
        found[listeners] = (*found.get(listeners, ()), *added)
    return HookSet(**found)


def both(one: HookSet, other: HookSet) -> HookSet:
    further = asdict(other)
    return HookSet(**{name: (*hooks, *further[name]) for name, hooks in asdict(one).items()})
