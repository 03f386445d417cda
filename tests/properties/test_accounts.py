"""Accounts under racing children: whatever the order, the sums hold and strict is strict."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.context.account import Account, Reservation
from detent.types.budget import Budget, Shortage, Spent
from detent.types.usage import Usage

FEW = st.integers(0, 40)
MONEY = 0.25
"""Sums of it are exact."""


def spent(given_: int, output: int) -> Spent:
    usage = Usage(input=given_, output=output)
    return Spent(usage=usage, dollars=MONEY * (given_ + output), requests=1)


BUDGETS = st.builds(
    Budget,
    tokens=st.none() | st.integers(1, 300),
    output=st.none() | st.integers(1, 150),
    dollars=st.none() | st.integers(1, 300).map(lambda n: MONEY * n),
    requests=st.none() | st.integers(1, 12),
    strict=st.booleans(),
)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 5), FEW, FEW),
        st.tuples(st.just("settle"), st.integers(0, 30), FEW, FEW),
        st.tuples(st.just("cancel"), st.integers(0, 30), FEW, FEW),
    ),
    max_size=60,
)


def tree(budgets: list[Budget]) -> list[Account]:
    """A root, two below it, and three below those."""
    root = Account(budgets[0], name="root")
    one, two = root.child(budgets[1], name="one"), root.child(budgets[2], name="two")
    below = (one.child(budgets[3]), one.child(budgets[4]), two.child(budgets[5]))
    return [root, one, two, *below]


@settings(max_examples=300, deadline=None)
@given(st.lists(BUDGETS, min_size=6, max_size=6), MOVES)
def test_racing_children_never_break_the_books(
    budgets: list[Budget], moves: list[tuple[str, int, int, int]]
) -> None:
    accounts = tree(budgets)
    in_flight: list[Reservation] = []
    own = {id(account): Spent() for account in accounts}
    in_the_way = 0
    for kind, number, given_, output in moves:
        before = [account.spent for account in accounts]
        if kind == "reserve":
            account = accounts[number]
            found = account.reserve(spent(given_, output))
            if isinstance(found, Shortage):
                in_the_way += 1
                check_shortage(account, found)
            else:
                in_flight.append(found)
        elif in_flight:
            reservation = in_flight.pop(number % len(in_flight))
            worst, account = reservation.worst.usage, reservation.account
            actual = spent(min(given_, worst.input), min(output, worst.output))
            actual = Spent() if kind == "cancel" else actual
            account.settle(reservation, actual)
            own[id(account)] += actual
        check(accounts, own, before)
    for reservation in in_flight:
        reservation.account.settle(reservation)
    assert all(account.held == Spent() for account in accounts), "what is not used is given back"


def check(accounts: list[Account], own: dict[int, Spent], before: list[Spent]) -> None:
    for account, earlier in zip(accounts, before, strict=True):
        children = [other for other in accounts if other.parent is account]
        assert account.delegated == sum((child.spent for child in children), Spent())
        assert account.own == own[id(account)]
        for what, most in account.budget.limits().items():
            assert account.spent.of(what) >= earlier.of(what), "what is spent stays spent"
            if account.budget.strict or what == "requests":
                assert account.spent.of(what) + account.held.of(what) <= most


def check_shortage(account: Account, shortage: Shortage) -> None:
    """It names an account on the way up, and a limit of it."""
    line: list[Account] = []
    above: Account | None = account
    while above is not None:
        line.append(above)
        above = above.parent
    named = [each for each in line if each.name == shortage.account]
    assert any(each.budget.limits().get(shortage.what) == shortage.most for each in named)
