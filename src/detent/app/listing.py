"""Names below a folder, by the `rg` program: what git ignores is left out."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from detent.ports import Host

MOST_NAMES = 100_000
MOST_BYTES = 16 * 1024 * 1024
SECONDS = 10.0


class Enough(Exception):
    """More names than anyone looks for."""


def collected(data: bytearray, most: int) -> Callable[[bytes], None]:
    """A sink for so many bytes; whoever feeds it more is stopped."""

    def take(chunk: bytes) -> None:
        data.extend(chunk)
        if len(data) > most:
            raise Enough

    return take


async def list_files(host: Host, folder: str, *, ignores: bool = True) -> tuple[str, ...]:
    """`ignores`: what git ignores is left out."""
    program = host.which("rg")
    if program is None:
        return ()
    data = bytearray()
    argv = [program, "--files", "--hidden", "--null", "--glob", "!.git", "--no-messages"]
    argv += [] if ignores else ["--no-ignore"]
    take = collected(data, MOST_BYTES)
    with suppress(OSError, Enough):
        await host.run(argv, cwd=folder, timeout=SECONDS, output=take, errors=lambda chunk: None)
    return await asyncio.to_thread(_names, bytes(data))


def _names(data: bytes) -> tuple[str, ...]:
    files = [name.decode("utf-8", "replace") for name in data.split(b"\0")[:MOST_NAMES] if name]
    folders = {name[: at + 1] for name in files for at, char in enumerate(name) if char == "/"}
    return tuple(sorted((*files, *folders)))
