"""`python -m detent.testing SCRIPT.json`: serve a script until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TextIO

from detent.testing.reading import load_script
from detent.testing.request import Request
from detent.testing.script import Script
from detent.testing.server import ScriptedServer

_SECRET = {"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"}


def main() -> int:
    options = _options()
    try:
        plan = load_script(options.script)
    except (OSError, ValueError) as error:
        print(f"detent.testing: {options.script}: {error}", file=sys.stderr)
        return 2
    try:
        with _opened(options.requests_log) as log:
            asyncio.run(_serve(plan, options, log))
    except OSError as error:
        print(f"detent.testing: {error}", file=sys.stderr)
        return 1
    return 0


def _opened(path: str | None) -> AbstractContextManager[TextIO | None]:
    return nullcontext() if path is None else open(path, "a", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m detent.testing",
        description="Serve a scripted model on loopback: Anthropic Messages, Chat Completions, "
        "OpenAI Responses, Gemini.",
    )
    parser.add_argument("script", metavar="SCRIPT.json")
    parser.add_argument("--port", type=_port, default=0, help="0, the default, takes any free port")
    parser.add_argument("--requests-log", metavar="FILE.jsonl", help="append every request here")
    parser.add_argument("--quiet", action="store_true", help="do not report script problems")
    parser.add_argument("--until-eof", action="store_true", help="stop when stdin ends")
    return parser.parse_args()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


async def _serve(plan: Script, options: argparse.Namespace, log: TextIO | None) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if options.until_eof:
        _when_stdin_ends(lambda: loop.call_soon_threadsafe(stop.set))
    write = None if log is None else _logger(log)
    server = ScriptedServer(plan, port=options.port, record=False, on_request=write)
    async with server:
        print(f"listening {server.url}", flush=True)
        await stop.wait()
    if not options.quiet:
        for problem in server.problems:
            print(problem, file=sys.stderr)


def _when_stdin_ends(then: Callable[[], object]) -> None:
    def wait() -> None:
        # Not sys.stdin: its lock, held by this thread, would upset the interpreter at exit.
        while os.read(0, 4096):
            pass
        then()

    threading.Thread(target=wait, daemon=True).start()


def _logger(log: TextIO) -> Callable[[Request], None]:
    def write(request: Request) -> None:
        log.write(json.dumps(_entry(request), ensure_ascii=False) + "\n")
        log.flush()

    return write


def _entry(request: Request) -> dict[str, Any]:
    """A request as a log line; whoever tries this out with a real key must not find it there."""
    try:
        body: object = json.loads(request.body) if request.body else None
    except ValueError:
        body = request.body.decode("utf-8", "replace")
    headers = {key: "***" if key in _SECRET else value for key, value in request.headers.items()}
    return {
        "number": request.number,
        "method": request.method,
        "path": re.sub(r"([?&]key=)[^&]+", r"\1***", request.path),
        "connection": request.connection,
        "at": request.at,
        "headers": headers,
        "body": body,
    }


if __name__ == "__main__":
    sys.exit(main())
