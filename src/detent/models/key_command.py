"""A key that a command of the user prints. What it prints is shown to nobody, even if it fails."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress

from detent.models.credentials import Renewed, Secret, Token, is_key
from detent.types.errors import ModelFailure

PATIENCE = 30.0
LASTS = 300.0
MOST_OUTPUT = 64 * 1024


def key_from_command(
    command: str,
    environ: Mapping[str, str],
    *,
    headers: tuple[str, ...],
    lasts: float = LASTS,
    patience: float = PATIENCE,
) -> Renewed:
    """`command` must come from the user, never from a project: it runs without a question."""

    async def fetch() -> Token:
        return Token(Secret(await _printed(command, environ, patience)), lasts)

    return Renewed(fetch, headers)


async def _printed(command: str, environ: Mapping[str, str], patience: float) -> str:
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=dict(environ),
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(patience):
            output = await _all(process.stdout)
            status = await process.wait()
    except TimeoutError:
        raise _failure(f"took longer than {patience:g} s") from None
    finally:
        with suppress(ProcessLookupError):  # with whatever it left in the background
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if status != 0:
        raise _failure(f"ended with status {status}; run it by hand to see why")
    key = output.decode("latin-1").strip()
    if not key:
        raise _failure("printed nothing")
    if not is_key(key):
        raise _failure("printed something that is no key")
    return key


async def _all(stream: asyncio.StreamReader) -> bytes:
    output = b""
    while chunk := await stream.read(MOST_OUTPUT):
        output += chunk
        if len(output) > MOST_OUTPUT:
            raise _failure("printed something that is no key")
    return output


def _failure(what: str) -> ModelFailure:
    return ModelFailure("auth", f"the apiKeyHelper command {what}")
