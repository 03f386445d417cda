"""When a request is sent again, and to whom. Wraps the model call only: no tool runs twice."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from detent.ports import Clock, DeltaSink
from detent.types.deltas import Begun, Delta
from detent.types.errors import FailureKind, ModelFailure
from detent.types.events import Discarded, Notice, Retrying, Switched
from detent.types.messages import Reply, Request

_PASSING: frozenset[FailureKind] = frozenset(
    {"network", "timeout", "overloaded", "rate_limit", "server"}
)
_SMALLEST_OUTPUT = 1024


class RetryPolicy(Struct, frozen=True):
    delays: tuple[float, ...] = (0.2, 0.4, 0.8, 2.0)
    longest_wait: float = 60.0
    """A server may ask for more; we do not wait longer than this."""
    invalid_again: int = 1
    """How often an answer that is none is asked for again."""
    jitter: float = 0.0
    """Share of a delay that is added at random, so that many agents do not come back at once."""


class Reachable(Protocol):
    """A route, as far as persistence needs to know it."""

    @property
    def name(self) -> str: ...
    @property
    def first_output(self) -> int:
        """What an answer may have where nobody says more; 0 leaves it to the server."""

    async def attempt(self, request: Request, max_output: int, deltas: DeltaSink) -> Reply: ...
    async def refresh(self) -> bool: ...


async def with_fallbacks(
    request: Request,
    routes: Sequence[Reachable],
    *,
    at: int = 0,
    left: Callable[[int], None] = lambda at: None,
    policy: RetryPolicy,
    clock: Clock,
    deltas: DeltaSink,
) -> Reply:
    """Routes in order, from `at` on; `left` learns when one was given up for the next.

    The output limit was meant for the first of them: each other has its own.
    """
    while True:
        route, has_next = routes[at], at + 1 < len(routes)
        limited = replace(request, max_output=request.max_output or route.first_output)
        try:
            return await persist(
                route, limited, policy=policy, clock=clock, deltas=deltas, hurried=has_next
            )
        except ModelFailure as failure:
            if not has_next or not (failure.exhausted or failure.kind == "overloaded"):
                raise
            at += 1
            left(at)
            request = replace(request, max_output=0)
            await _tell_switch(route.name, routes[at].name, failure, deltas)


async def _tell_switch(old: str, new: str, failure: ModelFailure, deltas: DeltaSink) -> None:
    why = "is overloaded" if failure.kind == "overloaded" else f"failed: {failure.message}"
    await deltas(Switched(model=new, reason=f"{old} {why}"))
    await deltas(Notice(f"{old} {why}; going on with {new}", "warning"))


async def persist(
    route: Reachable,
    request: Request,
    *,
    policy: RetryPolicy,
    clock: Clock,
    deltas: DeltaSink,
    hurried: bool = False,
) -> Reply:
    """One route, until it answers or is given up. In a hurry overload is not waited for."""
    failures: list[ModelFailure] = []
    waits, max_output, refreshed = 0, request.max_output, False
    while True:
        watched = Watched(deltas)
        try:
            return await route.attempt(request, max_output, watched)
        except ModelFailure as failure:
            failures.append(failure)
            if watched.shown:
                await deltas(Discarded(failure.message))
            if failure.kind == "auth" and failure.status and not refreshed:
                refreshed = True
                try:
                    if await route.refresh():
                        continue
                except ModelFailure as other:  # as good or bad as any other failed attempt
                    failures.append(failure := other)
            if failure.kind == "overloaded" and hurried:
                raise
            if not _may_retry(failures, policy, waits):
                raise exhausted(failures) from failure
            delay = wait_before(failure, policy, waits)
            waits += 1
            total = len(policy.delays)
            await deltas(Retrying(waits, total, delay, failure.message, failure.status))
            await clock.sleep(delay)
            max_output = smaller_output(max_output, failures)


class Watched:
    """A sink that remembers whether anything was shown, so that it can be taken back."""

    def __init__(self, deltas: DeltaSink) -> None:
        self._deltas = deltas
        self.shown = False

    async def __call__(self, delta: Delta) -> None:
        self.shown = self.shown or not isinstance(delta, Begun)
        await self._deltas(delta)


def wait_before(failure: ModelFailure, policy: RetryPolicy, waits: int) -> float:
    if failure.retry_after is not None:
        return min(failure.retry_after, policy.longest_wait)
    return policy.delays[waits] * (1 + _chance(policy.jitter))


def _chance(most: float) -> float:
    """Loaded when it is wanted: `random` brings half of the standard library's hashing along."""
    if not most:
        return 0.0
    from random import uniform

    return uniform(0.0, most)


def smaller_output(max_output: int, failures: list[ModelFailure]) -> int:
    """From the second timeout on, ask for less each time; never for more, and 0 stays unknown."""
    timeouts = sum(failure.kind == "timeout" for failure in failures)
    if timeouts < 2 or failures[-1].kind != "timeout":
        return max_output
    return halved(max_output)


def halved(max_output: int) -> int:
    return min(max_output, max(_SMALLEST_OUTPUT, max_output // 2))


def _may_retry(failures: list[ModelFailure], policy: RetryPolicy, waits: int) -> bool:
    last = failures[-1]
    if waits >= len(policy.delays):
        return False
    if last.kind == "invalid_response":
        return sum(failure.kind == last.kind for failure in failures) <= policy.invalid_again
    return last.kind in _PASSING


def exhausted(failures: list[ModelFailure]) -> ModelFailure:
    """The last failure, marked as final when it was retried in vain, with what the others were."""
    last = failures[-1]
    if last.kind not in _PASSING:
        return last
    tries = len(failures)
    message = last.message if tries == 1 else f"{last.message} (after {_story(failures)})"
    return ModelFailure(
        last.kind,
        message,
        status=last.status,
        exhausted=True,
        attempts=tuple(f"{_label(each)}: {each.message}" for each in failures),
    )


def _story(failures: list[ModelFailure]) -> str:
    """`5 attempts`, or when they failed in different ways `5 attempts: 529 x 3, timeout x 2`."""
    labels = [_label(failure) for failure in failures]
    kinds = dict.fromkeys(labels)
    if len(kinds) == 1:
        return f"{len(failures)} attempts"
    counts = ", ".join(f"{kind} × {labels.count(kind)}" for kind in kinds)
    return f"{len(failures)} attempts: {counts}"


def _label(failure: ModelFailure) -> str:
    return str(failure.status or failure.kind)
