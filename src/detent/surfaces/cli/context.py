"""`detent context`: what a request holds, where each block is from and what it takes."""

import os
import shutil
import sys

from detent.sdk.context import look
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands.context_table import printed
from detent.surfaces.headless.wishes import options_from
from detent.types.codec import encode
from detent.types.errors import BadInput


def context(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent context takes one SESSION; not {' '.join(words)!r}")
    step = arguments.value("--at")
    if step and (not step.isdecimal() or not int(step)):
        raise BadInput(f"--at is the number of a step, from 1 on; not {step!r}")
    ledger = look(options_from(arguments), "".join(words), int(step or 0))
    if arguments.on("--json"):
        print(encode(ledger).decode())
        return 0
    width = shutil.get_terminal_size().columns
    lines = printed(ledger, width, is_whole=arguments.on("--all"), is_coloured=_has_colours())
    for line in lines:
        print(line)
    return 0


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
