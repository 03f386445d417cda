"""An interactive session, from the command line to the exit code."""

import asyncio
import os
from collections.abc import Mapping

from detent.surfaces.arguments import Arguments
from detent.surfaces.tui.screen.terminal import Terminal, is_dumb
from detent.surfaces.wishes import options_from
from detent.types.errors import BadInput


def start(arguments: Arguments, environ: Mapping[str, str] = os.environ) -> int:
    """What is wrong with the command line is found before the terminal is touched. From then on
    every key counts: what is typed while we load is kept."""
    options = options_from(arguments)
    if arguments.value("--output-format", "text") != "text":
        raise BadInput("--output-format goes with -p; an interactive session is for a person")
    if is_dumb(environ) or not os.isatty(1):
        from detent.surfaces.tui.linear import converse

        return asyncio.Runner().run(converse(options, arguments))
    terminal = Terminal(environ)
    terminal.enter()
    from detent.surfaces.tui.sitting import Parting, sit

    parting = Parting()
    try:
        return asyncio.Runner().run(sit(options, arguments, terminal, environ, parting))
    except BaseException:
        parting.crashed = True
        raise
    finally:
        terminal.leave()
        for line in parting.lines():
            terminal.write(f"{line}\n")
