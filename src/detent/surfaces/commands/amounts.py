"""Amounts as people read them, in columns."""

from collections.abc import Sequence

from detent.types.budget import Spent

LEAST = 13
"""Characters of a column."""


def shown_amount(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4f}".rstrip("0").rstrip(".")


def dollars(spent: Spent) -> str:
    """A price that nobody knows is not nothing."""
    return "unknown" if spent.unpriced and not spent.dollars else f"${spent.dollars:,.4f}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, all others to the right; none runs into the next."""
    first, *others = zip(*rows, strict=True)
    widths = [max(LEAST, *map(len, column)) for column in others]
    left = max(map(len, first))
    return [
        "  ".join([f"{name:{left}}", *(f"{n:>{w}}" for n, w in zip(rest, widths, strict=True))])
        for name, *rest in rows
    ]


def unpriced(spent: Spent) -> str:
    return f"Dollars are without {spent.unpriced:,} tokens of models of unknown price."


def estimated(spent: Spent) -> str:
    return f"{spent.estimated:,} tokens are estimated: their server reported none."
