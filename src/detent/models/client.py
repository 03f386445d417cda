"""A model over HTTP: wire × endpoint × retry, behind the Model port."""

import asyncio

from msgspec import Struct

from detent.models.assemble import Assembler
from detent.models.failures import failure_from_http
from detent.models.protocols.wire import Endpoint, Wire
from detent.models.retry import RetryPolicy, Try, with_retries
from detent.models.sse import EventSplitter
from detent.models.transport import ConnectionCut, Exchange, Transport
from detent.models.watch import Timers, Watch
from detent.ports import Clock, DeltaSink
from detent.types.errors import ModelFailure
from detent.types.messages import Reply, Request

SETTLE = 0.2


class Conduct(Struct, frozen=True):
    """How a model is used: its bounds, and what happens when it fails."""

    window: int = 128_000
    max_output: int = 0
    fallbacks: tuple[str, ...] = ()
    retry: RetryPolicy = RetryPolicy()
    timers: Timers = Timers()


class HttpModel:
    def __init__(
        self,
        name: str,
        *,
        wire: Wire,
        endpoint: Endpoint,
        transport: Transport,
        clock: Clock,
        conduct: Conduct,
    ) -> None:
        self.name = name
        self.window = conduct.window
        self.max_output = conduct.max_output
        self._wire = wire
        self._transport = transport
        self._clock = clock
        self._conduct = conduct
        self._timers = conduct.timers
        self._url = endpoint.base_url.rstrip("/") + wire.path
        self._headers = {"content-type": "application/json", **dict(endpoint.headers)}

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        if not request.messages:
            raise ModelFailure("invalid_request", "there is no message to send")

        async def attempt(one: Try, sink: DeltaSink) -> Reply:
            return await self._attempt(request, one, sink)

        return await with_retries(
            attempt,
            Try(self.name, request.max_output or self.max_output),
            policy=self._conduct.retry,
            fallbacks=self._conduct.fallbacks,
            clock=self._clock,
            deltas=deltas,
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _attempt(self, request: Request, one: Try, deltas: DeltaSink) -> Reply:
        body = self._wire.body(request, one.model, one.max_output)
        try:
            async with Watch(self._timers) as watch:
                exchange = await self._transport.post(self._url, self._headers, body)
                try:
                    return await self._receive(exchange, one.model, deltas, watch)
                finally:
                    self._transport.give_back(self._url, exchange)
        except ConnectionCut as error:
            raise ModelFailure("network", str(error)) from None
        except TimeoutError:
            raise ModelFailure("timeout", "the model cannot be reached") from None
        except (OSError, UnicodeError) as error:  # some host names cannot even be encoded
            raise ModelFailure("network", f"cannot reach the model: {error}") from None

    async def _receive(
        self, exchange: Exchange, model: str, deltas: DeltaSink, watch: Watch
    ) -> Reply:
        if exchange.status != 200:
            body = await self._whole(exchange)
            raise failure_from_http(exchange.status, exchange.headers, body)
        watch.silence = "the stream went silent"
        splitter, assembler = EventSplitter(), Assembler()
        while not assembler.ended and (chunk := await exchange.read()):
            self._feed(splitter.feed(chunk), assembler)
            await self._hand_on(assembler, deltas, watch)
        self._feed(splitter.finish(), assembler)
        self._wire.finish(assembler)
        await self._hand_on(assembler, deltas, watch)
        await self._settle(exchange)
        return assembler.reply(model)

    async def _hand_on(self, assembler: Assembler, deltas: DeltaSink, watch: Watch) -> None:
        """The reader's pace is not the server's silence."""
        fresh = assembler.drain()
        if not fresh:
            return
        watch.rest()
        for delta in fresh:
            await deltas(delta)
        watch.go_on()

    async def _settle(self, exchange: Exchange) -> None:
        """The answer is whole; a server that does not end the message loses its connection."""
        try:
            async with asyncio.timeout(SETTLE):
                while not exchange.complete and await exchange.read():
                    pass
        except (TimeoutError, ConnectionCut):
            exchange.abort()

    def _feed(self, events: list[bytes], assembler: Assembler) -> None:
        for data in events:
            self._wire.read(data, assembler)

    async def _whole(self, exchange: Exchange) -> bytes:
        parts: list[bytes] = []
        size = 0
        while (chunk := await exchange.read()) and size < 1_000_000:
            parts.append(chunk)
            size += len(chunk)
        return b"".join(parts)
