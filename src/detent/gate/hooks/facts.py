"""What the JSON of every event says of the session."""

from collections.abc import Callable
from typing import Any


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

    def common(self, event: str) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "transcript_path": self.path,
            "cwd": self.cwd(),
            "permission_mode": self.mode(),
            "hook_event_name": event,
        }
