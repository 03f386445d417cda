"""A route: one model of one provider, asked once. Retries and fallbacks are made of routes."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from detent.http.transport import ConnectionCut, Exchange, Transport
from detent.models.assemble import Assembler
from detent.models.credentials import Credentials, redact, secrets_in
from detent.models.protocols.wire import Endpoint, Splitter, Wire
from detent.models.sse import EventSplitter
from detent.models.watch import Timers, Watch
from detent.ports import DeltaSink
from detent.types.deltas import Begun
from detent.types.errors import ModelFailure
from detent.types.messages import Reply, Request
from detent.types.version import VERSION

if TYPE_CHECKING:
    from detent.http.tape import Tape
    from detent.types.weights import Weights

SETTLE = 0.2
MOST_ERROR_TEXT = 1_000_000
MOST_SAID = 500
"""Characters of a failure that a user is told."""
_HEADERS = {"content-type": "application/json", "user-agent": f"detent/{VERSION}"}


class Bounds(Struct, frozen=True):
    window: int = 128_000
    max_output: int = 0
    """0 is unknown."""
    first_output: int = 0
    """What an answer may have where nobody says more; 0 leaves it to the server."""


class Route:
    def __init__(
        self,
        name: str,
        *,
        provider: str = "",
        wire: Wire,
        endpoint: Endpoint,
        credentials: Credentials,
        transport: Transport,
        bounds: Bounds = Bounds(),
        timers: Timers = Timers(),
    ) -> None:
        self.name = name
        self.provider = provider
        self.bounds = bounds
        self._wire = wire
        self.twin: Callable[[], Wire] = lambda: wire
        """Another one like it, that knows nothing of the session."""
        self._credentials = credentials
        self._transport = transport
        self._timers = timers
        self._url = endpoint.base_url.rstrip("/") + wire.path(name)
        # A wire that frames its events in its own way does not want them in the usual one.
        accept = {} if hasattr(wire, "splitter") else {"accept": "text/event-stream"}
        given = {name.lower(): value for name, value in endpoint.headers}
        self._headers = {**_HEADERS, **accept, **given}

    @property
    def first_output(self) -> int:
        return self.bounds.first_output

    def weigh(self, request: Request) -> "Weights":
        """On a wire of its own: the one in use may be in the middle of an answer."""
        from detent.models.weighing import weigh

        return weigh(self.twin(), request, self.name, self._limit(request.max_output))

    def _limit(self, max_output: int) -> int:
        most, wanted = self.bounds.max_output, max_output or self.bounds.first_output
        return min(wanted, most) if most else wanted

    async def attempt(self, request: Request, max_output: int, deltas: DeltaSink) -> Reply:
        most = self.bounds.max_output
        limit = min(max_output, most) if most else max_output
        body = self._wire.body(request, self.name, limit)
        await deltas(Begun(self.name, self.provider, limit))
        try:
            return await self._exchange(body, deltas)
        except ModelFailure as failure:
            self._complete(failure)
            raise

    async def refresh(self) -> bool:
        """After the provider did not know us: are there newer credentials?"""
        try:
            return await self._credentials.refresh()
        except ModelFailure as failure:
            self._complete(failure)
            raise

    def _complete(self, failure: ModelFailure) -> None:
        """Without our secrets; and without any key, waiting changes nothing.

        Only then it is cut: half of a key would not be known for one.
        """
        message = self._credentials.redact(failure.message)
        failure.message = redact(message, *secrets_in(self._headers))[:MOST_SAID]
        failure.args = (failure.message,)
        failure.exhausted = failure.kind == "auth" and failure.status is None

    def record(self, tape: "Tape | None") -> None:
        """Where the bytes of every exchange are kept from now on."""
        self._transport.tape = tape

    async def aclose(self) -> None:
        await self._credentials.aclose()
        await self._transport.aclose()

    async def _exchange(self, body: bytes, deltas: DeltaSink) -> Reply:
        try:
            async with Watch(self._timers) as watch:
                headers = await self._credentials.signed(self._url, self._headers, body)
                exchange = await self._transport.post(self._url, headers, body)
                try:
                    return await self._receive(exchange, deltas, watch)
                finally:
                    self._transport.give_back(self._url, exchange)
        except ConnectionCut as error:
            raise ModelFailure("network", str(error)) from None
        except TimeoutError:
            raise ModelFailure("timeout", "the model cannot be reached") from None
        except (OSError, UnicodeError) as error:  # some host names cannot even be encoded
            raise ModelFailure("network", f"cannot reach the model: {error}") from None

    async def _receive(self, exchange: Exchange, deltas: DeltaSink, watch: Watch) -> Reply:
        if exchange.status != 200:
            from detent.http.body import beginning  # what explains a failure is loaded for one
            from detent.models.failures import failure_from_http

            body = await beginning(exchange, MOST_ERROR_TEXT)
            raise failure_from_http(exchange.status, exchange.headers, body)
        watch.silence = "the stream went silent"
        assembler = Assembler()
        try:
            return await self._read(exchange, assembler, deltas, watch)
        except ModelFailure:
            await self._hand_on(assembler, deltas, watch)  # a failed answer has its cost, too
            raise

    async def _read(
        self, exchange: Exchange, assembler: Assembler, deltas: DeltaSink, watch: Watch
    ) -> Reply:
        splitter = self._splitter()
        seen, unseen = 0, bytearray()
        while not assembler.ended and (chunk := await exchange.read()):
            seen += self._feed(splitter.feed(chunk), assembler)
            if not seen and len(unseen) < MOST_ERROR_TEXT:
                unseen += chunk
            await self._hand_on(assembler, deltas, watch)
        seen += self._feed(splitter.finish(), assembler)
        self._wire.finish(assembler)
        await self._hand_on(assembler, deltas, watch)
        if not seen:
            from detent.models.failures import not_a_stream

            raise not_a_stream(exchange.headers.get("content-type", ""), bytes(unseen))
        await self._settle(exchange)
        return assembler.reply(self.name, self.provider)

    def _splitter(self) -> Splitter:
        """Most wires send server-sent events; a wire may frame its events in its own way."""
        make = getattr(self._wire, "splitter", EventSplitter)
        splitter: Splitter = make()
        return splitter

    async def _hand_on(self, assembler: Assembler, deltas: DeltaSink, watch: Watch) -> None:
        """The reader's pace is not the server's silence, and neither is content held back."""
        heard, fresh = assembler.heard(), assembler.drain()
        if heard:
            watch.rest()
        for delta in fresh:
            await deltas(delta)
        if heard:
            watch.go_on()

    async def _settle(self, exchange: Exchange) -> None:
        """The answer is whole; a server that does not end the message loses its connection."""
        try:
            async with asyncio.timeout(SETTLE):
                while not exchange.complete and await exchange.read():
                    pass
        except (TimeoutError, ConnectionCut):
            exchange.abort()

    def _feed(self, events: list[bytes], assembler: Assembler) -> int:
        """What comes behind the end of an answer does not belong to it."""
        for data in events:
            if not assembler.ended:
                self._wire.read(data, assembler)
        return len(events)
