"""The command line, parsed: what every surface gets to know of it."""

from msgspec import Struct


class Arguments(Struct, frozen=True):
    values: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    switches: frozenset[str]
    words: tuple[str, ...]

    def on(self, name: str) -> bool:
        return name in self.switches

    def value(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def list_of(self, name: str) -> tuple[str, ...]:
        return self.lists.get(name, ())
