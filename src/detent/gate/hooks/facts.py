"""What the JSON of every event says of the session."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detent.gate.hooks.events import HookEvent


class Facts:
    """A host program declares its hooks before there is a session: all is filled in later."""

    def __init__(self) -> None:
        self.session = ""
        self.path = ""
        """The log."""
        self.project = ""
        """Where the session began."""
        self.cwd: Callable[[], str] = lambda: self.project
        self.mode: Callable[[], str] = lambda: "default"

    def common(self, event: "HookEvent") -> dict[str, Any]:
        """Of a subagent, with its id and from where it stands."""
        given = {
            "session_id": self.session,
            "transcript_path": self.path,
            "cwd": event.cwd or self.cwd(),
            "permission_mode": event.permission_mode or self.mode(),
            "hook_event_name": event.name,
        }
        if not event.agent_id:
            return given
        return {**given, "agent_id": event.agent_id, "agent_type": event.agent_type}
