"""What comes in on standard input: context, the prompt, answers or frames."""

import os
import select
import stat
from collections.abc import Callable

from detent.types.errors import BadInput

MOST_BYTES = 10 * 1024 * 1024
PATIENCE = 3.0
"""Seconds an open pipe may stay silent when there is a prompt already."""


def read_context(has_prompt: bool, warn: Callable[[str], None]) -> str:
    """All of a piped stdin; nothing from a terminal, or from a pipe in which nothing comes."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if os.isatty(0):
        return ""
    is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if has_prompt and is_pipe and not select.select([0], [], [], PATIENCE)[0]:
        warn(f"nothing came on stdin within {PATIENCE:g} s; going on without it")
        return ""
    return _decoded(_read_all())


def _read_all() -> bytes:
    parts: list[bytes] = []
    size = 0
    while piece := os.read(0, 65536):
        parts.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise BadInput("stdin holds more than 10 MB; name a file instead")
    return b"".join(parts)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8 text (byte {error.start})") from None
