"""`detent context`: what a request holds, where each block is from and what it takes."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable

from detent.sdk.context import Shortened, look, look_at_prompt, shortened
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands.context_table import printed
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import shown
from detent.types.codec import encode
from detent.types.errors import BadInput


def context(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent context takes one SESSION; not {' '.join(words)!r}")
    step = arguments.value("--at")
    if step and (not step.isdecimal() or not int(step)):
        raise BadInput(f"--at is the number of a step, from 1 on; not {step!r}")
    wanted = [flag for flag in ("--at", "--all", "--summary", "--prompt") if _has(arguments, flag)]
    if len(wanted) > 1 and not {"--at", "--all"}.issuperset(wanted):
        raise BadInput(f"{' and '.join(wanted)} show different things: choose one")
    for line in _lines(arguments, "".join(words), int(step or 0)):
        print(line)
    return 0


def _has(arguments: Arguments, flag: str) -> bool:
    return bool(arguments.value(flag)) if flag == "--at" else arguments.on(flag)


def _lines(arguments: Arguments, session: str, step: int) -> Iterable[str]:
    options, as_json = options_from(arguments), arguments.on("--json")
    if arguments.on("--summary"):
        found = shortened(options, session)
        return [encode(found).decode()] if as_json else told(found)
    if arguments.on("--prompt"):
        prompt = asyncio.run(look_at_prompt(options, session))
        return [encode({"prompt": prompt}).decode() if as_json else shown(prompt)]
    ledger = asyncio.run(look(options, session, step))
    if as_json:
        return [encode(ledger).decode()]
    width = shutil.get_terminal_size().columns
    return printed(ledger, width, is_whole=arguments.on("--all"), is_coloured=_has_colours())


def told(found: Shortened) -> Iterable[str]:
    one = found.compacted
    if one is None:
        yield f"Session {found.session}: nothing is summed up."
    else:
        by = f"by {one.model}" if one.by == "model" and one.model else "without a model"
        sizes = f"{one.before_tokens:,} → {one.after_tokens:,} tokens"
        yield shown(f"Session {found.session}: summed up {by} ({one.trigger}), {sizes}.")
    for stage in found.stages:
        what = "1 thing reads" if stage.trims == 1 else f"{stage.trims} things read"
        yield shown(f"Shortened by {stage.stage}: {what} shorter, {stage.saved:,} tokens saved.")
    if one is not None:
        yield ""
        yield shown(one.summary)


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
