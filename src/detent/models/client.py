"""A model over HTTP, behind the Model port: routes in order of preference, and persistence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from detent.models.retry import RetryPolicy, with_fallbacks
from detent.models.route import Route
from detent.ports import Clock, DeltaSink
from detent.types.errors import ModelFailure
from detent.types.events import Notice, Switched
from detent.types.messages import Reply, Request

if TYPE_CHECKING:
    from detent.types.weights import Weights

COOLING = 300.0
"""Seconds after which a model that could not be had is asked again."""


class HttpModel:
    def __init__(
        self, routes: Sequence[Route], *, clock: Clock, retry: RetryPolicy = RetryPolicy()
    ) -> None:
        self._routes = tuple(routes)
        self._clock = clock
        self._retry = retry
        self._at = 0
        self._left = 0.0
        """When the first choice was left for a fallback."""

    @property
    def name(self) -> str:
        return self._routes[self._at].name

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that may answer."""
        return tuple(route.name for route in self._routes)

    @property
    def outputs(self) -> dict[str, int]:
        """The output limits of all, where there is more than one."""
        limits = {route.name: route.bounds.max_output for route in self._routes}
        return limits if len(limits) > 1 else {}

    @property
    def window(self) -> int:
        """The largest there is: a fallback with less says so itself, and then room is made."""
        return max(route.bounds.window for route in self._routes)

    @property
    def max_output(self) -> int:
        return self._routes[self._at].bounds.max_output

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        if not request.messages:
            raise ModelFailure("invalid_request", "there is no message to send")
        await self._return_home(deltas)

        def left(at: int) -> None:
            self._at, self._left = at, self._clock.elapsed()

        try:
            return await with_fallbacks(
                request,
                self._routes,
                at=self._at,
                left=left,
                policy=self._retry,
                clock=self._clock,
                deltas=deltas,
            )
        except ModelFailure:
            self._at = 0  # nobody could serve: the next request begins with the first choice
            raise

    def weigh(self, request: Request, model: str = "") -> "Weights":
        """What each part of the request has in bytes on the wire, to this model of ours."""
        routes = [route for route in self._routes if route.name == model]
        return (routes or [self._routes[self._at]])[0].weigh(request)

    async def aclose(self) -> None:
        for route in self._routes:
            await route.aclose()

    async def _return_home(self, deltas: DeltaSink) -> None:
        """A fallback serves for a while, so that not every step begins with the same failure."""
        if not self._at or self._clock.elapsed() - self._left < COOLING:
            return
        self._at = 0
        reason = "the fallback has served for a while; trying the first choice again"
        await deltas(Switched(model=self.name, reason=reason))
        await deltas(Notice(f"{self.name}: {reason}"))
