"""What came of a replay."""

from typing import Any

from msgspec import Struct, to_builtins

from detent.types.events import Entry

LONGEST = 200
NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "nothing"})()


class Difference(Struct, frozen=True, omit_defaults=True):
    """The first thing that came out otherwise."""

    seq: int
    """The number of the recorded entry; 0 where none was recorded."""
    type: str
    field: str = ""
    """Where in the entry, such as `steps.0.ms`; empty: the whole of it."""
    recorded: str = ""
    got: str = ""

    def __str__(self) -> str:
        where = f"entry {self.seq} ({self.type})" if self.seq else f"behind the end ({self.type})"
        field = f", {self.field}" if self.field else ""
        return f"{where}{field}: recorded {self.recorded}, got {self.got}"


class Report(Struct, frozen=True, omit_defaults=True):
    session: str
    version: str
    """Of the program that recorded it."""
    entries: int
    made: int
    """Came out again, byte for byte."""
    given: int
    """Taken as they are: what people and the program wrote around the turns."""
    bytes: int = 0
    """Of the entries that came out again."""
    inputs: int = 0
    """Of these bytes, what was taken from the log and only written down again: words of the model,
    results of tools, times."""
    unchecked: int = 0
    turns: int = 0
    why_unchecked: tuple[str, ...] = ()
    difference: Difference | None = None

    @property
    def is_same(self) -> bool:
        """Whatever could be checked came out as it was recorded."""
        return self.difference is None


def missing(recorded: Entry) -> Difference:
    """Nobody emits it."""
    return Difference(recorded.seq, _type(recorded), "", _short(_plain(recorded)), "nothing")


def differing(recorded: Entry | None, made: Entry) -> Difference:
    if recorded is None:
        return Difference(0, _type(made), "", "nothing", _short(_plain(made)))
    if type(recorded) is not type(made):
        return Difference(
            recorded.seq, _type(recorded), "type", _type(recorded), f"{_short(_plain(made))}"
        )
    field, old, new = _first_difference(_plain(recorded), _plain(made), "")
    return Difference(recorded.seq, _type(recorded), field, _short(old), _short(new))


def _first_difference(old: Any, new: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(old, dict) and isinstance(new, dict) and list(old) != list(new) and old == new:
        return path, list(old), list(new)
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(key, old.get(key, NOTHING), new.get(key, NOTHING)) for key in {**old, **new}]
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        pairs = [(str(i), one, other) for i, (one, other) in enumerate(zip(old, new, strict=True))]
    else:
        return path, old, new
    for key, one, other in pairs:
        if repr(one) != repr(other) and key not in ("seq", "at"):
            return _first_difference(one, other, f"{path}.{key}" if path else key)
    return path, old, new


def _plain(entry: Entry) -> Any:
    return to_builtins(entry)


def _type(entry: Entry) -> str:
    return type(entry).__name__.lower()


def _short(value: Any) -> str:
    """Of two long texts the beginning is often the same: what differs is shown by the caller."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
