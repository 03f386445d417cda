"""The door: `detent …`. Decides what kind of run this is and loads only that."""

import gc
import os
import sys
from contextlib import suppress

from detent.types.version import VERSION

TYPE_CHECKING = False  # `detent --version` should not have to import typing
if TYPE_CHECKING:
    from detent.surfaces.arguments import Arguments

READER_GONE = 141
SUBCOMMANDS = {
    "agents": ("agents", "agents"),
    "completion": ("completion", "completion"),
    "context": ("context", "context"),
    "demo": ("demo", "demo"),
    "doctor": ("doctor", "doctor"),
    "fork": ("fork", "fork"),
    "init": ("init", "init"),
    "man": ("man", "man"),
    "memory": ("memory", "memory"),
    "models": ("models", "models"),
    "permissions": ("permissions", "permissions"),
    "redo": ("undo", "redo"),
    "replay": ("replay", "replay"),
    "sessions": ("sessions", "sessions"),
    "trust": ("trust", "run_trust"),
    "uncompact": ("uncompact", "run_uncompact"),
    "undo": ("undo", "undo"),
}
"""The module beside this one, and the function: it takes the words behind the name, and all."""
OPEN_SESSIONS = ("context", "doctor", "fork", "memory", "permissions", "uncompact")
EVERYWHERE = ("--debug", "--verbose")
LATER_SUBCOMMANDS = (
    "mcp", "skills", "plugins", "config", "serve", "acp", "batch", "report",
)  # fmt: skip


def main() -> None:
    """Ends the process with the exit code of the contract; nothing is left to flush or await."""
    _hold_standard_streams()
    argv = sys.argv[1:]
    if argv in (["--version"], ["-v"], ["version"]):
        print(f"detent {VERSION}")
        os._exit(_flushed(0))
    _leave_at_once_on_signals()
    gc.disable()  # while starting nothing becomes garbage, and looking for it costs milliseconds
    _import_codec()
    try:
        code = run(argv)
    except BrokenPipeError:
        code = READER_GONE
    os._exit(_flushed(code))


def _import_codec() -> None:
    """msgspec, without what it brings along and hardly a run needs, a tenth of every start: what
    describes types and makes schemas of them (loaded when it is called), typing_extensions, where
    that is installed, and the module that tells uuid the system's name. Others may import them all.
    """
    platform, schemas = type(sys)("platform"), type(sys)("msgspec._json_schema")
    platform.system = lambda: os.uname().sysname  # type: ignore[attr-defined]
    for name in ("schema", "schema_components"):
        setattr(schemas, name, _schema_maker(name))
    left_out = {
        "typing_extensions": None,
        "platform": platform,
        "msgspec._json_schema": schemas,
        "msgspec.inspect": type(sys)("msgspec.inspect"),
    }
    if not hasattr(os, "uname"):
        del left_out["platform"]
    added = {name: module for name, module in left_out.items() if name not in sys.modules}
    sys.modules.update(added)  # type: ignore[arg-type]
    import msgspec

    for name in added:
        del sys.modules[name]
    if "msgspec.inspect" in added:
        del msgspec.inspect


def _schema_maker(name: str) -> object:
    def make(*types: object, **wishes: object) -> object:
        from msgspec import _json_schema

        return getattr(_json_schema, name)(*types, **wishes)

    return make


def _leave_at_once_on_signals() -> None:
    """Until the run has its own handlers there is nothing to save, and no traceback to show."""
    import signal

    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))


def run(argv: list[str]) -> int:
    from detent.surfaces.cli.flags import parse
    from detent.types.errors import BadInput

    try:
        arguments = parse(argv)
        if arguments.on("--help"):
            from detent.surfaces.cli.help import help_text

            about = "" if arguments.on("--print") else next(iter(arguments.words), "")
            print(help_text(about), end="")
            return 0
        if arguments.on("--version"):
            print(f"detent {VERSION}")
            return 0
        if arguments.words and not arguments.on("--print"):
            code = subcommand(arguments)
            if code is not None:
                return code
        return _session(arguments)
    except BadInput as error:
        if _wants_objects(argv):
            from detent.surfaces.headless.start import failed

            return failed(str(error), "json", 2, "bad_input")
        print(f"detent: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _session(arguments: "Arguments") -> int:
    """With a person at the terminal, or without."""
    is_headless = arguments.on("--print") or arguments.value("--input-format") == "stream-json"
    if not is_headless and os.isatty(0):
        from detent.surfaces.tui.start import start as sit_down

        return sit_down(arguments)
    from detent.surfaces.headless.start import start

    return start(arguments)


def subcommand(arguments: "Arguments") -> int | None:
    """None when the words are a prompt."""
    name, *rest = arguments.words
    if name in SUBCOMMANDS:
        from importlib import import_module

        _refuse_foreign_flags(name, arguments)
        module, function = SUBCOMMANDS[name]
        run_it = getattr(import_module(f"detent.surfaces.cli.{module}"), function)
        return int(run_it(tuple(rest), arguments))
    if name == "version":
        print(f"detent {VERSION}")
        return 0
    if name == "help":
        from detent.surfaces.cli.help import help_text

        print(help_text(next(iter(rest), "")), end="")
        return 0
    if name in LATER_SUBCOMMANDS:
        from detent.types.errors import BadInput

        raise BadInput(f"`detent {name}` is not part of this version")
    return None


def _refuse_foreign_flags(name: str, arguments: "Arguments") -> None:
    """Who writes `detent undo --all` means something, and must not get another thing. Those that
    open a session take whatever a run takes."""
    if name in OPEN_SESSIONS:
        return
    from detent.surfaces.cli.help import TAKEN
    from detent.types.errors import BadInput

    given = {*arguments.values, *arguments.lists, *arguments.switches}
    if foreign := sorted(given.difference(TAKEN.get(name, ()), EVERYWHERE)):
        raise BadInput(f"detent {name} does not take {foreign[0]}; see detent {name} --help")


def _wants_objects(argv: list[str]) -> bool:
    """Read by hand, for the command line may be what is wrong: a host still waits for a result."""
    formats = ("json", "stream-json")
    pairs = zip(["", *argv], argv, strict=False)
    return any(
        (before == "--output-format" and word in formats)
        or (word.startswith("--output-format=") and word.partition("=")[2] in formats)
        for before, word in pairs
    )


def _hold_standard_streams() -> None:
    """A closed one would be the number of the next file or socket: our words would go there."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number, so this one
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _flushed(code: int) -> int:
    """A reader that has gone away is no reason to complain; the code tells of it."""
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return READER_GONE
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            print(f"detent: cannot write the output: {error}", file=sys.stderr, flush=True)
        return code or 1
    return code
