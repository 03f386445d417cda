"""What may be spent, and what was: one record each, the same names in both."""

from msgspec import Struct

from detent.types.usage import Usage


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The most of each; None is no limit."""

    tokens: int | None = None
    """Of all kinds together."""
    input: int | None = None
    """Read afresh, from the cache, or written to it."""
    output: int | None = None
    reasoning: int | None = None
    dollars: float | None = None
    turns: int | None = None
    calls: int | None = None
    """Of tools."""
    delegations: int | None = None
    """Tasks given to subagents."""
    requests: int | None = None
    """Model calls, whatever they are for."""
    seconds: float | None = None
    """Of work: the time in which turns ran."""


class Spent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    usage: Usage = Usage()
    dollars: float = 0.0
    turns: int = 0
    calls: int = 0
    delegations: int = 0
    requests: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            usage=self.usage + other.usage,
            dollars=self.dollars + other.dollars,
            turns=self.turns + other.turns,
            calls=self.calls + other.calls,
            delegations=self.delegations + other.delegations,
            requests=self.requests + other.requests,
            seconds=self.seconds + other.seconds,
        )
