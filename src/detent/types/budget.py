"""What may be spent, and what was: one record each, the same names in both."""

from typing import Literal

from msgspec import Struct

from detent.types.usage import Usage

What = Literal[
    "tokens",
    "input",
    "output",
    "reasoning",
    "dollars",
    "turns",
    "calls",
    "delegations",
    "requests",
    "seconds",
]
WORDS: dict[What, str] = {
    "tokens": "tokens",
    "input": "input tokens",
    "output": "output tokens",
    "reasoning": "reasoning tokens",
    "dollars": "dollars",
    "turns": "turns",
    "calls": "tool calls",
    "delegations": "delegated tasks",
    "requests": "model calls",
    "seconds": "seconds",
}


InVain = Literal["failed", "cut", "classifier", "compaction", "aside"]
"""Attempts that failed, answers that were cut and asked for again, and what was asked beside."""
KEYS: dict[str, What] = {
    "tokens": "tokens",
    "input": "input",
    "output": "output",
    "reasoning": "reasoning",
    "usd": "dollars",
    "turns": "turns",
    "toolCalls": "calls",
    "delegatedTasks": "delegations",
    "modelCalls": "requests",
    "seconds": "seconds",
}
"""As people write them, in settings and commands."""
WHOLE: frozenset[What] = frozenset(WORDS) - {"dollars", "seconds"}
"""There is no half of one."""


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The most of each; None is no limit, and 0 one that was lifted."""

    tokens: int | None = None
    """Of all kinds together."""
    input: int | None = None
    """Read afresh, from the cache, or written to it."""
    output: int | None = None
    reasoning: int | None = None
    dollars: float | None = None
    turns: int | None = None
    calls: int | None = None
    """Of tools, those that ran."""
    delegations: int | None = None
    """Tasks given to subagents."""
    requests: int | None = None
    """Model calls that were answered or cost something, whatever they are for."""
    seconds: float | None = None
    """Of work: the time in which turns ran."""
    strict: bool | None = None
    """Nothing is sent that could, at worst, take more than is left. None is not said."""

    def limits(self) -> "dict[What, float]":
        found = ((what, getattr(self, what)) for what in WORDS)
        return {what: most for what, most in found if most}


class Spent(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    usage: Usage = Usage()
    dollars: float = 0.0
    unpriced: int = 0
    """Tokens of models whose price nobody knows: `dollars` is without them."""
    estimated: int = 0
    """Tokens that no server has counted; part of `usage`."""
    turns: int = 0
    calls: int = 0
    delegations: int = 0
    requests: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return self._joined(other, 1)

    def __sub__(self, other: "Spent") -> "Spent":
        return self._joined(other, -1)

    def _joined(self, other: "Spent", sign: int) -> "Spent":
        return Spent(
            usage=self.usage + other.usage if sign > 0 else _less(self.usage, other.usage),
            dollars=self.dollars + sign * other.dollars,
            unpriced=self.unpriced + sign * other.unpriced,
            estimated=self.estimated + sign * other.estimated,
            turns=self.turns + sign * other.turns,
            calls=self.calls + sign * other.calls,
            delegations=self.delegations + sign * other.delegations,
            requests=self.requests + sign * other.requests,
            seconds=self.seconds + sign * other.seconds,
        )

    def of(self, what: What) -> float:
        usage = self.usage
        match what:
            case "tokens":
                return usage.total
            case "input":
                return usage.total - usage.output
            case "output":
                return usage.output
            case "reasoning":
                return usage.reasoning
            case _:
                amount: float = getattr(self, what)
                return amount


def _less(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input - other.input,
        one.output - other.output,
        one.cache_read - other.cache_read,
        one.cache_write - other.cache_write,
        one.cache_write_1h - other.cache_write_1h,
        one.reasoning - other.reasoning,
    )


class Shortage(Struct, frozen=True):
    """What there is not enough of, and in which account."""

    what: What
    used: float
    """What runs at the moment included, as far as it may cost."""
    most: float
    worst: float = 0.0
    """What was asked for; 0 when all is spent already."""
    account: str = ""
    """Empty is the session's own."""

    @property
    def needed(self) -> float:
        """A limit below this one would refuse it again."""
        return self.used + self.worst

    @property
    def message(self) -> str:
        where = f" of {self.account}" if self.account else ""
        words, used, most = WORDS[self.what], _amount(self.used), _amount(self.most)
        if not self.worst or self.used >= self.most:
            return f"Budget spent: {used} of {most} {words}{where}."
        return (
            f"Budget kept: {used} of {most} {words}{where} are used, and the next request may "
            f"take {_amount(self.worst)}."
        )


def _amount(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"
