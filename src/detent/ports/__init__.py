"""The whole architecture on one screen: what the loop needs, as small Protocols.

A surface opens a session; the loop asks a Model, passes its calls through the Gate to Tools that
act on the Host, records entries in the Log, and projects the next request from that log.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from msgspec import Struct

from detent.ports.delegation import Agents, Assignment, Tasks
from detent.ports.machine import FileFacts, Finished, Host, Running
from detent.types.content import Call, UserBlock
from detent.types.deltas import Delta
from detent.types.effects import Effect
from detent.types.events import Entry, Event, Reminded
from detent.types.files import Change, FileState
from detent.types.messages import Reply, Request, ToolSpec
from detent.types.outcomes import Outcome, Refused
from detent.types.verdicts import Allow, HookAnswer, Verdict

if TYPE_CHECKING:
    from typing import Protocol
else:  # nobody asks whether an object is one, and making a class a protocol costs a start dear
    Protocol = object

__all__ = [
    "Admitted", "Agents", "Answer", "Approver", "Assignment", "BadArguments", "Checkpoints",
    "Classifier", "Clock", "Code", "DeltaSink", "Desk", "Emit", "FileFacts", "FileMemory",
    "Finished", "Gate", "Host", "Inbox", "Job", "Jobs", "Leave", "Log", "Model", "Outputs", "Page",
    "Proposal", "Question", "Reminders", "Revised", "Running", "Stopped", "Tasks", "Tool",
    "Toolbox", "Web", "Workshop",
]  # fmt: skip

Emit = Callable[[Event], Awaitable[None]]
"""Append (entries), tell observers, hand to the reader at the reader's pace."""

DeltaSink = Callable[[Delta], Awaitable[None]]

Leave = Callable[[], bool]
"""Sends the work of a call to the background, so that the call ends; False when it cannot."""


class Clock(Protocol):
    """Time and ids enter here, so that a run can be replayed."""

    def now(self) -> float: ...
    def elapsed(self) -> float: ...
    def new_id(self, prefix: str) -> str: ...
    async def sleep(self, seconds: float) -> None: ...


class Model(Protocol):
    """Streams one answer. Retries, fallback and reconnection happen inside.

    Raises ModelFailure when there is no answer. Cancelling closes the connection. One that has a
    wire also has `weigh(request, model) -> Weights`: what each part of a request has in bytes.
    """

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int: ...
    @property
    def max_output(self) -> int: ...
    async def stream(self, request: Request, deltas: DeltaSink) -> Reply: ...
    async def aclose(self) -> None: ...


class FileMemory(Protocol):
    """What the session has read of each file: the base of "edit only what you have read".

    `noted` is what the call at hand has added; it goes into the log, so that a resumed session
    remembers.
    """

    def remember(self, path: str, digest: str) -> None: ...
    def recall(self, path: str) -> str | None: ...
    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        """Who else of the session has changed it since it was known, and how; empty: nobody."""

    @property
    def noted(self) -> Mapping[str, str]: ...


class Outputs(Protocol):
    """Files of the session for what is too long for a model; it is told their path instead."""

    def create(self, name: str) -> BinaryIO:
        """A new file to write, `.name` is its path. Raises OSError."""


class Job(Struct, frozen=True):
    """A command in the background, as it stands."""

    id: str
    command: str
    path: str
    """The file that holds its output."""
    seconds: float
    """How long it has run, or ran."""
    exit_code: int | None = None
    """None while it runs; negative: the signal that killed it."""
    note: str = ""
    """Why it was ended, if not by itself."""
    sandbox: str = ""
    """What holds it, as in `Finished`."""
    past: str = ""
    """Of a job from an earlier run of the session: how it ended, which is all that is known."""
    pid: int = 0
    """Of one that outlives the session: SIGTERM to it ends the job. 0 when it does not run."""
    kept: bool = False
    """It outlives the session."""


class Jobs(Protocol):
    """The session's commands in the background. The model is told when one ends."""

    async def start(
        self, command: str, argv: Sequence[str], cwd: str, *, confined: bool = False, call: str = ""
    ) -> Job: ...
    def find(self, job: str) -> Job | None: ...
    def all(self) -> tuple[Job, ...]: ...
    async def wait(self, job: str, seconds: float) -> Job:
        """Until it has ended or the time is up."""

    async def stop(self, job: str) -> Job: ...
    def take_over(self, command: str, path: str, running: Running, seconds: float) -> Job:
        """One that a call has waited for until now, so many seconds."""


class Page(Struct, frozen=True):
    """What a web server answered."""

    url: str
    status: int
    media_type: str
    body: bytes
    charset: str = ""
    is_cut: bool = False
    """There was more than wanted."""
    moved_to: str = ""
    """The address that it sends us to, where that is on another host: not followed."""


class Web(Protocol):
    """The network outside, under the session's network policy. Raises OSError with words for the
    model; PermissionError when the address is one that must not be reached."""

    async def get(
        self, url: str, *, most: int, seconds: float, headers: Mapping[str, str] = {}
    ) -> Page: ...
    async def post(
        self, url: str, body: bytes, *, most: int, seconds: float, headers: Mapping[str, str]
    ) -> Page: ...


class Code(Protocol):
    """What language servers know of the code. Every answer is text for the model."""

    async def look(self, action: str, path: str, line: int, character: int, query: str) -> str:
        """Raises LookupError with the reason when there is no answer to be had."""

    async def faults(self, path: str, before: str, after: str) -> str:
        """What a change has made wrong, empty when nothing or when nobody can tell. Bounded in
        time and never raises."""


class Workshop(Protocol):
    """What the desks of a session share; each part is made when it is first used."""

    @property
    def cwd(self) -> str:
        """Where the next call stands."""

    @property
    def host(self) -> Host: ...
    @property
    def outputs(self) -> Outputs: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def web(self) -> Web: ...
    @property
    def code(self) -> Code: ...
    @property
    def agents(self) -> Agents:
        """Those that this session, or this subagent, sets to work."""

    @property
    def tasks(self) -> Tasks:
        """What all agents of the session have to do together."""

    def last(self, tool: str) -> dict[str, Any] | None:
        """The structured result of that tool's last call that went well, also before a resume."""

    def move(self, folder: str) -> bool:
        """The working folder of later calls; False, and no move, outside the workspace."""

    async def switch_mode(self, mode: str) -> str:
        """Another permission mode from now on, empty for the one before plan mode; gives its
        name."""


class Desk(Struct, frozen=True):
    """What a running tool may use: nothing else."""

    call_id: str
    cwd: str
    host: Host
    files: FileMemory
    progress: Callable[[str], None]
    shop: Workshop
    session: str = ""
    agent: str = ""
    """What others call the subagent at work; empty is the session itself."""
    settings: Mapping[str, str] = {}
    answer: Mapping[str, Any] = {}
    """What whoever permitted the call has added to its arguments or changed in them."""
    cut_short: Callable[[Callable[[], str]], None] = lambda so_far: None
    """Takes what tells how far the call has come, in case that it is cancelled or given up."""
    places: Mapping[str, str] = {}
    """Where the names that the call declared led to when it was judged."""
    leaving: Callable[[Leave], AbstractContextManager[None]] = lambda leave: nullcontext()
    """Within it, a person may have the work of the call go on in the background."""

    async def read(self, path: str, limit: int) -> bytes:
        """The file that was judged, whatever its name leads to by now."""
        return await self.host.read(self._place(path), limit, real=path in self.places)

    async def write(self, path: str, data: bytes) -> None:
        await self.host.write(self._place(path), data, real=path in self.places)

    async def facts(self, path: str) -> FileFacts | None:
        return await self.host.facts(self._place(path))

    def _place(self, path: str) -> str:
        return self.places.get(path, path)


class Tool(Protocol):
    """Declares and acts. It never asks for permission, truncates for the model, logs or draws."""

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def timeout(self) -> float | None: ...
    def parse(self, arguments: str) -> Any: ...
    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]: ...
    def moves(self, args: Any) -> bool:
        """Whether later calls may stand elsewhere after it (another folder, another mode): it runs
        alone, and they are judged when it is done."""

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
    cwd: str = ""
    """Where it will run; empty is where the session began."""
    places: Mapping[str, str] = {}
    """Where the names among its effects lead to: what is judged, and then opened."""


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
    agent: str = ""
    """The subagent that wants it, as people call it; empty is the session itself."""
    agent_id: str = ""


class Answer(Struct, frozen=True):
    allowed: bool
    reason: str = ""
    arguments: dict[str, Any] | None = None
    rules: tuple[str, ...] = ()
    """Rules to honour from now on."""
    scope: Literal["session", "local", "project", "user"] = "session"
    """How long they hold: this session, or stored in the settings of that name."""
    asks: tuple[str, ...] = ()
    """Rules by which to ask from now on, as long as the others hold."""
    denies: tuple[str, ...] = ()
    mode: str = ""
    """The permission mode from now on; empty is the one there is."""
    interrupt: bool = False
    by: str = "person"


class Approver(Protocol):
    """Who answers "may I?". Must return; cancelling withdraws the question."""

    async def ask(self, question: Question) -> Answer: ...


class Classifier(Protocol):
    """The layer between rules and the person in mode `auto`. Ask means: it does not know."""

    async def classify(self, proposal: Proposal, reason: str) -> Verdict: ...
    async def aclose(self) -> None: ...


class Revised(Struct, frozen=True):
    """An outcome after the hooks that run behind a call."""

    outcome: Outcome
    stop: str = ""
    """Set when a hook ends the turn."""


class Gate(Protocol):
    """Decides. Denied calls never run, and no hook can turn a deny rule into an allow."""

    def harmless(self, proposal: Proposal) -> bool: ...
    def judge(self, proposal: Proposal) -> Verdict: ...
    async def admit(
        self, proposal: Proposal, propose: Callable[[dict[str, Any]], Proposal], ask: Approver
    ) -> Admitted | Refused | Stopped: ...
    async def review(self, proposal: Proposal, outcome: Outcome, ms: int = 0) -> Revised: ...
    async def prompted(self, content: tuple[UserBlock, ...]) -> str: ...
    async def stopping(self, text: str, again: bool) -> str: ...
    def interruption(self) -> str:
        """Why the turn is to end, once: a question of somebody who works for it was answered so."""

    def opened(self) -> str:
        """How the session began (startup, resume), once and only if a hook wants to know."""

    def hears(self, moment: str) -> bool:
        """Whether a hook listens: the name is a field of HookSet."""

    async def happened(self, moment: str, **facts: Any) -> HookAnswer:
        """Told to all hooks that listen to it; what they say, as one answer."""


class Log(Protocol):
    """Append-only. An entry is written before anything depends on it."""

    def append(self, entry: Entry) -> Entry: ...
    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def trouble(self) -> str:
        """Why what was appended last is not saved."""

    @property
    def unsynced(self) -> bool:
        """Something that was written would not survive a power cut yet."""

    def sync(self) -> str:
        """Makes it survive, or gives the reason why it does not. From any thread."""


class Checkpoints(Protocol):
    """What files are before a call that may write, and what it makes of them: for undoing it.
    Nothing here may make a call fail."""

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        """Kept before anything happens: the files it says that it writes, by path."""

    async def after(self, call_id: str) -> tuple[Change, ...]:
        """What has really changed since, also where nobody could say before; once per call."""


class Inbox(Protocol):
    """What arrives while a turn runs: steering, queued prompts, finished background jobs."""

    def take(self) -> tuple[tuple[UserBlock, ...], ...]:
        """Prompts."""

    def news(self) -> tuple[str, ...]:
        """What the program has to tell the model: a job has ended."""

    async def arrival(self) -> bool:
        """When there is something of both, waits for it as long as somebody is at work whose end
        the turn waits for; False when nothing will come."""


class Reminders(Protocol):
    """What the program puts before the model of itself: memory files, the date, what git says."""

    async def due(self, moment: Literal["prompt", "calls", "compacted"]) -> Sequence[Reminded]:
        """What the conversation does not hold yet: when a prompt has come, when calls have ended
        (a folder was touched for the first time), when a compaction took it away. Never raises."""
