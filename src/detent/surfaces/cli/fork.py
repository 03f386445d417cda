"""`detent fork`: go on from another step, with the files of that step."""

import os
import sys

from msgspec.structs import replace

from detent.sdk.forking import Fork, Forked, find, in_place, into, look_in_place
from detent.sdk.options import Options
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands.undo import told, told_left
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.errors import BadInput

OWN = ("--at", "--prompt", "--into")


def fork(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent fork takes one SESSION; not {' '.join(words)!r}")
    options = options_from(arguments)
    prompt = arguments.value("--prompt")
    if "--prompt" in arguments.values and not prompt.strip():
        raise BadInput("--prompt was given an empty value")
    if arguments.on("--in-place") and arguments.value("--into"):
        raise BadInput("--in-place and --into say different things: choose one")
    wanted = find(options, "".join(words), arguments.value("--at"))
    if arguments.on("--in-place"):
        if not _agreed(options, wanted, sure=arguments.on("--yes")):
            print("Nothing was forked.")
            return 1
        forked = in_place(options, wanted)
    else:
        forked = into(options, wanted, arguments.value("--into"))
    _tell(forked, arguments, to_stderr=bool(prompt))
    return _go_on(forked, prompt, arguments) if prompt else 0


def _agreed(options: Options, wanted: Fork, *, sure: bool) -> bool:
    if sure:
        return True
    report = look_in_place(options, wanted)
    if report.is_nothing:
        return True
    for line in told(report, wanted.cwd):
        print(visible(line))
    if not os.isatty(0):
        raise BadInput("nobody can be asked here; look at the list above, then add --yes")
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"Change these files in {visible(wanted.cwd)}? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell(forked: Forked, arguments: Arguments, *, to_stderr: bool) -> None:
    """Where an answer follows, that alone goes to stdout."""
    where = sys.stderr if to_stderr else sys.stdout
    if arguments.on("--json"):
        print(encode(forked).decode(), file=where)
        return
    after = f"after step {forked.step}" if forked.step else "before its first step"
    print(f"Session {forked.session}: {visible(forked.parent)} {after}.", file=where)
    print(f"Its files: {visible(forked.cwd)}", file=where)
    for left in forked.left:
        for line in told_left(left, forked.cwd):
            print(visible(line), file=where)
    if not to_stderr:
        folder = "" if forked.is_in_place else f"cd {visible(forked.cwd)} && "
        print(f'Go on with: {folder}detent -p -r {forked.session} "…"', file=where)


def _go_on(forked: Forked, prompt: str, arguments: Arguments) -> int:
    """As `detent -p --resume` there does."""
    from detent.surfaces.headless.start import start

    values = {name: value for name, value in arguments.values.items() if name not in OWN}
    values |= {"--resume": forked.session, "--cwd": forked.cwd}
    switches = arguments.switches - {"--in-place", "--yes", "--json"} | {"--print"}
    return start(replace(arguments, values=values, switches=switches, words=(prompt,)))
