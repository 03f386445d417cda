"""Bash: one shell command, its output and its exit code."""

import signal
from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk, Finished
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.pacing import Paced
from detent.tools.terminal import plain
from detent.tools.truncate import Kept
from detent.types.effects import Effect, Runs
from detent.types.outcomes import Cut, Failed, Outcome, done

DEFAULT_MS = 120_000
MAXIMUM_MS = 600_000

NO_FAILURE = {
    "grep": "nothing matched",
    "rg": "nothing matched",
    "diff": "the inputs differ",
    "test": "the condition is false",
    "[": "the condition is false",
    "find": "parts of the tree could not be searched",
}
"""Programs that answer with exit code 1, and what they mean by it."""

_NOT_SIMPLE = frozenset(";&|\n`(){}<>")


class BashArgs(Struct, frozen=True):
    command: Annotated[str, Meta(description="The command to run.")]
    timeout: Annotated[
        int, Meta(description="Time limit in milliseconds; 0 means the default.", ge=0)
    ] = 0
    description: Annotated[str, Meta(description="What it does, in five to ten words.")] = ""
    # Accepted because models know them from elsewhere, but not offered: the first is answered
    # honestly, the second has nothing to switch off.
    run_in_background: Annotated[bool, UNADVERTISED] = False
    dangerouslyDisableSandbox: Annotated[bool, UNADVERTISED] = False


class Bash(TypedTool[BashArgs]):
    name = "Bash"
    aliases = ("bash", "BashTool")
    renames = (("cmd", "command"),)
    timeout = None  # it keeps its own, to be able to say what had been printed
    args = BashArgs

    def effects(self, args: BashArgs, cwd: str) -> tuple[Effect, ...]:
        return (Runs(args.command),)

    async def act(self, args: BashArgs, desk: Desk) -> Outcome:
        if args.run_in_background:
            return Failed(
                "Bash: background jobs are not part of this version. Run the command in the "
                "foreground with a longer timeout, or detach it yourself: "
                "`setsid nohup COMMAND >FILE 2>&1 &`."
            )
        if "\0" in args.command:
            return Failed("Bash: a command cannot contain a NUL character.")
        seconds = _seconds(args, desk)
        output = _Output(desk)
        try:
            finished = await desk.host.run(
                [desk.host.which("bash") or "sh", "-c", args.command],
                cwd=desk.cwd,
                timeout=seconds,
                output=output.out,
                errors=output.err,
            )
        finally:
            output.paced.close()
        return _outcome(args.command, finished, seconds, output)


TOOL = Bash


class _Output:
    """Three views of the output: each stream alone, and both as they arrived."""

    __slots__ = ("both", "paced", "stderr", "stdout")

    def __init__(self, desk: Desk) -> None:
        self.stdout, self.stderr, self.both = Kept(), Kept(), Kept()
        self.paced = Paced(desk.progress)

    def out(self, chunk: bytes) -> None:
        self.stdout.feed(chunk)
        self.both.feed(chunk)
        self.paced.feed(chunk)

    def err(self, chunk: bytes) -> None:
        self.stderr.feed(chunk)
        self.both.feed(chunk)
        self.paced.feed(chunk)


def _seconds(args: BashArgs, desk: Desk) -> float:
    default = _setting(desk, "bash_default_timeout_ms", DEFAULT_MS)
    maximum = max(default, _setting(desk, "bash_max_timeout_ms", MAXIMUM_MS))
    return min(args.timeout or default, maximum) / 1000


def _setting(desk: Desk, name: str, otherwise: int) -> int:
    value = desk.settings.get(name, "")
    return int(value) if value.isdigit() and int(value) > 0 else otherwise


def _outcome(command: str, finished: Finished, seconds: float, output: _Output) -> Outcome:
    text = plain(output.both.text()).rstrip("\n")
    if finished.timed_out:
        return Cut(f"timed out after {seconds:g} s", text)
    code = finished.exit_code
    data = {
        "stdout": plain(output.stdout.text()),
        "stderr": plain(output.stderr.text()),
        "interrupted": False,
        "isImage": False,
        "exitCode": code,
    }
    if code == 0:
        return done(text or "(no output)", data)
    head = f"{text}\n\n" if text else ""
    if code == 1 and (meaning := _meaning_of_one(command)):
        return done(f"{head}Exit code 1: {meaning}.", data)
    return Failed(f"{head}{_ending(code)}", data)


def _meaning_of_one(command: str) -> str:
    """Only for a single simple command: in anything else the 1 may come from elsewhere."""
    if _NOT_SIMPLE.intersection(command.strip()):
        return ""
    words = command.split(maxsplit=1)
    return NO_FAILURE.get(words[0], "") if words else ""


def _ending(code: int) -> str:
    if code < 0:
        return f"Killed by {_signal_name(-code)}."
    if 128 < code <= 128 + signal.NSIG:
        return f"Exit code {code} (as after {_signal_name(code - 128)})."
    return f"Exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
