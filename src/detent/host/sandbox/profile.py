"""What a sandbox is to hold: said by the app, kept by a backend."""

from collections.abc import Mapping, Sequence
from socket import socket
from typing import Literal, Protocol

from msgspec import Struct

Backend = Literal["bwrap", "landlock", "none"]
Wanted = Literal["auto", "bwrap", "landlock", "none"]

MASKED = (".detent", ".claude", ".git/hooks")
"""Folders below a root whose files would run or would loosen a rule: nobody may put them there
either. Made, empty, for as long as a sandbox needs something to mount on."""
PROTECTED = (
    *MASKED,
    ".git/config",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".husky",
    ".devcontainer",
)
"""What stays as it is below a root, where it exists: programs outside the sandbox run it."""
IN_REPOSITORY = ("hooks", "config", "config.worktree")
"""The same in a git folder that lies elsewhere."""


class Profile(Struct, frozen=True):
    """Paths are absolute. What does not exist is left out, and looked for again before each
    command. What may be written is what its name led to at first (`settled`): a command that puts
    a link in its place gets nothing by it."""

    roots: tuple[str, ...]
    """The workspace: written to with `workspace-write`, but for what is protected in it."""
    kind: Literal["workspace-write", "read-only"] = "workspace-write"
    writable: tuple[str, ...] = ()
    """More folders that may be written whole, in either kind: caches of tools."""
    repositories: tuple[str, ...] = ()
    """Git folders outside the roots that work there needs: written with `workspace-write`, but for
    what runs."""
    readable: tuple[str, ...] = ()
    """What stays in sight although it lies below /tmp or /run, which are others inside."""
    denied_reads: tuple[str, ...] = ()
    """Files and folders with secrets, our own among them."""
    protected: tuple[str, ...] = PROTECTED
    """Below each root; or absolute, below anything that may be written."""
    network: Literal["off", "proxied"] = "off"
    """Landlock cannot keep it to the proxy: `proxied` is off with it."""
    allow_unix_sockets: bool = False
    """Whoever can reach a socket of docker or of an ssh-agent is out of any sandbox."""


class Proxy(Protocol):
    """The only way out with the network `proxied`; it runs in the agent."""

    async def serve(self, listening: socket) -> None:
        """Accepts there from now on. Called for each nursery; the socket is the proxy's then."""

    def variables(self, port: int) -> Mapping[str, str]:
        """What makes a command use the proxy at that port of 127.0.0.1."""

    @property
    def refused(self) -> Sequence[str]:
        """Hosts that were not let through so far."""

    async def aclose(self) -> None: ...


class SandboxFailed(OSError):
    """Nothing was run: the sandbox that was wanted is not to be had. The text says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.strerror: str = reason
