"""When a request is sent again. Retries wrap the model call only: tools never run again for it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from detent.ports import Clock, DeltaSink
from detent.types.errors import FailureKind, ModelFailure
from detent.types.events import Delta, Discarded, Notice, Retrying
from detent.types.messages import Reply

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


class Try(Struct, frozen=True):
    """One attempt: which model, and how much it may say."""

    model: str
    max_output: int


Attempt = Callable[[Try, DeltaSink], Awaitable[Reply]]


async def with_retries(
    attempt: Attempt,
    first: Try,
    *,
    policy: RetryPolicy,
    fallbacks: tuple[str, ...],
    clock: Clock,
    deltas: DeltaSink,
) -> Reply:
    current, spare = first, list(fallbacks)
    failures: list[ModelFailure] = []
    waits = 0
    while True:
        watched = Watched(deltas)
        try:
            return await attempt(current, watched)
        except ModelFailure as failure:
            failures.append(failure)
            if watched.shown:
                await deltas(Discarded(failure.message))
            if failure.kind == "overloaded" and spare:
                current = Try(spare.pop(0), current.max_output)
                text = f"{first.model} is overloaded; going on with {current.model}"
                await deltas(Notice(text, "warning"))
                continue
            if not _may_retry(failures, policy, waits):
                raise _final(failures) from failure
            delay = wait_before(failure, policy, waits)
            waits += 1
            total = len(policy.delays)
            await deltas(Retrying(waits, total, delay, failure.message, failure.status))
            await clock.sleep(delay)
            current = Try(current.model, smaller_output(current.max_output, failures))


class Watched:
    """A sink that remembers whether anything was shown, so that it can be taken back."""

    def __init__(self, deltas: DeltaSink) -> None:
        self._deltas = deltas
        self.shown = False

    async def __call__(self, delta: Delta) -> None:
        self.shown = True
        await self._deltas(delta)


def wait_before(failure: ModelFailure, policy: RetryPolicy, waits: int) -> float:
    if failure.retry_after is not None:
        return min(failure.retry_after, policy.longest_wait)
    return policy.delays[waits]


def smaller_output(max_output: int, failures: list[ModelFailure]) -> int:
    """From the second timeout on, ask for less each time; never for more, and 0 stays unknown."""
    timeouts = sum(failure.kind == "timeout" for failure in failures)
    if timeouts < 2 or failures[-1].kind != "timeout":
        return max_output
    return min(max_output, max(_SMALLEST_OUTPUT, max_output // 2))


def _may_retry(failures: list[ModelFailure], policy: RetryPolicy, waits: int) -> bool:
    last = failures[-1]
    if waits >= len(policy.delays):
        return False
    if last.kind == "invalid_response":
        return sum(failure.kind == last.kind for failure in failures) <= policy.invalid_again
    return last.kind in _PASSING


def _final(failures: list[ModelFailure]) -> ModelFailure:
    """The last failure, marked as final when it was retried in vain."""
    last = failures[-1]
    if last.kind not in _PASSING:
        return last
    tries = len(failures)
    message = last.message if tries == 1 else f"{last.message} (after {tries} attempts)"
    return ModelFailure(last.kind, message, status=last.status, exhausted=True)
