"""Our side of the control protocol: requests to the host program, and their answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Write = Callable[[dict[str, Any]], Awaitable[None]]


class HostError(Exception):
    """The host answered a request of ours with an error."""


class Link:
    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._gone = False

    @property
    def is_open(self) -> bool:
        return not self._gone

    async def request(self, subtype: str, **fields: Any) -> dict[str, Any]:
        """No time limit: a person may be thinking. Cancelling withdraws the request."""
        if self._gone:
            raise HostError("the host closed the connection")
        self._number += 1
        request_id = f"detent-{self._number}"
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        body = {"subtype": subtype, **fields}
        frame = {"type": "control_request", "request_id": request_id, "request": body}
        await self._write(frame)
        try:
            return await future
        except asyncio.CancelledError:
            await self._write({"type": "control_cancel_request", "request_id": request_id})
            raise
        finally:
            self._waiting.pop(request_id, None)

    def answered(self, response: dict[str, Any]) -> None:
        future = self._waiting.get(str(response.get("request_id", "")))
        if future is None or future.done():
            return
        if response.get("subtype") == "error":
            future.set_exception(HostError(str(response.get("error", "error"))))
        else:
            given = response.get("response")
            future.set_result(given if isinstance(given, dict) else {})

    def hung_up(self) -> None:
        """The host closed its side: nobody will answer, neither what is open nor what comes."""
        self._gone = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(HostError("the host closed the connection"))

    async def succeed(self, request_id: str, response: dict[str, Any]) -> None:
        body = {"subtype": "success", "request_id": request_id, "response": response}
        await self._write({"type": "control_response", "response": body})

    async def fail(self, request_id: str, error: str) -> None:
        body = {"subtype": "error", "request_id": request_id, "error": error}
        await self._write({"type": "control_response", "response": body})
