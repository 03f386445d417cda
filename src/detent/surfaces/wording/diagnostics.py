"""`--debug`: why the turn went on, stopped, waited or left something out. A line for an event.

The five questions it answers: why does it not stop, why did the tool not run, what was done about
a full window, why does another model answer, and what became of an answer that was cut.
"""

from detent.types.events import (
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Discarded,
    Event,
    HookEnded,
    Notice,
    Reminded,
    Retrying,
    Switched,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.outcomes import Cut, Failed, Refused

LONGEST = 160


def explanation(event: Event) -> str:
    """Empty when there is nothing to explain."""
    match event:
        case CallStarted(name=name, verdict=verdict):
            return f"{name} may run: {verdict.source}"
        case CallEnded(name=name, outcome=Refused(reason=reason, by=by)):
            return f"{name} did not run, by {by}: {_line(reason)}"
        case CallEnded(name=name, outcome=Failed(text=text)):
            return f"{name} failed: {_line(text)}"
        case CallEnded(name=name, outcome=Cut(reason=reason)):
            return f"{name} was cut: {_line(reason)}"
        case Reminded(text=text, source=source):
            return f"the turn goes on ({source}): {_line(text)}"
        case Classified(name=name, decision=decision, model=model, reason=reason):
            return f"{name}: {model} says {decision}: {_line(reason)}"
        case HookEnded(name=name, event=told, exit_code=code):
            ending = "did not end by itself" if code is None else f"ended with exit code {code}"
            return f"the {told} hook {_line(name)!r} {ending}"
        case Switched(model=model, reason=reason) if model:
            return f"{model} answers from now on{reason and f': {_line(reason)}'}"
        case Retrying(attempt=attempt, of=most, delay=delay, error=error):
            return f"attempt {attempt} of {most} in {delay:g} s: {_line(error)}"
        case Discarded(reason=reason):
            return f"an answer was thrown away: {_line(reason)}"
        case TurnEnded(reason=reason, error=error, steps=steps):
            return f"ended after {len(steps)} requests: {reason} {_line(error)}".rstrip()
        case _:
            return _of_the_window(event)


def _of_the_window(event: Event) -> str:
    """How full it is, and what was done about it."""
    match event:
        case Compacted(trigger=trigger, before_tokens=before, keeps_from=keeps):
            return f"room was made ({trigger}) at {before:,} tokens; kept from entry {keeps} on"
        case Trimmed(stage=stage, trims=trims, before_tokens=before, after_tokens=after):
            return f"{stage} shortened {len(trims)} parts: {before:,} tokens became {after:,}"
        case Withheld(entries=entries, reason=reason):
            return f"withheld pictures of entries {', '.join(map(str, entries))}: {_line(reason)}"
        case Notice(text=text, level="info"):
            return _line(text)
        case _:
            return ""


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST]}…"
