"""`--verbose` in text mode: one line on stderr for each thing that happens."""

import sys
from contextlib import suppress

from detent.types.codec import decode_any
from detent.types.events import (
    Answered,
    Asked,
    CallEnded,
    CallStarted,
    Event,
    Notice,
    Progress,
    Retrying,
)
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, text_of

WIDTH = 100
LONG_WAIT = 1.0
LONG_CALL = 10


def tell(text: str) -> None:
    """A line to people."""
    say(f"detent: {text}")


def say(text: str) -> None:
    """Control characters of the world outside do not reach the terminal."""
    clean = "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
    with suppress(OSError):
        print(clean, file=sys.stderr, flush=True)


def tell_notice(event: Event) -> None:
    """What people must know in every mode; of waiting, when it could be taken for a hang."""
    match event:
        case Notice(text=text, level=level) if level != "info":
            tell(text)
        case Retrying(attempt=attempt, of=of, delay=delay, error=error):
            if delay >= LONG_WAIT or attempt > 1:
                tell(f"{error}; retry {attempt}/{of} in {delay:g} s")
        case _:
            pass


def tell_activity(event: Event) -> None:
    match event:
        case CallStarted(name=name, arguments=arguments):
            say(f"  → {name} {_gist(arguments)}"[:WIDTH])
        case CallEnded(name=name, outcome=outcome, ms=ms):
            say(f"  {_mark(outcome)} {name} · {ms} ms · {_came_to(outcome)}"[:WIDTH])
        case Progress(name=name, seconds=seconds) if _is_due(seconds):
            say(f"  … {name} · {seconds:.0f} s")
        case Retrying(attempt=attempt, of=of, delay=delay, error=error):
            say(f"  ↻ retry {attempt}/{of} in {delay:g} s: {error}")
        case Asked(name=name, arguments=arguments, reason=reason):
            say(f"  ? {name} {_gist(arguments)}"[:WIDTH])
            say(f"    {reason}")
        case Answered(allowed=allowed):
            say("    allowed" if allowed else "    not allowed")
        case _:
            tell_notice(event)


def _is_due(seconds: float) -> bool:
    """A sign of life comes about once a second; one in ten is enough to read."""
    return seconds >= LONG_CALL and seconds % LONG_CALL < 0.9


def _mark(outcome: object) -> str:
    match outcome:
        case Done():
            return "✓"
        case Failed():
            return "✗"
        case Refused():
            return "⊘"
        case Cut():
            return "✂"
        case _:
            return " "


def _gist(arguments: str) -> str:
    """The argument a person would look at."""
    try:
        given = decode_any(arguments or "{}")
    except ValueError:
        return arguments
    for name in ("command", "file_path", "path", "pattern", "url"):
        if isinstance(given, dict) and isinstance(given.get(name), str):
            return _first_line(given[name])
    return arguments


def _came_to(outcome: Outcome) -> str:
    """What a result comes to, in a few words."""
    data = getattr(outcome, "data", None) or {}
    lines = [line for line in text_of(outcome).split("\n") if any(map(str.isalnum, line))]
    if "exitCode" in data:
        shown = [line for line in lines if not line.startswith("Exit code")]
        return f"exit {data['exitCode']} · {shown[-1].strip() if shown else '(no output)'}"
    file = data.get("file")
    if isinstance(file, dict) and "numLines" in file:
        return f"{file['numLines']} lines"
    return _first_line(lines[0]) if lines else ""


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].expandtabs(4)
