"""JSON-RPC with a program: requests and their answers, and what the other side asks of us."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, UnsetType

from detent.ports import Finished, Host, Running
from detent.tools.language.frames import BadFrame, Frames, framed
from detent.tools.language.messages import METHOD_NOT_FOUND, Fault, Incoming, Outgoing

T = TypeVar("T")

WORDS = 300
ENDING = 2.0
"""Seconds until a program that was asked to go is made to."""


class Gone(Exception):
    """The program has ended or talks nonsense; the message says how."""


class Refusal(Exception):
    """It answered with an error."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message or f"error {fault.code}")
        self.code = fault.code


class Unknown(Exception):
    """We do not know the method that the program calls."""


class Connection:
    """`asked` answers requests of the program (or raises Unknown), `told` takes its notifications,
    `ended` is called when no more will come. None of them may wait."""

    def __init__(
        self,
        name: str,
        asked: Callable[[str, Raw], Any],
        told: Callable[[str, Raw], None],
        ended: Callable[[], None],
    ) -> None:
        self._name, self._asked, self._told, self._ended = name, asked, told, ended
        self._frames = Frames()
        self._complaint = b""
        self._pending: dict[int | str, asyncio.Future[Raw]] = {}
        self._count = 0
        self._running: Running | None = None
        self._watching: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[Finished] | None = None
        self.trouble = ""
        """Why there is nobody to talk to any more."""

    async def start(self, host: Host, argv: tuple[str, ...], cwd: str) -> None:
        """Raises OSError when the program cannot be started."""
        self._running = await host.start(
            argv, cwd=cwd, output=self._heard, errors=self._complained, keeps_input=True
        )
        self._watching = asyncio.create_task(self._watch(self._running))

    def notify(self, method: str, params: Any) -> None:
        self._send(Outgoing("2.0", method=method, params=params))

    async def request(self, method: str, params: Any, kind: type[T] | Any, seconds: float) -> T:
        """Raises Gone, Refusal, or TimeoutError. One that nobody waits for is called off."""
        if self.trouble:
            raise Gone(self.trouble)
        self._count += 1
        number = self._count
        self._pending[number] = answer = asyncio.get_running_loop().create_future()
        self._send(Outgoing("2.0", id=number, method=method, params=params))
        try:
            async with asyncio.timeout(seconds):
                result = await answer
        except (TimeoutError, asyncio.CancelledError):
            self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            del self._pending[number]
        try:
            found: T = msgspec.json.decode(result, type=kind)
        except msgspec.MsgspecError as error:
            raise Refusal(Fault(0, f"its answer to {method} is not as agreed: {error}")) from None
        return found

    async def end(self, farewell: float) -> None:
        """Shuts down as the protocol wants it, then for certain. Without time for a farewell the
        second only."""
        if self._running is None:
            return
        if farewell and not self.trouble:
            with suppress(Gone, Refusal, TimeoutError):
                await self.request("shutdown", None, Any, farewell)
            self.notify("exit", None)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._running.wait(), ENDING)
        with suppress(Exception):  # What broke while reading its output was told by then.
            await self._running.end()
        if self._watching is not None:
            await self._watching

    def _send(self, message: Outgoing) -> None:
        if self._running is not None and not self.trouble:
            self._running.write(framed(msgspec.json.encode(message)))

    async def _watch(self, running: Running) -> None:
        try:
            finished = await running.wait()
        except Exception as error:  # Out of `_heard`: a message that we cannot take.
            self._give_up(f"{self._name} cannot be understood: {error!r}")
            return
        words = " ".join(self._complaint.decode("utf-8", "replace").split())
        said = f" and said: {words}" if words else ""
        self._give_up(f"{self._name} has ended (exit code {finished.exit_code}){said}")

    def _complained(self, chunk: bytes) -> None:
        """Some say first what is wrong, some say it last."""
        both = self._complaint + chunk
        self._complaint = both if len(both) <= 2 * WORDS else both[:WORDS] + both[-WORDS:]

    def _heard(self, chunk: bytes) -> None:
        if self.trouble:
            return
        try:
            for body in self._frames.feed(chunk):
                self._take(body)
        except BadFrame as error:
            self._give_up(f"{self._name} cannot be understood: {error}")
            if self._running is not None:
                self._ending = asyncio.create_task(self._running.end())

    def _give_up(self, why: str) -> None:
        self.trouble = self.trouble or why
        self._ended()
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(Gone(self.trouble))

    def _take(self, body: bytes) -> None:
        try:
            message = msgspec.json.decode(body, type=Incoming)
        except msgspec.MsgspecError:
            return  # One bad message says nothing about the next.
        if not message.method:
            self._settle(message)
        elif isinstance(message.id, UnsetType):
            self._told(message.method, message.params)
        else:
            self._answer(message)

    def _settle(self, message: Incoming) -> None:
        number = message.id
        answer = self._pending.get(number) if isinstance(number, int | str) else None
        if answer is None or answer.done():
            return
        if message.error is not None:
            answer.set_exception(Refusal(message.error))
        else:
            answer.set_result(message.result)

    def _answer(self, message: Incoming) -> None:
        try:
            result = self._asked(message.method, message.params)
        except Unknown:
            fault = {"code": METHOD_NOT_FOUND, "message": f"{message.method} is not known here"}
            self._send(Outgoing("2.0", id=message.id, error=fault))
        else:
            self._send(Outgoing("2.0", id=message.id, result=result))
