"""`detent replay`: the loop once more, from the log alone; is all the same?"""

from detent.sdk.replay import Report, log_of
from detent.sdk.replay import replay as replay_log
from detent.surfaces.arguments import Arguments
from detent.surfaces.tables.replay_table import told
from detent.types.codec import encode
from detent.types.errors import BadInput
from detent.types.events import Event

SAME, DIFFERS, INCOMPLETE = 0, 1, 5


def replay(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent replay takes one SESSION; not {' '.join(words)!r}")
    path = log_of("".join(words), cwd=arguments.value("--cwd"))
    if "--speed" in arguments.values:
        report = _play(path, speed_of(arguments.value("--speed")))
        return code_of(report) if arguments.on("--verify") else SAME
    report = replay_log(path)
    if arguments.on("--json"):
        print(encode(report).decode())
    else:
        print("\n".join(told(report)))
    return code_of(report) if arguments.on("--verify") else SAME


def code_of(report: Report) -> int:
    if report.difference is not None:
        return DIFFERS
    return INCOMPLETE if report.unchecked else SAME


def speed_of(text: str) -> float:
    """How many times faster than it was; 0 is at once."""
    try:
        speed = 0.0 if text == "max" else float(text.removesuffix("x"))
    except ValueError:
        speed = -1.0
    if not 0 <= speed < float("inf"):
        raise BadInput(f"--speed takes a number such as 4, or max; not {text!r}")
    return speed


def _play(path: str, speed: float) -> Report:
    import asyncio

    from detent.surfaces.cli.played import play
    from detent.surfaces.headless.stdout import ReaderGone

    events: list[Event] = []
    report = replay_log(path, events.append)
    try:
        asyncio.run(play(events, speed))
    except ReaderGone:
        raise BrokenPipeError from None
    if report.difference is not None:
        print("\n".join(told(report)[1:]))
    return report
