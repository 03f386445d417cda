"""The least an asyncio agent has to do: one connection, streams, concurrent shell calls, no log."""

from __future__ import annotations

import asyncio
import sys

from turn import HOST, PORT, TYPE_CHECKING, Turn, request, result

if TYPE_CHECKING:
    from typing import Any


async def run(ident: str, command: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return result(ident, output)


def start(ident: str, command: str) -> asyncio.Task[dict[str, Any]]:
    return asyncio.create_task(run(ident, command))


async def converse(prompt: str) -> None:
    reader, writer = await asyncio.open_connection(HOST, int(PORT))
    history: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    while True:
        turn = Turn(start, sys.stdout.write)
        writer.write(request(history))
        await writer.drain()
        while not turn.ended:
            turn.feed(await reader.read(65536))
            sys.stdout.flush()
        if not turn.running:
            break
        history.append({"role": "assistant", "content": turn.content})
        history.append({"role": "user", "content": await asyncio.gather(*turn.running)})
    writer.close()


def main() -> None:
    asyncio.run(converse("go"))
