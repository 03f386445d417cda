"""The machine: files and processes, as the loop and the tools may use them."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from typing import Protocol
else:  # as in the package itself
    Protocol = object


class Finished(Struct, frozen=True):
    """A process that has ended."""

    exit_code: int
    """Negative: the signal that killed it."""
    timed_out: bool = False
    note: str = ""
    """Why it was ended, if neither by itself nor by us: for the model."""
    sandbox: str = ""
    """What really held it: bwrap, landlock, or none; empty where none was wanted."""
    refused: tuple[str, ...] = ()
    """Hosts that the sandbox kept from being reached meanwhile."""


class FileFacts(Struct, frozen=True, gc=False):
    path: str
    size: int
    modified: float
    is_dir: bool
    is_link: bool = False
    """Only a walk says so; all else is about what the link leads to."""
    is_special: bool = False
    """A pipe, a socket, a device: reading it may never end."""


class Running(Protocol):
    """A program that runs. It ends by itself, by `end`, or with the host."""

    @property
    def pid(self) -> int: ...
    @property
    def stays(self) -> bool:
        """It outlives us. Then SIGTERM to its `pid` ends it, and all that it has started."""

    @property
    def sandbox(self) -> str:
        """What holds it, as in `Finished`."""

    def write(self, data: bytes) -> None:
        """To its input, where that was kept open. Never waits; a program that has closed it loses
        the data."""

    async def wait(self) -> Finished:
        """Until it has ended and its output was read. Cancelling only stops the waiting."""

    async def end(self) -> Finished:
        """Asked, then made to; everything it has started goes with it."""

    def lift_limit(self) -> None:
        """No time limit counts for it any more."""


class Host(Protocol):
    """The machine: files and processes. Paths are absolute."""

    @property
    def scratch(self) -> str:
        """A folder for us and for confined commands; empty: wherever files go that nobody keeps."""

    @property
    def temporary(self) -> str:
        """What confined commands have at TMPDIR, perhaps /tmp to them; empty: none of their own."""

    def real(self, path: str) -> str:
        """Where a name leads, all links resolved."""

    async def read(self, path: str, limit: int, *, real: bool = False) -> bytes:
        """`real`: the path was resolved before. Where it leads through a link by now, it is not
        opened: PermissionError."""

    async def write(self, path: str, data: bytes, *, real: bool = False) -> None: ...
    async def facts(self, path: str) -> FileFacts | None: ...
    def walk(self, root: str, entering: Collection[str] = ()) -> AsyncIterator[FileFacts]:
        """All below it but for the insides of folders that are large, generated and never looked
        for, unless their names are among `entering`."""

    def which(self, program: str) -> str | None: ...
    async def run(  # noqa: PLR0913
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        confined: bool = False,
        noted_as: str = "",
        begun: Callable[[Running], None] = lambda running: None,
    ) -> Finished:
        """`confined` runs it in the session's sandbox, if there is one. How it ended may be kept
        under a name, for the case that we are killed meanwhile. `begun` gets it when it runs."""

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        output: Callable[[bytes], None] | str,
        errors: Callable[[bytes], None] | None = None,
        keeps_input: bool = False,
        env: Mapping[str, str] | None = None,
        confined: bool = False,
    ) -> Running:
        """Like `run` without the waiting. `output` may be a file: then the program itself writes
        there, both streams, from the first byte on."""

    async def aclose(self) -> None:
        """Ends whatever still runs."""
