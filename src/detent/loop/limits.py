"""What bounds a turn: pure over the tally."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from msgspec import UNSET, Struct

from detent.context.account import Account, Reservation
from detent.context.bounds import MOST_CHARACTERS
from detent.context.pressure import State
from detent.ports import Clock
from detent.types.budget import Shortage, Spent
from detent.types.errors import ModelFailure, Overdrawn
from detent.types.events import Classified, Compacted, Entry, Lost, Reason, StepRecord, TurnEnded
from detent.types.messages import USUAL_OUTPUT
from detent.types.usage import Usage

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
    """None is no limit. What a whole session may spend is the account's."""

    steps: int | None = None
    seconds: float | None = None
    output: int | None = None
    """Tokens an answer may have at first; a cut answer is asked for again with more."""
    wrap_up: bool = False
    """A spent budget allows one last answer without tools."""
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
        self.lost: dict[str, Usage] = {}
        """What was spent beside the answers, by model."""
        self.before = Spent()
        """What the account had spent when the turn began."""
        self.booked = started
        """Until when the time is in the account."""
        self.reserved: Reservation | Shortage | None = None
        """The turn itself, in the account."""
        self.settled = 0
        """The last entry whose cost was looked at."""
        self.api_ms = 0
        self.truncations = 0
        self.pauses = 0
        self.compactions = 0
        """Those that were made, without whole steps between them."""
        self.in_vain: State | None = None
        """How full the window was when one could not be made."""
        self.compacted_step = 0
        """How many steps there were when room was made last."""
        self.pressure: State = "NORMAL"
        """How full the window was, as people were told."""
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

    def count(self, record: StepRecord) -> None:
        self.steps.append(record)
        self.usage += record.usage
        self.api_ms += record.ms

    def lose(self, model: str, usage: Usage) -> None:
        if usage != Usage():
            self.lost[model] = self.lost.get(model, Usage()) + usage
            self.usage += usage


def settle(tally: Tally, entries: Sequence[Entry]) -> None:
    """What came to no answer, the classifier and summaries are part of what a turn costs."""
    for entry in reversed(entries):
        if entry.seq <= tally.settled:
            break
        is_step = isinstance(entry, Lost) and entry.what == "cut"
        if isinstance(entry, Lost | Classified | Compacted) and not is_step:
            tally.lose(entry.model, entry.usage)
    tally.settled = entries[-1].seq if entries else 0


def book_time(account: Account, tally: Tally, now: float) -> None:
    account.spend(Spent(seconds=now - tally.booked))
    tally.booked = now


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
    limit: str = ""
    """What there was not enough of."""
    needed: float = 0.0
    """How much of it there must be at least, to go on."""


def exceeded(limits: Limits, account: Account, tally: Tally, now: float) -> Halt | None:
    """Checked before each request."""
    if isinstance(tally.reserved, Shortage):
        return short_of(tally.reserved)
    if limits.steps is not None and len(tally.steps) >= limits.steps:
        text = f"Stopped at the limit of {limits.steps} model requests."
        return Halt("max_turns", text, limit="steps")
    if limits.seconds is not None and (used := now - tally.started) >= limits.seconds:
        text = f"Budget spent: {round(used, 1):g} of {limits.seconds:g} seconds."
        return Halt("budget_exceeded", text, limit="seconds")
    book_time(account, tally, now)
    shortage = account.short(Spent(requests=1))
    return None if shortage is None else short_of(shortage)


def begin(limits: Limits, account: Account, turn: int, now: float, most_output: int) -> Tally:
    """The turn counts as soon as it runs; one that came to nothing is given back."""
    tally = Tally(turn, now, first_output(limits, most_output))
    tally.before = account.own
    tally.reserved = account.reserve(Spent(turns=1))
    return tally


def record_of(tally: Tally, halt: Halt, account: Account, now: float, ms: int) -> TurnEnded:
    """Of a turn that is over, and for which the account need not hold anything any longer."""
    book_time(account, tally, now)
    if isinstance(tally.reserved, Reservation):
        account.settle(tally.reserved, Spent(turns=bool(tally.steps or tally.lost)))
    return TurnEnded(
        turn=tally.turn,
        reason=halt.reason,
        steps=tuple(tally.steps),
        usage=tally.usage,
        ms=ms,
        api_ms=tally.api_ms,
        error=halt.message,
        status=halt.status,
        output=halt.output,
        lost=tally.lost,
        requests=account.own.requests - tally.before.requests,
        limit=halt.limit,
        needed=halt.needed,
        delegated=account.news(),
    )


def session_time(account: Account, clock: Clock, tally: Tally) -> AbstractAsyncContextManager[None]:
    """What is left of the time for the whole session; most have no such limit."""
    if account.limits_time:
        from detent.loop.session_time import session_time

        return session_time(account, clock, tally)
    return nullcontext()


def short_of(shortage: Shortage) -> Halt:
    needed = float(shortage.needed)
    return Halt("budget_exceeded", shortage.message, limit=shortage.what, needed=needed)


def failed(failure: ModelFailure) -> Halt:
    """What a request that came to nothing means for the turn."""
    if isinstance(failure, Overdrawn):
        return short_of(failure.shortage)
    reason: Reason = "api_error"
    if failure.exhausted:
        reason = "retries_exhausted"
    elif failure.kind in ("prompt_too_long", "invalid_response"):
        reason = failure.kind
    return Halt(reason, failure.message, failure.status)


def blocked(tokens: int, window: int) -> Halt | None:
    if tokens <= window * BLOCKED_AT:
        return None
    message = (
        f"Prompt too long: {tokens:,} of {window:,} tokens are in use. "
        "Make room with /compact, start a new session, or choose a model with a larger window."
    )
    return Halt("blocking_limit", message)
