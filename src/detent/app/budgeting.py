"""What a session may spend. Of each limit counts what this run says (options, then environment),
else what the session's log keeps, else what the settings say."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.models import unpriced
from detent.app.options import Options
from detent.app.settings.budget import BudgetWishes
from detent.app.settings.record import Settings
from detent.context.account import Account, Price
from detent.context.books import Books
from detent.types.budget import WORDS, Budget
from detent.types.errors import BadInput
from detent.types.events import Budgeted, Entry
from detent.types.usage import Usage


def account_of(
    options: Options,
    settings: Settings,
    environ: Mapping[str, str],
    entries: Sequence[Entry],
    price: Price,
) -> Account:
    books = Books(price).read(entries)
    usual = settings.spending or BudgetWishes()
    kept = books.budget if was_kept(entries) else usual.budget
    budget = over(wished(options, environ), kept)
    if budget.strict and (options.server_tools or settings.web_search.get("provider") == "native"):
        raise BadInput(
            "a strict budget cannot be kept with tools that the provider runs: what they read "
            "counts, and is not known beforehand"
        )
    parent = options.account
    if parent is None:
        return Account(budget, spent=books.total, distribution=usual.distribution)
    return parent.child(budget, spent=books.total, siblings=options.siblings)


def wished(options: Options, environ: Mapping[str, str]) -> Budget:
    """What this run says; None where it says nothing."""
    given = {
        "tokens": options.max_tokens,
        "calls": options.max_tool_calls,
        "dollars": options.max_budget_usd,
    }
    budget = replace(options.budget, **{key: n for key, n in given.items() if n is not None})
    return budget if budget.tokens is not None else replace(budget, tokens=_from(environ))


def over(wish: Budget, kept: Budget) -> Budget:
    """One by one; 0 is no limit any more."""
    limits: dict[str, Any] = {}
    for what in WORDS:
        most = getattr(wish, what)
        limits[what] = getattr(kept, what) if most is None else most or None
    return Budget(strict=wish.strict or kept.strict, **limits)


def was_kept(entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry, Budgeted) for entry in entries)


def _from(environ: Mapping[str, str]) -> int | None:
    text = environ.get("CLAUDE_COMPUTE_BUDGET", "").strip().replace("_", "")
    if not text:
        return None
    if not text.isdecimal():
        raise BadInput(f"CLAUDE_COMPUTE_BUDGET is a number of tokens, not {text!r}")
    return int(text)


def checked(budget: Budget, models: Sequence[str], price: Price) -> Budget:
    """Raises BadInput for one that cannot be kept."""
    for what, words in WORDS.items():
        most = getattr(budget, what)
        if most is not None and not 0 <= most < float("inf"):
            raise BadInput(f"a budget is 0 or more, not {most!r} {words}")
    for model in models if budget.dollars else ():
        if price(model, Usage(input=1)) is None:
            raise BadInput(unpriced(model))
    return budget
