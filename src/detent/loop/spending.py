"""A model is asked within what the account allows: each attempt reserves, each settles."""

from asyncio import CancelledError
from collections.abc import Awaitable
from typing import Literal

from detent.context.account import Account, Price, Reservation, guessed, paid
from detent.ports import DeltaSink, Emit, Model
from detent.types.budget import InVain, Shortage, Spent
from detent.types.deltas import Begun, Counted, Delta
from detent.types.errors import ModelFailure, Overdrawn
from detent.types.events import Discarded, Estimated, Lost
from detent.types.messages import Reply, Request
from detent.types.running import Unanswered
from detent.types.usage import Usage

ONE = Spent(requests=1)
NOTHING = Usage()


async def lose(emit: Emit, model: str, usage: Usage, what: InVain = "failed") -> None:
    """What was paid for in vain is kept at once."""
    if usage != Usage():
        await emit(Lost(model=model, usage=usage, what=what))


def unanswered(model: str, failure: Exception, usage: Usage = NOTHING) -> Unanswered:
    if not isinstance(failure, ModelFailure):
        return Unanswered(model=model, kind="broken_off", error=str(failure), usage=usage)
    return Unanswered(
        model=model,
        kind=failure.kind,
        error=failure.message,
        status=failure.status,
        usage=usage,
        window=failure.window,
        tokens=failure.tokens,
        exhausted=failure.exhausted,
    )


class Purse:
    """What a model is paid from."""

    def __init__(self, account: Account, price: Price, emit: Emit, what: InVain = "failed") -> None:
        self.account, self.price, self.emit = account, price, emit
        self.what: InVain = what
        """What is paid for in vain is told as this."""

    async def ask(
        self,
        model: Model,
        request: Request,
        deltas: DeltaSink,
        *,
        last: bool = False,
        goes_on: bool = False,
    ) -> Reply:
        """Raises Overdrawn, also for a further attempt. `last` may pass a limit that is not strict.
        One that `goes_on` is what the next request begins with: if it breaks off, whoever asked
        keeps what there is of it, or loses it."""
        meter = Meter(self, model, deltas, last)
        request = meter.begin(request)
        try:
            reply = await model.stream(request, meter)
        except BaseException:
            await meter.lose(is_told=not goes_on)
            raise
        meter.end(reply.usage, reply.model)
        if reply.usage == Usage():
            await self._estimate(request, reply)
        if goes_on and reply.usage.context and self.account.is_strict:
            from detent.loop.worst import measured_by

            self.account.measured = measured_by(request, reply)
        return reply

    async def _estimate(self, request: Request, reply: Reply) -> None:
        """Some servers report nothing: a limit holds all the same."""
        from detent.loop.guessing import guess

        usage = guess(request, reply)
        self.account.spend(guessed(self.price, reply.model, usage))
        what: Literal["main", "classifier", "compaction", "aside"] = "main"
        if self.what != "failed" and self.what != "cut":
            what = self.what
        await self.emit(Estimated(model=reply.model, usage=usage, what=what))


class Meter:
    """Sees every attempt begin, count and fail on its way to the one who listens."""

    def __init__(self, purse: Purse, model: Model, deltas: DeltaSink, last: bool) -> None:
        self._purse, self._model, self._deltas, self._last = purse, model, deltas, last
        self._request: Request | None = None
        self._asked = model.name
        self._output = 0
        self._held: Reservation | None = None
        self._is_first = True
        self.counted = Usage()

    def __call__(self, delta: Delta) -> Awaitable[None]:
        if isinstance(delta, Counted):
            self.counted = delta.usage
        elif isinstance(delta, Begun):
            self._attempt(delta)
        elif isinstance(delta, Discarded):
            return self._discard(delta)
        return self._deltas(delta)

    def begin(self, request: Request) -> Request:
        """The request as it may be sent: in a strict account its answer may have to be shorter."""
        account = self._purse.account
        if account.is_strict:
            from detent.loop.worst import fitted

            request = fitted(self._purse, self._model, request, last=self._last)
            self._output = request.max_output
        self._request = request
        self._reserve()
        return request

    def end(self, usage: Usage, model: str = "") -> None:
        """The answer is whole, or will never be."""
        if self._held is None:
            return
        is_answer = bool(model) or usage != Usage()
        price, author = self._purse.price, model or self._asked
        cost = paid(price, author, usage) if is_answer else Spent()
        self._purse.account.settle(self._held, cost)
        self._held, self.counted = None, Usage()

    def _attempt(self, begun: Begun) -> None:
        """The first attempt has its reservation, unless it is not what was expected."""
        is_other = begun.model != self._asked or begun.max_output > self._output
        if self._is_first and not (is_other and self._purse.account.is_strict):
            self._is_first, self._asked = False, begun.model
            return
        self._is_first = False
        self.end(self.counted)
        self._asked, self._output = begun.model, begun.max_output
        self._reserve()

    async def _discard(self, delta: Discarded) -> None:
        """Whoever listens may not let go of it: then it ends with the cost it has."""
        try:
            await self._deltas(delta)
        except CancelledError:  # it was let go of before
            await self.lose()
            raise
        await self.lose()

    async def lose(self, *, is_told: bool = True) -> None:
        """The attempt came to nothing, and costs what it had come to."""
        model, usage = self._asked, self.counted
        self.end(usage)
        if is_told:
            await lose(self._purse.emit, model, usage, self._purse.what)

    def _reserve(self) -> None:
        purse, worst = self._purse, ONE
        if purse.account.is_strict and self._request is not None:
            from detent.loop.worst import worst_of

            output = self._output or self._model.max_output or self._model.window
            worst = worst_of(purse, self._asked, self._request, output)
        reserved = purse.account.reserve(worst, beyond=self._last)
        if isinstance(reserved, Shortage):
            raise Overdrawn(reserved)
        self._held = reserved
