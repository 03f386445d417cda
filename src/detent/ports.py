"""The whole architecture on one screen: what the loop needs, as small Protocols.

A surface opens a session; the loop asks a Model, passes its calls through the Gate to Tools that
act on the Host, records entries in the Log, and projects the next request from that log.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from detent.types.content import Call, UserBlock
from detent.types.effects import Effect
from detent.types.events import Delta, Entry, Event
from detent.types.messages import Reply, Request, ToolSpec
from detent.types.outcomes import Outcome, Refused
from detent.types.verdicts import Allow, Verdict

Emit = Callable[[Event], Awaitable[None]]
"""Append (entries), tell observers, hand to the reader at the reader's pace."""

DeltaSink = Callable[[Delta], Awaitable[None]]


class Clock(Protocol):
    """Time and ids enter here, so that a run can be replayed."""

    def now(self) -> float: ...
    def elapsed(self) -> float: ...
    def new_id(self, prefix: str) -> str: ...
    async def sleep(self, seconds: float) -> None: ...


class Model(Protocol):
    """Streams one answer. Retries, fallback and reconnection happen inside.

    Raises ModelFailure when there is no answer. Cancelling closes the connection.
    """

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int: ...
    @property
    def max_output(self) -> int: ...
    async def stream(self, request: Request, deltas: DeltaSink) -> Reply: ...
    async def aclose(self) -> None: ...


class Finished(Struct, frozen=True):
    """A process that has ended."""

    exit_code: int
    """Negative: the signal that killed it."""
    timed_out: bool = False


class FileFacts(Struct, frozen=True, gc=False):
    path: str
    size: int
    modified: float
    is_dir: bool


class Host(Protocol):
    """The machine: files and processes. Paths are absolute."""

    async def read(self, path: str, limit: int) -> bytes: ...
    async def write(self, path: str, data: bytes) -> None: ...
    async def facts(self, path: str) -> FileFacts | None: ...
    def walk(self, root: str) -> AsyncIterator[FileFacts]: ...
    def which(self, program: str) -> str | None: ...
    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        timeout: float | None,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None] | None = None,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Finished: ...


class FileMemory(Protocol):
    """What the session has read of each file: the base of "edit only what you have read".

    `noted` is what the call at hand has added; it goes into the log, so that a resumed session
    remembers.
    """

    def remember(self, path: str, digest: str) -> None: ...
    def recall(self, path: str) -> str | None: ...
    @property
    def noted(self) -> Mapping[str, str]: ...


class Desk(Struct, frozen=True):
    """What a running tool may use: nothing else."""

    call_id: str
    cwd: str
    host: Host
    files: FileMemory
    progress: Callable[[str], None]
    session: str = ""
    settings: Mapping[str, str] = {}


class Tool(Protocol):
    """Declares and acts. It never asks for permission, truncates for the model, logs or draws."""

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def timeout(self) -> float | None: ...
    def parse(self, arguments: str) -> Any: ...
    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]: ...
    async def run(self, args: Any, desk: Desk) -> Outcome: ...


class BadArguments(Exception):
    """Arguments do not fit the tool's schema; the message tells the model what to send."""


class Toolbox(Protocol):
    """The tool executor of the seeds: finds a tool by name or alias."""

    def specs(self) -> Sequence[ToolSpec]: ...
    def find(self, name: str) -> Tool | None: ...


class Proposal(Struct, frozen=True):
    """A call on its way through the gate: parsed, its effects declared."""

    call: Call
    tool: str
    arguments: dict[str, Any]
    effects: tuple[Effect, ...]


class Admitted(Struct, frozen=True):
    verdict: Allow
    arguments: dict[str, Any] | None = None
    """Set when a hook or the person changed what will run."""
    context: str = ""
    """Text a hook wants the model to read with the result."""


class Stopped(Struct, frozen=True):
    """The call is refused and the turn ends: a hook wants it so."""

    outcome: Refused
    reason: str


class Question(Struct, frozen=True):
    proposal: Proposal
    reason: str
    rules: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    allowed: bool
    reason: str = ""
    arguments: dict[str, Any] | None = None
    rules: tuple[str, ...] = ()
    """Rules to honour from now on."""
    interrupt: bool = False
    by: str = "person"


class Approver(Protocol):
    """Who answers "may I?". Must return; cancelling withdraws the question."""

    async def ask(self, question: Question) -> Answer: ...


class Revised(Struct, frozen=True):
    """An outcome after the hooks that run behind a call."""

    outcome: Outcome
    stop: str = ""
    """Set when a hook ends the turn."""


class Gate(Protocol):
    """Decides. Denied calls never run, and no hook can turn a deny rule into an allow."""

    def harmless(self, effects: tuple[Effect, ...]) -> bool: ...
    def judge(self, proposal: Proposal) -> Verdict: ...
    async def admit(
        self, proposal: Proposal, propose: Callable[[dict[str, Any]], Proposal], ask: Approver
    ) -> Admitted | Refused | Stopped: ...
    async def review(self, proposal: Proposal, outcome: Outcome) -> Revised: ...
    async def prompted(self, content: tuple[UserBlock, ...]) -> str: ...
    async def stopping(self, text: str, again: bool) -> str: ...


class Log(Protocol):
    """Append-only. An entry is written before anything depends on it."""

    def append(self, entry: Entry) -> Entry: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def trouble(self) -> str: ...


class Inbox(Protocol):
    """What arrives while a turn runs: steering, queued prompts, finished background jobs."""

    def take(self) -> tuple[tuple[UserBlock, ...], ...]: ...


class Spawner(Protocol):
    """Runs a subagent to its end and gives its answer as an outcome."""

    async def spawn(self, agent: str, prompt: str, emit: Emit) -> Outcome: ...
