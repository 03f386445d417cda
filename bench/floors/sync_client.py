"""The same without asyncio: a blocking socket, and Popen for calls that run side by side."""

from __future__ import annotations

import socket
import subprocess
import sys

from turn import HOST, PORT, TYPE_CHECKING, Turn, request, result

if TYPE_CHECKING:
    from typing import Any


def start(ident: str, command: str) -> tuple[str, subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return ident, process


def main() -> None:
    connection = socket.create_connection((HOST, int(PORT)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    while True:
        turn = Turn(start, sys.stdout.write)
        connection.sendall(request(history))
        while not turn.ended:
            turn.feed(connection.recv(65536))
            sys.stdout.flush()
        if not turn.running:
            break
        history.append({"role": "assistant", "content": turn.content})
        results = [result(ident, process.communicate()[0]) for ident, process in turn.running]
        history.append({"role": "user", "content": results})
