"""What bounds a turn: pure over the tally."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET, Struct

from detent.context.bounds import MOST_CHARACTERS
from detent.types.events import Classified, Entry, Reason, StepRecord
from detent.types.messages import USUAL_OUTPUT
from detent.types.usage import Usage

Price = Callable[[str, Usage], float | None]
"""What an answer of a model costs; None when nobody knows."""

BLOCKED_AT = 0.98
"""Share of the window beyond which no request is sent."""

MOST_TRUNCATION_RETRIES = 3
MOST_FORCED_CONTINUATIONS = 5
MOST_PAUSES = 20
MOST_FORM_TRIES = 5
MOST_BROKEN_OFF = 5
"""Answers in a row. Each has run a call, so the turn gets on; but a server may always break off."""
BROKEN_OFF = "broken_off"
"""The stop of an answer that was kept as far as it came."""
MORE_ROOM = 1.5
"""A larger output limit is worth the same question again only if it is this much larger."""


class Limits(Struct, frozen=True):
    """None is no limit."""

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None
    output: int | None = None
    """Tokens an answer may have at first; a cut answer is asked for again with more."""
    compact_at: int | None = None
    """Input tokens since the last compaction after which room is made."""
    wrap_up: bool = False
    """A spent budget allows one last answer without tools."""
    reactive: bool = True
    """A prompt that was too long makes room once; without it the turn ends."""
    forced: int = MOST_FORCED_CONTINUATIONS
    """How often stop hooks may make a turn go on."""
    early_calls: bool = True
    """Calls start while the model still speaks."""
    concurrency: int = 10
    characters: int = MOST_CHARACTERS
    """Of one result; what is longer lies in a file."""
    tool_seconds: dict[str, float] = {}
    """Time limits that replace what the tools say of themselves."""


class Tally:
    """What a turn has used so far."""

    def __init__(self, turn: int, started: float, max_output: int = 0) -> None:
        self.turn = turn
        self.started = started
        self.steps: list[StepRecord] = []
        self.usage = Usage()
        self.calls = 0
        self.dollars = 0.0
        self.lost: dict[str, Usage] = {}
        """What was spent beside the answers, by model."""
        self.settled = 0
        """The last entry whose cost was looked at."""
        self.api_ms = 0
        self.truncations = 0
        self.pauses = 0
        self.compactions = 0
        self.wrapping_up = False
        self.recovered = False
        """Room was already made once because the prompt was too long."""
        self.continuations = 0
        self.form_tries = 0
        """Answers that did not come in the form that was asked for."""
        self.nudged = False
        """The model was asked once to go on after it had said nothing."""
        self.broken: list[str] = []
        """Why the last answers broke off, one after the other; empty after a whole one."""
        self.max_output = max_output
        self.sent = 0
        """The output limit that the last request really had; 0 is unknown."""

    def count(self, record: StepRecord, dollars: float | None) -> None:
        self.steps.append(record)
        self._spend(record.usage, dollars)
        self.api_ms += record.ms

    def lose(self, model: str, usage: Usage, dollars: float | None) -> None:
        if usage != Usage():
            self.lost[model] = self.lost.get(model, Usage()) + usage
            self._spend(usage, dollars)

    def _spend(self, usage: Usage, dollars: float | None) -> None:
        self.usage += usage
        self.dollars += dollars or 0.0


def settle(tally: Tally, entries: Sequence[Entry], price: Price) -> None:
    """Asking the classifier is part of what a turn costs."""
    for entry in reversed(entries):
        if entry.seq <= tally.settled:
            break
        if isinstance(entry, Classified):
            tally.lose(entry.model, entry.usage, price(entry.model, entry.usage))
    tally.settled = entries[-1].seq if entries else 0


def first_output(limits: Limits, most: int) -> int:
    """Where the output limit starts; 0 when nothing is known of the model and nothing wanted."""
    wanted = limits.output or USUAL_OUTPUT
    return min(wanted, most) if most else limits.output or 0


class Halt(Struct, frozen=True):
    reason: Reason
    message: str = ""
    status: int | None = None
    output: Any = UNSET
    """The answer's value, where one of a given form was asked for."""


def exceeded(limits: Limits, tally: Tally, now: float) -> Halt | None:
    """Checked before each request, so a limit is passed by one running request at most."""
    if limits.steps is not None and len(tally.steps) >= limits.steps:
        return Halt("max_turns", f"Stopped at the limit of {limits.steps} model requests.")
    spent: list[tuple[str, float, float | None]] = [
        ("tool calls", tally.calls, limits.calls),
        ("tokens", tally.usage.total, limits.tokens),
        ("seconds", round(now - tally.started, 1), limits.seconds),
        ("dollars", tally.dollars, limits.dollars),
    ]
    for what, used, most in spent:
        if most is not None and used >= most:
            return Halt("budget_exceeded", f"Budget spent: {used:g} of {most:g} {what}.")
    return None


def blocked(tokens: int, window: int) -> Halt | None:
    if tokens <= window * BLOCKED_AT:
        return None
    message = f"Prompt too long: {tokens:,} of {window:,} tokens are in use. Start a new session."
    return Halt("blocking_limit", message)
