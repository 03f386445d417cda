"""A tree of accounts: who may still spend what. Children draw on their parents.

A request reserves what it may take at worst and settles with what it took. An account that is not
strict asks only that something is left: it is passed by the requests in flight at most.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.types.budget import WHOLE, Budget, Shortage, Spent, What
from detent.types.messages import Message
from detent.types.usage import Usage

Distribution = Literal["shared", "equal"] | float
"""What a child may take of what is left: all of it, as much as each of its siblings, or a part."""

COUNTS: tuple[What, ...] = ("turns", "calls", "delegations", "requests")
"""Known beforehand, so kept to the last one whether the account is strict or not."""
ROUNDING = 1e-9
NOTHING = Spent()
UNLIMITED = Budget()


Price = Callable[[str, Usage], float | None]
"""What an answer of a model costs; None when nobody knows."""


def paid(price: Price, model: str, usage: Usage) -> Spent:
    """For one request."""
    dollars = price(model, usage)
    unpriced = usage.total if dollars is None else 0
    return Spent(usage=usage, dollars=dollars or 0.0, unpriced=unpriced, requests=1)


def guessed(price: Price, model: str, usage: Usage) -> Spent:
    """The cost of a request whose server reports none, beside the request itself."""
    return paid(price, model, usage) + Spent(requests=-1, estimated=usage.total)


class Measured(Struct, frozen=True):
    """A request that was answered, and what the provider counted for both."""

    model: str
    messages: int
    newest: Message
    frame: int
    """Bytes of the prompt and the tools."""
    tokens: int


class Reservation:
    __slots__ = ("account", "is_open", "worst")

    def __init__(self, account: "Account", worst: Spent) -> None:
        self.account, self.worst, self.is_open = account, worst, True


class Account:
    def __init__(
        self,
        budget: Budget = UNLIMITED,
        *,
        spent: Spent = NOTHING,
        parent: "Account | None" = None,
        name: str = "",
        distribution: Distribution = "shared",
        within: bool = False,
    ) -> None:
        """`within`: of a subagent, whose turns and time are part of its parent's, and whose
        spending has an entry of its own in the parent's log."""
        self.parent, self.name, self.distribution = parent, name, distribution
        self._within = within
        self.spent = spent
        """By this account and all below it."""
        self.delegated = NOTHING
        """How much of it by those below."""
        self._untold = NOTHING
        """What of it no log has kept yet."""
        self.held = NOTHING
        """What runs at the moment may take so much."""
        self._running = 0
        self.measured: Measured | None = None
        """The last request that was answered: the next one is longer by what is new in it."""
        self._watchers: list[Callable[[], None]] = []
        self.budget = budget

    @property
    def budget(self) -> Budget:
        return self._budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        """Counts at once, also for what runs."""
        self._limits = tuple(budget.limits().items())
        self._budget = budget
        for heard in self._watchers:
            heard()

    @property
    def is_strict(self) -> bool:
        return any(bool(account._budget.strict) for account in self.line())

    @property
    def limits_time(self) -> bool:
        return any(account._budget.seconds for account in self.line())

    @property
    def own(self) -> Spent:
        return self.spent - self.delegated

    def child(
        self,
        budget: Budget = UNLIMITED,
        *,
        name: str = "",
        siblings: int = 1,
        spent: Spent = NOTHING,
        within: bool = False,
    ) -> "Account":
        """An account that draws on this one; `siblings` are all that share equally, it included.
        What it has `spent` before takes nothing from its share: that is of what is left."""
        share = {what: spent.of(what) + part for what, part in self._share(siblings).items()}
        given = budget.limits()
        limits: dict[Any, Any] = {
            what: min(share.get(what, most), most) for what, most in {**share, **given}.items()
        }
        own = Budget(strict=budget.strict, **limits)
        way: Distribution = self.distribution
        return Account(own, spent=spent, parent=self, name=name, distribution=way, within=within)

    def share(self, children: "Iterable[Account]", siblings: int) -> None:
        """Where all get the same, none of these has more than that of what is left now."""
        if self.distribution != "equal":
            return
        parts = self._share(siblings)
        for child in children:
            used = child.spent + child.held
            limits: dict[Any, Any] = {
                what: min(most, used.of(what) + parts.get(what, most))
                for what, most in child._limits
            }
            child.budget = Budget(strict=child._budget.strict, **limits)

    def left(self) -> dict[What, float]:
        """Of what is limited here or above: what nobody has spent or may be spending."""
        found: dict[What, float] = {}
        for account in self.line():
            for what, most in account._limits:
                rest = max(0, most - account.spent.of(what) - account.held.of(what))
                found[what] = min(rest, found.get(what, rest))
        return found

    def short(self, want: Spent, *, beyond: bool = False) -> Shortage | None:
        """What is lacking. `beyond` is for the one last word, where nobody is strict about it; it
        calls no tool in any case."""
        for account, asked in self._up(want):
            if beyond and not account._budget.strict:
                continue
            for what, most in account._limits:
                if beyond and what == "calls":
                    continue
                if (found := account._short(what, most, asked)) is not None:
                    return found
        return None

    def reserve(self, worst: Spent, *, beyond: bool = False) -> Reservation | Shortage:
        shortage = self.short(worst, beyond=beyond)
        if shortage is not None:
            return shortage
        for account, part in self._up(worst):
            account.held += part
            account._running += 1
        return Reservation(self, worst)

    def settle(self, reservation: Reservation, actual: Spent = NOTHING) -> None:
        """Once, with what it came to; nothing gives it back."""
        if not reservation.is_open:
            return
        reservation.is_open = False
        for account, part in self._up(reservation.worst):
            account._running -= 1
            rest = account.held - part
            account.held = rest if account._running else NOTHING  # fractions leave dust behind
        self.spend(actual)

    def spend(self, actual: Spent) -> None:
        is_kept = False
        for account, part in self._up(actual):
            account.spent += part
            if account is not self:
                account.delegated += part
                if not is_kept:
                    account._untold += part
            is_kept = account._within

    def news(self) -> Spent:
        """What those below have spent since it was last asked for: the log keeps it."""
        new, self._untold = self._untold, NOTHING
        return new

    def take(self, count: Spent) -> Shortage | None:
        """What is known beforehand is reserved and settled in one."""
        reserved = self.reserve(count)
        if isinstance(reserved, Shortage):
            return reserved
        self.settle(reserved, count)
        return None

    def watch(self, heard: Callable[[], None]) -> Callable[[], None]:
        """`heard` is called when a budget changes, here or above; gives what ends that."""
        line = tuple(self.line())
        for account in line:
            account._watchers.append(heard)

        def end() -> None:
            for account in line:
                account._watchers.remove(heard)

        return end

    def line(self) -> "Iterator[Account]":
        """This one, its parent, and so on."""
        account: Account | None = self
        while account is not None:
            yield account
            account = account.parent

    def _up(self, amount: Spent) -> "Iterator[tuple[Account, Spent]]":
        """What an amount is for each: turns and time of a subagent are its own affair."""
        for account in self.line():
            yield account, amount
            if account._within and (amount.turns or amount.seconds):
                amount = replace(amount, turns=0, seconds=0.0)

    def _short(self, what: What, most: float, want: Spent) -> Shortage | None:
        used, wanted = self.spent.of(what), want.of(what)
        if what in COUNTS:
            used += self.held.of(what)
            if wanted and used + wanted > most:
                return Shortage(what, used, most, 0.0, self.name)
            if what != "calls":
                return None
        if not want.requests:
            return None
        if used >= most:
            return Shortage(what, used, most, 0.0, self.name)
        used += self.held.of(what)
        if self._budget.strict and wanted and used + wanted > most * (1 + ROUNDING):
            return Shortage(what, used, most, wanted, self.name)
        return None

    def _share(self, siblings: int) -> dict[What, float]:
        if self.distribution == "shared":
            return {}
        part = 1 / max(1, siblings) if self.distribution == "equal" else self.distribution
        return {
            what: max(1, int(rest * part)) if what in WHOLE else max(ROUNDING, rest * part)
            for what, rest in self.left().items()
        }
