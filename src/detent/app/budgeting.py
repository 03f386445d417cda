"""What a session may spend. Of each limit counts what this run says (options, then environment),
else what the session's log keeps, else what the settings say; never more than managed ones allow.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from detent.app.models import unpriced
from detent.app.options import Options
from detent.app.settings.budget import BudgetWishes, capped
from detent.app.settings.record import Settings
from detent.context.account import Account, Price
from detent.context.books import Books
from detent.types.budget import WORDS, Budget
from detent.types.errors import BadInput
from detent.types.events import Entry
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
    kept = over(books.budget, usual.budget)
    budget = capped(over(wished(options, environ), kept), usual.most)
    check_strict(budget, options, settings)
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
    """One by one; 0 stays 0 where it has lifted something, so that it is kept lifted."""
    limits: dict[str, Any] = {}
    for what in WORDS:
        most, before = getattr(wish, what), getattr(kept, what)
        is_nothing = most == 0 and before is None
        limits[what] = before if most is None or is_nothing else most
    return Budget(strict=kept.strict if wish.strict is None else wish.strict, **limits)


def check_strict(budget: Budget, options: Options, settings: Settings) -> None:
    if budget.strict and (options.server_tools or settings.web_search.get("provider") == "native"):
        raise BadInput(
            "a strict budget cannot be kept with tools that the provider runs: what they read "
            "counts, and is not known beforehand"
        )


def permitted(budget: Budget, options: Options, settings: Settings) -> Budget:
    """One that is set while the session is open. Raises BadInput."""
    check_strict(budget, options, settings)
    most = settings.spending.most if settings.spending else Budget()
    for what, cap in most.limits().items():
        wanted = getattr(budget, what)
        if not wanted or wanted > cap:
            raise BadInput(f"managed settings allow at most {cap:,g} {WORDS[what]}")
    if most.strict and not budget.strict:
        raise BadInput("managed settings want a strict budget")
    return budget


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
