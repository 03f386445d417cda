"""When a request is sent again, how long before, and to whom."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from detent.models.retry import RetryPolicy, wait_before, with_fallbacks
from detent.ports import DeltaSink
from detent.types.content import Call, Text
from detent.types.deltas import CallReady, Delta
from detent.types.errors import ModelFailure
from detent.types.events import Discarded, Notice, Retrying, Switched, TextDelta
from detent.types.messages import Reply, Request
from detent.types.usage import Usage
from kitbench import FakeClock

FINE = Reply((Text("fine"),), "end_turn", Usage(), "m")
Step = ModelFailure | Callable[[DeltaSink], Any] | Reply


class Try(NamedTuple):
    model: str
    max_output: int


class Attempts:
    """Plays one step per attempt, the last one for ever; keeps what was asked and shown."""

    def __init__(self, *steps: Step, refreshes: int = 0) -> None:
        self.steps = list(steps)
        self.tries: list[Try] = []
        self.shown: list[Delta] = []
        self.clock = FakeClock()
        self.left: list[int] = []
        self.refreshes = refreshes
        """How often newer credentials can be had."""

    async def attempt(self, name: str, max_output: int, deltas: DeltaSink) -> Reply:
        step = self.steps[min(len(self.tries), len(self.steps) - 1)]
        self.tries.append(Try(name, max_output))
        if isinstance(step, Reply):
            return step
        if isinstance(step, ModelFailure):
            raise step
        return await step(deltas)

    async def refresh(self) -> bool:
        self.refreshes -= 1
        return self.refreshes >= 0

    async def show(self, delta: Delta) -> None:
        self.shown.append(delta)

    def run(
        self,
        max_output: int = 0,
        fallbacks: tuple[str, ...] = (),
        policy: RetryPolicy = RetryPolicy(),
        at: int = 0,
    ) -> Reply:
        return asyncio.run(self.asked(max_output, fallbacks, policy, at))

    async def asked(
        self,
        max_output: int = 0,
        fallbacks: tuple[str, ...] = (),
        policy: RetryPolicy = RetryPolicy(),
        at: int = 0,
    ) -> Reply:
        return await with_fallbacks(
            Request((), (), max_output=max_output),
            [Named(name, self) for name in ("m", *fallbacks)],
            at=at,
            left=self.left.append,
            policy=policy,
            clock=self.clock,
            deltas=self.show,
        )

    def of(self, kind: type) -> list[Any]:
        return [delta for delta in self.shown if isinstance(delta, kind)]


class Named(NamedTuple):
    """A route of that name."""

    name: str
    attempts: Attempts
    first_output: int = 0

    async def attempt(self, request: Request, max_output: int, deltas: DeltaSink) -> Reply:
        return await self.attempts.attempt(self.name, max_output, deltas)

    async def refresh(self) -> bool:
        return await self.attempts.refresh()


def failure(kind: Any = "server", **more: Any) -> ModelFailure:
    return ModelFailure(kind, f"a {kind} fault", **more)


def shows_then(*deltas: Delta, error: ModelFailure) -> Step:
    async def step(sink: DeltaSink) -> Reply:
        for delta in deltas:
            await sink(delta)
        raise error

    return step


@pytest.mark.parametrize("kind", ["network", "timeout", "overloaded", "rate_limit", "server"])
def test_a_passing_fault_is_tried_again_after_the_seeds_delays(kind: str) -> None:
    attempts = Attempts(failure(kind, status=503))
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert attempts.clock.slept == [0.2, 0.4, 0.8, 2.0]
    assert len(attempts.tries) == 5
    assert caught.value.exhausted
    assert caught.value.kind == kind
    assert caught.value.status == 503
    assert "after 5 attempts" in caught.value.message
    assert attempts.of(Retrying) == [
        Retrying(number, 4, delay, f"a {kind} fault", 503)
        for number, delay in enumerate((0.2, 0.4, 0.8, 2.0), 1)
    ]


@pytest.mark.parametrize("kind", ["auth", "invalid_request", "not_found", "prompt_too_long"])
def test_a_fault_that_stays_is_not_tried_again(kind: str) -> None:
    attempts = Attempts(failure(kind))
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert len(attempts.tries) == 1
    assert attempts.clock.slept == []
    assert not caught.value.exhausted
    assert caught.value.message == f"a {kind} fault"


def test_it_stops_trying_at_the_first_answer() -> None:
    attempts = Attempts(failure(), failure("network"), FINE)
    assert attempts.run() == FINE
    assert attempts.clock.slept == [0.2, 0.4]


def test_a_lasting_fault_after_a_passing_one_ends_it_without_exhaustion() -> None:
    attempts = Attempts(failure(), failure("auth"))
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert not caught.value.exhausted
    assert len(attempts.tries) == 2


def test_an_invalid_answer_is_asked_for_once_more() -> None:
    attempts = Attempts(failure("invalid_response"), FINE)
    assert attempts.run() == FINE
    attempts = Attempts(failure("invalid_response"))
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert len(attempts.tries) == 2
    assert caught.value.kind == "invalid_response"
    assert not caught.value.exhausted


def test_the_server_says_how_long_to_wait_up_to_a_bound() -> None:
    attempts = Attempts(
        failure("rate_limit", retry_after=7.5),
        failure("rate_limit", retry_after=3_600.0),
        failure("server", retry_after=0.0),
        failure(),
        FINE,
    )
    assert attempts.run() == FINE
    assert attempts.clock.slept == [7.5, 60.0, 0.0, 2.0]


def test_the_delays_are_the_policys() -> None:
    attempts = Attempts(failure())
    with pytest.raises(ModelFailure):
        attempts.run(policy=RetryPolicy(delays=(1.0,), longest_wait=5.0))
    assert attempts.clock.slept == [1.0]
    attempts = Attempts(failure())
    with pytest.raises(ModelFailure) as caught:
        attempts.run(policy=RetryPolicy(delays=()))
    assert caught.value.exhausted
    assert caught.value.message == "a server fault"


def test_an_overloaded_model_gives_way_at_once() -> None:
    attempts = Attempts(failure("overloaded", status=529), FINE)
    assert attempts.run(max_output=500, fallbacks=("n", "o")) == FINE
    assert attempts.tries == [Try("m", 500), Try("n", 0)], "each has its own limit"
    assert attempts.clock.slept == []
    assert attempts.shown == [
        Switched(model="n", reason="m is overloaded"),
        Notice("m is overloaded; going on with n", "warning"),
    ]
    assert attempts.left == [1]


def test_the_last_fallback_is_retried_like_any_model() -> None:
    attempts = Attempts(failure("overloaded"))
    with pytest.raises(ModelFailure) as caught:
        attempts.run(fallbacks=("n", "o"))
    assert [one.model for one in attempts.tries] == ["m", "n", "o", "o", "o", "o", "o"]
    assert attempts.clock.slept == [0.2, 0.4, 0.8, 2.0]
    assert caught.value.exhausted


def test_other_faults_are_waited_for_before_the_model_changes() -> None:
    attempts = Attempts(failure("server"), failure("rate_limit"), FINE)
    attempts.run(fallbacks=("n",))
    assert [one.model for one in attempts.tries] == ["m", "m", "m"]


def test_used_up_retries_change_the_model_which_gets_its_own() -> None:
    attempts = Attempts(*[failure("server", status=500)] * 6, FINE)
    attempts.run(fallbacks=("n",))
    assert [one.model for one in attempts.tries] == ["m"] * 5 + ["n"] * 2
    assert attempts.clock.slept == [0.2, 0.4, 0.8, 2.0, 0.2]
    (switched,) = attempts.of(Switched)
    assert switched.model == "n"
    assert "a server fault" in switched.reason


@pytest.mark.parametrize("kind", ["auth", "invalid_request", "not_found", "prompt_too_long"])
def test_a_fault_that_stays_does_not_change_the_model(kind: str) -> None:
    attempts = Attempts(failure(kind))
    with pytest.raises(ModelFailure):
        attempts.run(fallbacks=("n",))
    assert [one.model for one in attempts.tries] == ["m"]
    assert attempts.left == []


def test_a_request_may_begin_at_a_fallback() -> None:
    attempts = Attempts(failure("overloaded"), FINE)
    attempts.run(fallbacks=("n", "o"), at=1)
    assert [one.model for one in attempts.tries] == ["n", "o"]
    assert attempts.left == [2]


def test_refused_credentials_are_refreshed_once_and_without_a_wait() -> None:
    attempts = Attempts(failure("auth", status=401), FINE, refreshes=5)
    assert attempts.run() == FINE
    assert attempts.clock.slept == []
    attempts = Attempts(failure("auth", status=401), refreshes=5)
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert len(attempts.tries) == 2
    assert caught.value.kind == "auth"
    assert attempts.refreshes == 4


def test_a_refresh_that_fails_in_passing_is_waited_for_like_any_fault() -> None:
    class Unlucky(Attempts):
        async def refresh(self) -> bool:
            raise failure("server", status=503)

    attempts = Unlucky(failure("auth", status=401), FINE)
    assert attempts.run() == FINE
    assert attempts.clock.slept == [0.2]


def test_without_newer_credentials_a_refusal_is_final() -> None:
    attempts = Attempts(failure("auth", status=401))
    with pytest.raises(ModelFailure):
        attempts.run()
    assert len(attempts.tries) == 1


def test_only_refused_credentials_are_refreshed() -> None:
    attempts = Attempts(failure("invalid_request", status=400), refreshes=5)
    with pytest.raises(ModelFailure):
        attempts.run()
    assert attempts.refreshes == 5
    attempts = Attempts(failure("auth", status=403), FINE, refreshes=1)  # an expired cloud login
    assert attempts.run() == FINE


def test_the_diagnosis_names_every_attempt() -> None:
    attempts = Attempts(
        failure("overloaded", status=529),
        failure("overloaded", status=529),
        failure("timeout"),
        failure("server", status=500),
        failure("server", status=500),
    )
    with pytest.raises(ModelFailure) as caught:
        attempts.run()
    assert "after 5 attempts: 529 × 2, timeout × 1, 500 × 2" in caught.value.message
    assert caught.value.attempts == (
        "529: a overloaded fault",
        "529: a overloaded fault",
        "timeout: a timeout fault",
        "500: a server fault",
        "500: a server fault",
    )


def test_jitter_adds_up_to_its_share_and_not_to_the_servers_wish() -> None:
    policy = RetryPolicy(jitter=0.5)
    waits = [wait_before(failure(), policy, 3) for _ in range(50)]
    assert all(2.0 <= wait <= 3.0 for wait in waits)
    assert len(set(waits)) > 1
    assert wait_before(failure(retry_after=4.0), policy, 3) == 4.0


def test_what_was_shown_is_taken_back_before_anything_new_comes() -> None:
    said = TextDelta(0, "half")

    async def better(sink: DeltaSink) -> Reply:
        await sink(TextDelta(0, "whole"))
        return FINE

    attempts = Attempts(shows_then(said, error=failure("overloaded")), better)
    attempts.run(fallbacks=("n",))
    assert attempts.shown == [
        said,
        Discarded("a overloaded fault"),
        Switched(model="n", reason="m is overloaded"),
        Notice("m is overloaded; going on with n", "warning"),
        TextDelta(0, "whole"),
    ]
    attempts = Attempts(shows_then(said, error=failure("network")), better)
    attempts.run()
    assert [type(delta) for delta in attempts.shown] == [TextDelta, Discarded, Retrying, TextDelta]


def test_a_call_that_was_ready_is_taken_back_too() -> None:
    ready = CallReady(0, Call("a", "T", "{}"))
    attempts = Attempts(shows_then(ready, error=failure("network")), FINE)
    attempts.run()
    assert len(attempts.of(Discarded)) == 1


def test_nothing_shown_is_nothing_to_take_back() -> None:
    attempts = Attempts(failure("network"), FINE)
    attempts.run(fallbacks=("n",))
    assert attempts.of(Discarded) == []


def test_each_attempt_is_taken_back_on_its_own() -> None:
    attempts = Attempts(shows_then(TextDelta(0, "x"), error=failure()), failure(), FINE)
    attempts.run()
    assert len(attempts.of(Discarded)) == 1


def test_a_failure_for_good_takes_back_what_was_shown() -> None:
    attempts = Attempts(shows_then(TextDelta(0, "x"), error=failure("auth")))
    with pytest.raises(ModelFailure):
        attempts.run()
    assert [type(delta) for delta in attempts.shown] == [TextDelta, Discarded]


def test_from_the_second_timeout_on_less_is_asked_for() -> None:
    attempts = Attempts(failure("timeout"))
    with pytest.raises(ModelFailure):
        attempts.run(max_output=6_000)
    assert [one.max_output for one in attempts.tries] == [6_000, 6_000, 3_000, 1_500, 1_024]


def test_other_faults_do_not_shrink_the_answer() -> None:
    attempts = Attempts(
        failure("timeout"), failure("server"), failure("timeout"), failure("server"), FINE
    )
    attempts.run(max_output=8_000)
    assert [one.max_output for one in attempts.tries] == [8_000, 8_000, 8_000, 4_000, 4_000]


@pytest.mark.parametrize("asked", [0, 500, 1_024])
def test_a_small_or_unknown_limit_is_never_raised(asked: int) -> None:
    attempts = Attempts(failure("timeout"))
    with pytest.raises(ModelFailure):
        attempts.run(max_output=asked)
    assert {one.max_output for one in attempts.tries} == {asked}


def test_waiting_can_be_cancelled() -> None:
    class Waiting(FakeClock):
        async def sleep(self, seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.get_running_loop().create_future()

    attempts = Attempts(failure())
    attempts.clock = Waiting()

    async def run() -> None:
        task = asyncio.create_task(attempts.asked())
        while not attempts.clock.slept:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert len(attempts.tries) == 1


def test_a_bug_is_not_retried() -> None:
    async def broken(sink: DeltaSink) -> Reply:
        raise KeyError("oops")

    attempts = Attempts(broken)
    with pytest.raises(KeyError):
        attempts.run()
    assert len(attempts.tries) == 1
