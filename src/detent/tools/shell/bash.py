"""Bash: one shell command, its output and its exit code."""

import asyncio
from contextlib import ExitStack, closing
from typing import Annotated, Any

from msgspec import Meta, Struct

from detent.ports import Desk, Finished, Host, Job
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.shell.endings import ending as spoken
from detent.tools.shell.folder import Footprint, follow, may_move, way_back
from detent.tools.shell.foreground import Waited
from detent.tools.shell.output import ShellOutput, setting
from detent.tools.shell.outside import is_excluded
from detent.tools.shell.refusals import ignored_wish, refusal
from detent.types.effects import Effect, Runs
from detent.types.messages import ToolSpec
from detent.types.outcomes import Cut, Done, Failed, Outcome, done

DEFAULT_MS = 120_000
MAXIMUM_MS = 600_000
ROOM_FOR_A_REASON = 200
LONGEST = 128 * 1024 - 1
"""What Linux takes as one argument."""

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
    run_in_background: Annotated[
        bool, Meta(description="Return at once and let it run on as a job.")
    ] = False
    # Models know it from elsewhere. It asks for something only where the user lets it be asked for.
    dangerouslyDisableSandbox: Annotated[bool, UNADVERTISED] = False


class Bash(TypedTool[BashArgs]):
    name = "Bash"
    aliases = ("bash", "BashTool")
    renames = (("cmd", "command"),)
    timeout = None  # it keeps its own, to be able to say what had been printed
    args = BashArgs

    def __init__(
        self, spec: ToolSpec, may_ask: bool = False, excluded: tuple[str, ...] = ()
    ) -> None:
        """`may_ask`: the user lets the model ask to run a command outside the sandbox; `excluded`
        commands always do."""
        super().__init__(spec)
        self._may_ask, self._excluded = may_ask, excluded

    def effects(self, args: BashArgs, cwd: str) -> tuple[Effect, ...]:
        return (Runs(args.command, outside=self._is_outside(args)),)

    def _is_outside(self, args: BashArgs) -> bool:
        wished = self._may_ask and args.dangerouslyDisableSandbox
        return wished or is_excluded(args.command, self._excluded)

    def moves(self, args: BashArgs) -> bool:
        return not args.run_in_background and may_move(args.command)

    async def act(self, args: BashArgs, desk: Desk) -> Outcome:
        if "\0" in args.command:
            return Failed("Bash: a command cannot contain a NUL character.")
        if (size := len(args.command.encode("utf-8", "replace"))) > LONGEST:
            return Failed(
                f"Bash: the command has {size:,} bytes, and no more than {LONGEST:,} can be passed "
                "to a shell. Write it to a file with Write and run that."
            )
        is_outside = self._is_outside(args)
        try:
            if args.run_in_background:
                return await _in_background(args.command, desk, confined=not is_outside)
            return await self._in_foreground(args, desk, is_outside=is_outside)
        except OSError as error:
            if error.filename != desk.cwd:
                raise
            back = way_back(desk, may_move=self.moves(args))
            return Failed(
                f"Bash: not run: {error.strerror}: {desk.cwd}, the working folder. {back}"
            )

    async def _in_foreground(self, args: BashArgs, desk: Desk, *, is_outside: bool) -> Outcome:
        seconds, most = _seconds(args, desk)
        with ExitStack() as held:
            footprint = held.enter_context(Footprint(desk.host, wanted=self.moves(args)))
            output = held.enter_context(closing(ShellOutput(desk)))
            desk.cut_short(lambda: output.text(ROOM_FOR_A_REASON))
            waited = Waited(args.command, desk, output)
            running = desk.host.run(
                argv_of(args.command, desk.host),
                cwd=desk.cwd,
                timeout=seconds,
                output=output.out,
                errors=output.err,
                env=footprint.env,
                confined=not is_outside,
                noted_as=desk.call_id,
                begun=waited.begun,
            )
            try:
                finished = await waited.end_of(running)
            except asyncio.CancelledError:
                printed = output.text(ROOM_FOR_A_REASON)  # all of it, while its file is open
                desk.cut_short(lambda: printed)
                raise
            if isinstance(finished, Job):
                waited.keep_open(held.pop_all())
                return left_in_background(finished)
            if finished.timed_out:
                return _timed_out(finished, seconds, most, output)
            moved = await follow(footprint.folder(), desk)
            notes = [finished.note, moved, *self._of_sandbox(args, finished, output, desk)]
            return _ended(args.command, finished, notes, output)

    def _of_sandbox(
        self, args: BashArgs, finished: Finished, output: ShellOutput, desk: Desk
    ) -> tuple[str, ...]:
        told = refusal(finished, output.streams(), desk, may_ask=self._may_ask)
        is_ignored = args.dangerouslyDisableSandbox and not self._may_ask
        return told, ignored_wish(finished) if is_ignored else ""


TOOL = Bash


async def _in_background(command: str, desk: Desk, *, confined: bool) -> Outcome:
    argv = argv_of(command, desk.host)
    job = await desk.shop.jobs.start(command, argv, desk.cwd, confined=confined, call=desk.call_id)
    return started_in_background(job)


def started_in_background(job: Job) -> Done:
    text = (
        f"Started in the background as {job.id}. Its output goes to {job.path}. You will be told "
        "when it ends; TaskOutput shows what it prints, TaskStop ends it."
    )
    if job.kept:
        text += " It goes on when this session ends."
    return done(text, _data(job))


def left_in_background(job: Job) -> Done:
    text = (
        f"The user has sent it to the background; there it goes on as {job.id}. What it has "
        f"printed, and will print, is in {job.path}. You will be told when it ends; TaskOutput "
        "shows what it prints, TaskStop ends it."
    )
    return done(text, {**_data(job), "backgroundedByUser": True})


def _data(job: Job) -> dict[str, Any]:
    return {
        "stdout": "",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "backgroundTaskId": job.id,
        "outputPath": job.path,
        "sandbox": job.sandbox or "none",
    }


def argv_of(command: str, host: Host) -> list[str]:
    """Exactly the text that was judged."""
    return [host.which("bash") or "sh", "-c", command]


def _seconds(args: BashArgs, desk: Desk) -> tuple[float, float]:
    """How long it may run, and how long any may."""
    default = setting(desk, "bash_default_timeout_ms", DEFAULT_MS)
    most = max(default, setting(desk, "bash_max_timeout_ms", MAXIMUM_MS))
    return min(args.timeout or default, most) / 1000, most / 1000


def _timed_out(finished: Finished, seconds: float, most: float, output: ShellOutput) -> Outcome:
    longer = f"set timeout (at most {most * 1000:g}) or " if seconds < most else ""
    reason = (
        f"timed out after {seconds:g} s: the command and all that it had started were ended. "
        f"To run longer, {longer}use run_in_background."
    )
    if finished.note:
        reason = f"{reason} {finished.note}"
    return Cut(reason, output.text(len(reason) + 4))


def _ended(command: str, finished: Finished, notes: list[str], output: ShellOutput) -> Outcome:
    code = finished.exit_code
    meaning = _meaning_of_one(command) if code == 1 else ""
    ending = f"Exit code 1: {meaning}." if meaning else spoken(code) if code else ""
    said = "\n".join(filter(None, (ending, *notes)))
    printed = output.text(len(said) + 2)
    text = "\n\n".join(filter(None, (printed, said)))
    data = {**output.data(code), "sandbox": finished.sandbox or "none"}
    if code == 0 or meaning:
        return done(text or "(no output)", data)
    return Failed(text, data)


def _meaning_of_one(command: str) -> str:
    """Only for a single simple command: in anything else the 1 may come from elsewhere."""
    if _NOT_SIMPLE.intersection(command.strip()):
        return ""
    words = command.split(maxsplit=1)
    return NO_FAILURE.get(words[0], "") if words else ""
