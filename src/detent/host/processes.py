"""Runs one program: output as it comes, a time limit, and nothing left running that was cut."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from detent.host.child import Child, Hold
from detent.host.notes import Note
from detent.host.nursery import NoNursery, nursery, staying_nursery
from detent.host.pipes import Plumbing, Sink
from detent.ports import Finished

Descriptors = tuple[int, int, int]
Spawn = Callable[
    [Sequence[str], str, Mapping[str, str] | None, Descriptors, Note | None],
    Awaitable[tuple[Hold, str]],
]
"""Gives the hold and the name of the sandbox, if one was wanted."""


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str,
    timeout: float | None,
    output: Sink,
    errors: Sink | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Runs `argv` to its end. Without `errors`, its error stream joins the output."""
    child = await start_process(argv, cwd=cwd, output=output, errors=errors, stdin=stdin, env=env)
    return await child.run(timeout)


async def start_process(
    argv: Sequence[str],
    *,
    cwd: str,
    output: Sink | str,
    errors: Sink | None = None,
    stdin: bytes | None = b"",
    env: Mapping[str, str] | None = None,
    spawn: Spawn | None = None,
    note: Note | None = None,
) -> Child:
    """`output` may be a file, `stdin` of None keeps the input open for `Child.write`. Raises
    OSError when nothing could start."""
    plumbing = Plumbing(output, errors, fed=stdin is None or bool(stdin))
    try:
        hold, sandbox = await (spawn or spawn_freely)(argv, cwd, env, plumbing.inner, note)
    except BaseException:
        plumbing.close()
        raise
    plumbing.hand_over()
    return Child(hold, plumbing, stdin, sandbox)


async def spawn_freely(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str] | None,
    descriptors: Descriptors,
    note: Note | None = None,
) -> tuple[Hold, str]:
    """Under a keeper wherever that is possible. Raises NoNursery for one that is to stay."""
    if note is not None and note.stays:
        return await staying_nursery().spawn(argv, cwd, env, descriptors, note), ""
    try:
        return await nursery().spawn(argv, cwd, env, descriptors, note), ""
    except NoNursery:
        from detent.host.direct import spawn_directly

        if note is not None:
            note.begins()  # nobody will tell how it ended
        return await spawn_directly(argv, cwd, env, descriptors), ""


async def spawn_openly(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str] | None,
    descriptors: Descriptors,
    note: Note | None = None,
) -> tuple[Hold, str]:
    """As freely, where a sandbox was wanted and there is none: and it says so."""
    hold, _ = await spawn_freely(argv, cwd, env, descriptors, note)
    return hold, "none"
