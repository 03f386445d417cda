"""The `budget` of a settings file. A project's may only lower what there is."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.app.settings.values import number, one_of, switch, table, whole
from detent.context.account import Distribution
from detent.types.budget import KEYS, Budget
from detent.types.errors import BadInput

OTHERS = ("strict", "onBudget", "distribution")
AT_THE_CAP: tuple[Literal["halt", "wrap_up"], ...] = ("halt", "wrap_up")


class BudgetWishes(Struct, frozen=True):
    budget: Budget = Budget()
    on_budget: Literal["", "halt", "wrap_up"] = ""
    distribution: Distribution = "shared"
    most: Budget = Budget()
    """What managed settings say: nobody goes beyond it."""


def budget_wishes(
    values: dict[str, Any],
    path: str,
    old: BudgetWishes,
    *,
    is_project: bool,
    is_managed: bool = False,
) -> tuple[BudgetWishes, tuple[str, ...]]:
    given, name = table(values, "budget", path), f"{path}: budget"
    notes = [f"{name}: unknown key {key}" for key in given if key not in (*KEYS, *OTHERS)]
    limits: dict[str, Any] = {}
    for key, what in KEYS.items():
        before = getattr(old.budget, what)
        read = number if what in ("dollars", "seconds") else whole
        most = read(given, key, name, None)
        if most is None:
            limits[what] = before
        elif is_project and (not most or (before and most > before)):
            limits[what] = before
            notes.append(f"{name}: {key} is ignored; a project may only lower it")
        else:
            limits[what] = most or None
    strict = old.budget.strict
    if "strict" in given and not (is_project and strict):
        strict = switch(given, "strict", name, False)
    at_the_cap = one_of(given, "onBudget", AT_THE_CAP, name) or old.on_budget
    budget, cap = Budget(strict=strict, **limits), old.most
    if is_managed:
        said: dict[str, Any] = {what: given.get(key) for key, what in KEYS.items()}
        cap = capped(Budget(strict=given.get("strict"), **said), old.most)
        budget = capped(old.budget, cap)
    return BudgetWishes(
        budget,
        old.on_budget if is_project else at_the_cap,
        old.distribution if is_project else _distribution(given, name, old.distribution),
        cap,
    ), tuple(notes)


def capped(budget: Budget, most: Budget) -> Budget:
    """What managed settings limit, nobody raises or lifts."""
    limits: dict[str, Any] = {
        what: min(getattr(budget, what) or cap, cap) for what, cap in most.limits().items()
    }
    return replace(budget, **limits, strict=True if most.strict else budget.strict)


def _distribution(given: Any, name: str, old: Distribution) -> Distribution:
    value = given.get("distribution", old)
    if value == "shared" or value == "equal":
        return "equal" if value == "equal" else "shared"
    is_part = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1
    if not is_part:
        raise BadInput(f"{name}: distribution is shared, equal, or a part above 0 and up to 1")
    return float(value)
