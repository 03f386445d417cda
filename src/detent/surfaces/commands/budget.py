"""`/budget`: what the session may spend; `/budget usd 5`, `/budget tokens none` and
`/budget strict off` change it."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from msgspec.structs import replace

from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.amounts import aligned, estimated, shown_amount, unpriced
from detent.types.budget import KEYS, WHOLE, WORDS, What
from detent.types.errors import BadInput

OTHERS: dict[str, What] = {"tools": "calls", "tasks": "delegations", "requests": "requests"}
"""Shorter ones."""


async def run(session: Session, rest: str, hear: Hear) -> str:
    if rest:
        words = rest.split()
        wish = _strict(words) if words[0].lower() == "strict" else _wish(words)
        session.budget = replace(session.budget, **wish)
    return "\n".join(_lines(session))


def _strict(words: list[str]) -> dict[str, Any]:
    if len(words) != 2 or words[1] not in ("on", "off"):
        raise BadInput("/budget strict takes `on` or `off`")
    return {"strict": words[1] == "on"}


def _named(words: Iterable[str]) -> What | None:
    """`modelCalls`, `model-calls`, `model_calls` and `model calls` are the same."""
    name = "".join(words).replace("-", "").replace("_", "").lower()
    known = {key.lower(): what for key, what in {**KEYS, **OTHERS}.items()}
    known |= {words.replace(" ", ""): what for what, words in WORDS.items()}
    return known.get(name)


def _wish(words: list[str]) -> dict[str, Any]:
    what, amount = _named(words[:-1]), words[-1]
    if what is None:
        raise BadInput(f"/budget takes one of {', '.join(KEYS)}, and a number or `none`")
    if amount == "none":
        return {what: 0}
    try:
        most = float(amount.lstrip("$").replace(",", ""))
    except ValueError:
        most = float("nan")
    is_whole = what in WHOLE
    if not isfinite(most) or most <= 0 or (is_whole and most != int(most)):
        kind = "a whole number" if is_whole else "a number"
        name = " ".join(words[:-1])
        raise BadInput(f"/budget {name} takes {kind} above 0 or `none`, not {amount!r}")
    return {what: int(most) if is_whole else most}


def _lines(session: Session) -> list[str]:
    limits, left, spent = session.budget.limits(), session.left(), session.spent
    rows = [("", "spent", "limit", "left")]
    for what, words in WORDS.items():
        used, most = spent.of(what), limits.get(what)
        is_unknown = what == "dollars" and spent.unpriced
        if used or most or is_unknown:
            known = shown_amount(used) if used or not is_unknown else "unknown"
            limit = "none" if most is None else shown_amount(most)
            rest = shown_amount(left[what]) if what in left else ""
            rows.append((words, known, limit, rest))
    if len(rows) == 1:
        return ["Nothing is spent, and nothing is limited."]
    lines = aligned(rows)
    if spent.estimated:
        lines.append(estimated(spent))
    if spent.unpriced:
        lines.append(unpriced(spent))
    if session.budget.strict:
        lines.append("Strict: nothing is sent that could take more than is left.")
    return lines
