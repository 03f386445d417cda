"""How a call ended. Every call has exactly one outcome, whatever happened to it."""

from typing import Any

from msgspec import Struct

from detent.types.content import ResultBlock, Text

INTERRUPTED = "interrupted; it may have run in part. Check before you repeat it."


class Ending(Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True):
    """Base of every outcome."""


class Done(Ending, frozen=True):
    content: tuple[ResultBlock, ...]
    data: dict[str, Any] | None = None
    """The structured result that programs read (SDK clients, hooks); the model reads `content`."""


class Failed(Ending, frozen=True):
    """The tool ran and says that it did not work, or could not be called at all."""

    text: str
    data: dict[str, Any] | None = None


class Refused(Ending, frozen=True):
    """Not run, for want of permission."""

    reason: str
    by: str
    """Who refused: a rule, a hook, the mode, the person."""


class Cut(Ending, frozen=True):
    """Stopped before its end: cancelled, timed out, or the agent died."""

    reason: str
    text: str = ""
    """What it had printed so far."""


Outcome = Done | Failed | Refused | Cut


def done(text: str, data: dict[str, Any] | None = None) -> Done:
    return Done((Text(text),), data)


def is_error(outcome: Outcome) -> bool:
    return not isinstance(outcome, Done)


def content_of(outcome: Outcome) -> tuple[ResultBlock, ...]:
    """What the model reads of an outcome."""
    match outcome:
        case Done(content=content):
            return content or (Text("(no output)"),)
        case Failed(text=text):
            return (Text(text or "The tool failed without a message."),)
        case Refused(reason=reason):
            return (Text(f"Not run. {reason}"),)
        case Cut(reason=reason, text=text):
            head = f"{text.rstrip()}\n\n" if text.strip() else ""
            return (Text(f"{head}[{reason}]"),)


def text_of(outcome: Outcome) -> str:
    return "".join(part.text for part in content_of(outcome) if isinstance(part, Text))


def with_context(outcome: Outcome, text: str) -> Outcome:
    """The outcome with a further text behind it, as hooks add one."""
    match outcome:
        case Done(content=content, data=data):
            return Done((*content, Text(f"\n\n{text}")), data)
        case Failed(text=said, data=data):
            return Failed(f"{said}\n\n{text}", data)
        case _:
            return outcome
