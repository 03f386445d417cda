"""`detent models`: what can be used here, and the embedded model's coming and going."""

import asyncio
import os
import signal
import sys
from contextlib import aclosing

from detent.sdk.local_models import (
    AtHand,
    Progress,
    PullFailed,
    look_for_models,
    pull_embedded,
    remove_embedded,
)
from detent.surfaces.arguments import Arguments
from detent.surfaces.tables.model_table import at_hand
from detent.types.codec import encode
from detent.types.errors import BadInput

BAR = 30
PLAIN_STEP = 0.1


def models(words: tuple[str, ...], arguments: Arguments) -> int:
    match words:
        case () | ("list",):
            return show(asyncio.run(look_for_models()))
        case ("json",):
            print(encode(asyncio.run(look_for_models())).decode())
            return 0
        case ("check",):
            return 0 if asyncio.run(look_for_models()).any else 1
        case ("pull",):
            return asyncio.run(pull())
        case ("remove",):
            return remove()
    raise BadInput(f"detent models takes: list, json, check, pull, remove; not {' '.join(words)!r}")


def show(found: AtHand) -> int:
    print("\n".join(at_hand(found)))
    return 0


def remove() -> int:
    try:
        freed = remove_embedded()
    except (PullFailed, OSError) as error:
        print(f"detent: {error}", file=sys.stderr)
        return 1
    print(f"Removed; {freed / 1e9:.1f} GB are free again." if freed else "There was nothing.")
    return 0


async def pull() -> int:
    """A signal ends it in order: what has arrived stays, and it is said so."""
    task = asyncio.create_task(_pull())
    loop, caught = asyncio.get_running_loop(), list[int]()

    def stop(number: int) -> None:
        caught.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not caught:
            raise
        _say("\nStopped. `detent models pull` goes on where it stopped.")
        return 128 + caught[0]


async def _pull() -> int:
    try:
        await fetch()
    except (PullFailed, OSError) as error:
        _say(f"detent: the embedded model could not be fetched: {error}")
        return 1
    _say("The embedded model is here: --model embedded")
    return 0


async def fetch() -> None:
    """With progress on stderr; raises what the pull raises."""
    bar = ProgressBar()
    try:
        async with aclosing(pull_embedded()) as steps:
            async for progress in steps:
                bar.show(progress)
    finally:
        bar.end()


class ProgressBar:
    """A line that changes on a terminal; elsewhere a new line now and then."""

    def __init__(self) -> None:
        self._live = os.isatty(2)
        self._note = ""
        self._told = -1.0
        self._drawn = False

    def show(self, progress: Progress) -> None:
        share = progress.done / progress.total
        news = bool(progress.note) and progress.note != self._note
        self._note = progress.note or self._note
        if self._live:
            filled = round(share * BAR)
            bar = "█" * filled + "░" * (BAR - filled)
            sys.stderr.write(f"\r\x1b[K{bar} {_amount(progress)}  {self._note}")
            sys.stderr.flush()
            self._drawn = True
        elif news or share - self._told >= PLAIN_STEP or share == 1 > self._told:
            self._told = share
            _say(f"{_amount(progress)}  {self._note}")

    def end(self) -> None:
        if self._drawn:
            _say("")


def _amount(progress: Progress) -> str:
    done, total = progress.done / 1e6, progress.total / 1e6
    return f"{progress.done / progress.total:4.0%}  {done:,.0f} of {total:,.0f} MB"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
