"""The command line, parsed: what every surface gets to know of it."""

from math import isfinite

from msgspec import Struct

from detent.types.errors import BadInput


class Arguments(Struct, frozen=True):
    values: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    switches: frozenset[str]
    words: tuple[str, ...]

    def on(self, name: str) -> bool:
        return name in self.switches

    def value(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def number(self, name: str, *, whole: bool = False) -> float | None:
        """None where it was not given; `none` is 0. An empty value is a variable that was not
        set, and another thing was meant. Raises BadInput."""
        text = self.values.get(name)
        if text is None:
            return None
        if not text.strip():
            raise BadInput(f"{name} was given an empty value")
        try:
            value = 0.0 if text == "none" else float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise BadInput(f"{name} takes a number, not {text!r}")
        if value < 0:
            raise BadInput(f"{name} must not be negative")
        if whole and value != int(value):
            raise BadInput(f"{name} takes a whole number, not {text!r}")
        return int(value) if whole else value

    def list_of(self, name: str) -> tuple[str, ...]:
        return self.lists.get(name, ())
