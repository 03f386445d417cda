"""Everything that happens: `Event = Entry | Signal`.

An entry is durable and numbered; the log is made of entries and the truth about a session.
A signal is live only: a reader sees it pass, nobody stores it.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct

from detent.types.agents import (
    AgentEnded,
    AgentStarted,
    ChildChanged,
    GroupEnded,
    Lineage,
    TaskChanged,
)
from detent.types.budget import Budget, InVain, Spent
from detent.types.content import AssistantBlock, UserBlock
from detent.types.durable import Durable
from detent.types.effects import Effect
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import Outcome
from detent.types.running import Equipped, Named, Unanswered
from detent.types.usage import Usage
from detent.types.verdicts import Allow

Reason = Literal[
    "api_error",
    "blocking_limit",
    "budget_exceeded",
    "end_turn",
    "hook_stopped",
    "invalid_response",
    "max_tokens",
    "max_turns",
    "prompt_too_long",
    "refusal",
    "retries_exhausted",
    "schema_mismatch",
    "user_cancelled",
]
"""Why a turn ended. Only `end_turn` is a normal end."""


class Opened(Durable, frozen=True, kw_only=True):
    session: str
    cwd: str
    version: str
    format: int = 1
    parent: str = ""
    """The session this one was forked from."""
    forked_at: int = 0
    """The last entry of it that this one has, where it has not all."""
    lineage: Lineage | None = None
    """Of a subagent: whom it works for."""


class Prompted(Durable, frozen=True, kw_only=True):
    turn: int
    content: tuple[UserBlock, ...]
    steered: bool = False
    """Arrived while the turn was running."""
    uuid: str = ""
    """What the program that sent it calls it."""


class Reminded(Durable, frozen=True, kw_only=True):
    """Text put before the model by the program, not by a person."""

    text: str
    source: str
    path: str = ""
    """The file it is from: one of memory."""
    why: str = ""
    """Why that file counts."""
    leads: bool = False
    """Reads before what the user has just said."""


class Replied(Durable, frozen=True, kw_only=True):
    turn: int
    step: int
    model: str
    content: tuple[AssistantBlock, ...]
    stop: str
    usage: Usage
    message_id: str = ""
    ms: int = 0
    provider: str = ""
    head: str = ""
    """Digests of tools and prompt, where they are others than before and a cache is told of."""
    max_output: int = 0
    """The output limit it was asked with; 0 is unknown."""
    sent: dict[str, str] = {}
    """Ids of calls as the model wrote them, where ours are others."""


class CallStarted(Durable, frozen=True, kw_only=True):
    """Written before a call runs: what will run, what it touches and who permitted it."""

    call_id: str
    name: str
    arguments: str
    """As executed; a hook may have changed what the model wrote."""
    effects: tuple[Effect, ...]
    verdict: Allow
    kept: dict[str, FileState] = {}
    """Files that it will write, as they were before, by path."""


class CallEnded(Durable, frozen=True, kw_only=True):
    call_id: str
    name: str
    outcome: Outcome
    ms: int = 0
    seen: dict[str, str] = {}
    """Digests of the files the call has read or written, by path."""
    cwd: str = ""
    """The working folder from then on, where the call has changed it."""
    changed: tuple[Change, ...] = ()
    """What it has done to files, as far as somebody looked."""
    late: bool = False
    """It was cut off, and somebody looked only when the session went on: others may have had a
    hand in what has changed."""
    stop: str = ""
    """Why the turn ends with it, where a hook or the person wants it so."""


class Classified(Durable, frozen=True, kw_only=True):
    """What the model behind mode `auto` said of a call, and what asking it has cost."""

    call_id: str
    name: str
    model: str
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    usage: Usage = Usage()
    ms: int = 0


class Lost(Durable, frozen=True, kw_only=True):
    """Paid for in vain. Written at once: a turn may never come to its end."""

    model: str
    usage: Usage
    what: InVain = "failed"


class Estimated(Durable, frozen=True, kw_only=True):
    """What an answer may have cost, whose server reports nothing; no part of any `usage`."""

    model: str
    usage: Usage
    what: Literal["main", "classifier", "compaction", "aside"] = "main"


class Compacted(Durable, frozen=True, kw_only=True):
    """From here on, entries before `keeps_from` are represented by the summary."""

    summary: str
    keeps_from: int
    before_tokens: int = 0
    trigger: Literal["auto", "manual", "reactive"] = "auto"
    keeps: tuple[int, ...] = ()
    """Earlier entries that stay word for word: the request at hand."""
    after_tokens: int = 0
    """With the files of memory that are told again right behind it."""
    by: Literal["local", "model"] = "local"
    """Who wrote the summary."""
    model: str = ""
    """The one that was asked for it."""
    usage: Usage = Usage()
    """What asking for it has cost; tries that came to nothing are `Lost`."""
    failures: int = 0
    """Tries that came to nothing."""
    ms: int = 0
    depth: int = 1
    """How many summaries lie within one another."""
    lineage: tuple[int, ...] = ()
    """The compactions that it holds, the oldest first."""
    replaced: int = 0
    """How many messages."""
    restored: int = 0
    """Facts that the summary had lost and that were added to it."""
    instructions: str = ""
    """What the user wanted of it."""
    written: str = ""
    """What the model wrote, where more than that stands in the summary."""


class Trim(Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing that reads shorter from here on."""

    entry: int
    text: str = ""
    """What stands there instead. Of a call's block: its arguments."""
    block: int = -1
    """Which block of an answer. None: the whole of it, with its calls and their results."""


class Trimmed(Durable, frozen=True, kw_only=True):
    """From here on, these entries read shorter; the log holds them whole."""

    stage: str
    trims: tuple[Trim, ...]
    before_tokens: int = 0
    after_tokens: int = 0


class Restored(Durable, frozen=True, kw_only=True):
    """From here on, these compactions, trims and rewinds do not count."""

    entries: tuple[int, ...]


class Learned(Durable, frozen=True, kw_only=True):
    """What the provider says of the model, when it was asked for too much."""

    window: int


class Budgeted(Durable, frozen=True, kw_only=True):
    """What the session may spend from here on, what it has spent before included."""

    budget: Budget


class HooksRan(Durable, frozen=True, kw_only=True):
    """The receipt of hooks that were told of a compaction."""

    event: str
    hooks: tuple[str, ...]
    said: str = ""
    ms: int = 0
    denied: bool = False
    """One of them did not want it."""


class Withheld(Durable, frozen=True, kw_only=True):
    """From here on, images and documents of these entries are notes: a provider refused them."""

    entries: tuple[int, ...]
    reason: str


class Switched(Durable, frozen=True, kw_only=True):
    """Another model or mode from here on; empty means unchanged."""

    model: str = ""
    mode: str = ""
    reason: str = ""
    """Why, when nobody asked for it: the fallback of a model that could not be had."""
    once: bool = False
    """For one turn, or back from there: what was chosen for the session stays chosen."""


class Rewound(Durable, frozen=True, kw_only=True):
    """Entries after `to` no longer count."""

    to: int
    asked: bool = False
    """A person wanted it, and may take it back."""
    undone: int = 0
    """The undo of files that went with it."""


class StepRecord(Struct, frozen=True, omit_defaults=True, gc=False):
    """One model request of a turn and what came of it."""

    step: int
    model: str
    stop: str
    usage: Usage
    calls: int = 0
    ms: int = 0


class TurnEnded(Durable, frozen=True, kw_only=True):
    turn: int
    reason: Reason
    steps: tuple[StepRecord, ...] = ()
    usage: Usage = Usage()
    ms: int = 0
    api_ms: int = 0
    error: str = ""
    """What a person should know when it was not a normal end."""
    status: int | None = None
    """HTTP status of the failed request, if there was one."""
    output: Any = UNSET
    """The final answer as a JSON value, where one of a given schema was asked for."""
    lost: dict[str, Usage] = {}
    """What was spent beside the answers, by model; part of `usage`."""
    requests: int = 0
    """Model calls that were answered or cost something, whatever they were for."""
    limit: str = ""
    """What there was not enough of, where a limit has ended the turn."""
    needed: float = 0.0
    """How much of it there must be at least, to go on."""
    delegated: Spent = Spent()
    """What subagents have spent; not part of `usage`."""


Entry = (
    Opened
    | Prompted
    | Reminded
    | Replied
    | CallStarted
    | CallEnded
    | Classified
    | Lost
    | Estimated
    | Compacted
    | Trimmed
    | Restored
    | Learned
    | Withheld
    | Switched
    | Rewound
    | Budgeted
    | HooksRan
    | Equipped
    | Unanswered
    | Named
    | Undone
    | AgentStarted
    | AgentEnded
    | GroupEnded
    | ChildChanged
    | TaskChanged
    | TurnEnded
)


class Live(Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True, gc=False):
    """Base of every signal."""


class TextDelta(Live, frozen=True):
    index: int
    text: str


class ThinkingDelta(Live, frozen=True):
    index: int
    text: str


class CallDelta(Live, frozen=True):
    """A piece of a call's arguments; `id` and `name` are the same in every piece."""

    index: int
    id: str
    name: str
    fragment: str


class Progress(Live, frozen=True):
    """Output of a running call, or a sign that it still runs."""

    call_id: str
    name: str
    text: str = ""
    seconds: float = 0.0


class Retrying(Live, frozen=True):
    attempt: int
    of: int
    delay: float
    error: str
    status: int | None = None


class Discarded(Live, frozen=True):
    """The tombstone: everything streamed since the last entry is void; remove it from view."""

    reason: str


class Asked(Live, frozen=True):
    """A person is asked whether a call may run."""

    call_id: str
    name: str
    arguments: str
    reason: str
    rules: tuple[str, ...] = ()
    agent: str = ""
    """The subagent that wants it, as people call it."""


class Answered(Live, frozen=True):
    call_id: str
    allowed: bool
    reason: str = ""


class Notice(Live, frozen=True):
    """Something people should know that is not part of the conversation."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


class Compacting(Live, frozen=True):
    """A summary is being asked for, which may take a while; with `is_over`, it no longer is."""

    is_over: bool = False


class HookStarted(Live, frozen=True):
    """A command of the user that listens to what happens."""

    id: str
    name: str
    event: str


class HookEnded(Live, frozen=True):
    id: str
    name: str
    event: str
    stdout: str
    stderr: str
    exit_code: int | None
    """None: it could not be started, or its time was up."""
    outcome: Literal["success", "error", "cancelled"]


class Nested(Struct, frozen=True, tag_field="type", tag=str.lower):
    """An event of a subagent, wrapped by its parent."""

    agent: str
    event: "Event"


Signal = (
    TextDelta | ThinkingDelta | CallDelta | Progress | Retrying | Discarded | Asked | Answered
    | Notice | Compacting | HookStarted | HookEnded | Nested
)  # fmt: skip
Event = Entry | Signal
