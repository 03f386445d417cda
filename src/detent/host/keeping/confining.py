"""The nursery confines itself once; whatever it forks is confined without any further cost."""

import _socket

from detent.host.keeping.guard import fork_guarded
from detent.host.keeping.kernel import become_unreadable, drop_privileges
from detent.host.keeping.landlock import restrict
from detent.host.keeping.seccomp import forbid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def confine(orders: "dict[str, Any]") -> "_socket.socket | None":
    """Gives the socket that is for the agent to accept on, if one is wanted. Raises OSError."""
    listening = _listen(orders["listen"]) if orders["listen"] else None
    drop_privileges()
    become_unreadable()
    if orders["landlock"]:
        restrict(orders["writable"], orders["hidden"])
    forbid(orders["families"])
    if orders["landlock"]:
        fork_guarded()
    return listening


def _listen(port: int) -> "_socket.socket":
    """In a network of its own, from which there is no other way out."""
    listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listening.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(128)
    return listening
