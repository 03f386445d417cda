"""What a plugin keeps between its calls: one JSON object, which its programs find in a file and may
change there. It is kept in the log with the call, so a resumed session has it, too."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from msgspec import MsgspecError

from detent.ports import Workshop
from detent.types.codec import decode_any, encode

MOST_BYTES = 64 * 1024


class Lent:
    """The state as it was, and the file that holds it while a program runs."""

    def __init__(self, plugin: str, path: str, before: dict[str, Any], serial: int) -> None:
        self.path = path
        self.note = ""
        """Why a change was not kept."""
        self._plugin, self._before, self._serial = plugin, before, serial

    async def changed(self) -> dict[str, Any] | None:
        """What the log is to keep; None where the program left it as it was."""
        data = await asyncio.to_thread(self._read)
        try:
            state = decode_any(data) if len(data) <= MOST_BYTES else None
        except (MsgspecError, UnicodeDecodeError, RecursionError):
            state = None
        if not isinstance(state, dict):
            self.note = f"[the plugin's state was not kept: no JSON object of {MOST_BYTES} bytes]"
            return None
        if state == self._before:
            return None
        return {"plugin": self._plugin, "serial": self._serial + 1, "state": state}

    def _read(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                return file.read(MOST_BYTES + 1)
        except OSError:
            return b""


@asynccontextmanager
async def lent(
    plugin: str, tools: Sequence[str], shop: Workshop, scratch: str
) -> AsyncIterator[Lent]:
    """`tools` are all that the plugin has: what one has kept, the others find."""
    from tempfile import TemporaryDirectory

    known = [data for tool in tools if (data := shop.last(tool)) and data.get("plugin") == plugin]
    nothing: dict[str, Any] = {"serial": 0, "state": {}}
    last = max(known, key=lambda data: int(data["serial"]), default=nothing)
    folder = await asyncio.to_thread(TemporaryDirectory, dir=scratch or None, prefix="plugin-")
    try:
        path = os.path.join(folder.name, "state.json")
        await asyncio.to_thread(_write, path, encode(last["state"]))
        yield Lent(plugin, path, last["state"], last["serial"])
    finally:
        await asyncio.to_thread(folder.cleanup)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
