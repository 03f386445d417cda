"""`/budget`: what the session may spend; `/budget usd 5` and `/budget tokens none` change it."""

from math import isfinite

from msgspec.structs import replace

from detent.sdk.session import Session
from detent.types.budget import WORDS, What
from detent.types.errors import BadInput

SHORT: dict[str, What] = {
    "tokens": "tokens",
    "input": "input",
    "output": "output",
    "reasoning": "reasoning",
    "usd": "dollars",
    "turns": "turns",
    "tools": "calls",
    "tasks": "delegations",
    "requests": "requests",
    "seconds": "seconds",
}


def budget(session: Session, rest: str) -> str:
    if rest:
        what, most = _wish(rest.split())
        session.budget = replace(session.budget, **{what: most})
    return "\n".join(_lines(session))


def _wish(words: list[str]) -> tuple[What, float | None]:
    if len(words) != 2 or words[0] not in SHORT:
        raise BadInput(f"/budget takes one of {', '.join(SHORT)}, and a number or `none`")
    what, amount = SHORT[words[0]], words[1]
    if amount == "none":
        return what, None
    try:
        most = float(amount.lstrip("$"))
    except ValueError:
        most = float("nan")
    is_whole = what not in ("dollars", "seconds")
    if not isfinite(most) or most <= 0 or (is_whole and most != int(most)):
        kind = "a whole number" if is_whole else "a number"
        raise BadInput(f"/budget {words[0]} takes {kind} above 0 or `none`, not {amount!r}")
    return what, int(most) if is_whole else most


def _lines(session: Session) -> list[str]:
    limits, left, spent = session.budget.limits(), session.left(), session.spent
    lines = [f"{'':17} {'spent':>13} {'limit':>13} {'left':>13}"]
    for what, words in WORDS.items():
        used, most = spent.of(what), limits.get(what)
        is_unknown = what == "dollars" and spent.unpriced
        if used or most or is_unknown:
            known = _shown(used) if used or not is_unknown else "unknown"
            limit = "none" if most is None else _shown(most)
            rest = _shown(left[what]) if what in left else ""
            lines.append(f"{words:17} {known:>13} {limit:>13} {rest:>13}")
    if len(lines) == 1:
        return ["Nothing is spent, and nothing is limited."]
    if spent.unpriced:
        lines.append(f"Dollars are without {spent.unpriced:,} tokens of models of unknown price.")
    if session.budget.strict:
        lines.append("Strict: nothing is sent that could take more than is left.")
    return lines


def _shown(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4f}".rstrip("0").rstrip(".")
