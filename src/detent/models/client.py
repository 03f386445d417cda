"""A model over HTTP: wire × endpoint × retry, behind the Model port."""

import asyncio

from msgspec import Struct

from detent.models.assemble import Assembler
from detent.models.failures import failure_from_http
from detent.models.protocols.wire import Endpoint, Wire
from detent.models.retry import RetryPolicy, Try, with_retries
from detent.models.sse import EventSplitter
from detent.models.transport import ConnectionCut, Exchange, Transport
from detent.ports import Clock, DeltaSink
from detent.types.errors import ModelFailure
from detent.types.messages import Reply, Request

SETTLE = 0.2


class Timers(Struct, frozen=True):
    idle: float = 90.0
    """Seconds without content before a stream counts as stalled; pings are not. 0 is none."""
    request: float = 600.0
    """Seconds for a whole request; 0 is none."""


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
            async with asyncio.timeout(self._timers.request or None):
                exchange = await self._post(body)
                try:
                    return await self._receive(exchange, one.model, deltas)
                finally:
                    self._transport.give_back(self._url, exchange)
        except TimeoutError:
            raise ModelFailure("timeout", "the model took too long to answer") from None
        except ConnectionCut as error:
            raise ModelFailure("network", str(error)) from None
        except OSError as error:
            raise ModelFailure("network", f"cannot reach the model: {error}") from None

    async def _post(self, body: bytes) -> Exchange:
        """Silence before the head counts as silence too."""
        try:
            async with asyncio.timeout(self._timers.idle or None):
                return await self._transport.post(self._url, self._headers, body)
        except TimeoutError:
            raise ModelFailure("timeout", "the model did not answer") from None

    async def _receive(self, exchange: Exchange, model: str, deltas: DeltaSink) -> Reply:
        if exchange.status != 200:
            body = await self._whole(exchange)
            raise failure_from_http(exchange.status, exchange.headers, body)
        splitter, assembler = EventSplitter(), Assembler()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timers.idle or None) as watch:
                while not assembler.ended and (chunk := await exchange.read()):
                    self._feed(splitter.feed(chunk), assembler)
                    fresh = assembler.drain()
                    if fresh:
                        watch.reschedule(None)  # the reader's pace is not the server's silence
                        for delta in fresh:
                            await deltas(delta)
                        if self._timers.idle:
                            watch.reschedule(loop.time() + self._timers.idle)
        except TimeoutError:
            raise ModelFailure("timeout", "the stream went silent") from None
        self._feed(splitter.finish(), assembler)
        self._wire.finish(assembler)
        for delta in assembler.drain():
            await deltas(delta)
        await self._settle(exchange)
        return assembler.reply(model)

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
        async with asyncio.timeout(self._timers.idle or None):
            while (chunk := await exchange.read()) and size < 1_000_000:
                parts.append(chunk)
                size += len(chunk)
        return b"".join(parts)
