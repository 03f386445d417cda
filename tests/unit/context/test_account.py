"""Accounts: what may be spent, in a tree."""

from __future__ import annotations

import pytest

from detent.context.account import Account, Reservation
from detent.types.budget import Budget, Shortage, Spent
from detent.types.usage import Usage

ONE = Spent(requests=1)


def tokens(count: int) -> Spent:
    return Spent(usage=Usage(input=count), requests=1)


def reserved(account: Account, worst: Spent) -> Reservation:
    found = account.reserve(worst)
    assert isinstance(found, Reservation)
    return found


@pytest.mark.parametrize(
    ("budget", "spent", "words"),
    [
        (Budget(tokens=10), tokens(10), "10 of 10 tokens"),
        (Budget(input=10), tokens(12), "12 of 10 input tokens"),
        (Budget(output=5), Spent(usage=Usage(output=5)), "5 of 5 output tokens"),
        (Budget(reasoning=5), Spent(usage=Usage(reasoning=6)), "6 of 5 reasoning tokens"),
        (Budget(dollars=0.5), Spent(dollars=0.5), "0.5 of 0.5 dollars"),
        (Budget(calls=2), Spent(calls=2), "2 of 2 tool calls"),
        (Budget(requests=1), ONE, "1 of 1 model calls"),
        (Budget(seconds=2.5), Spent(seconds=2.5), "2.5 of 2.5 seconds"),
    ],
)
def test_a_request_needs_something_left_of_everything(
    budget: Budget, spent: Spent, words: str
) -> None:
    assert Account(budget).short(ONE) is None
    shortage = Account(budget, spent=spent).short(ONE)
    assert shortage is not None and words in shortage.message


def test_what_is_read_from_the_cache_or_written_to_it_is_input() -> None:
    spent = Spent(usage=Usage(input=1, output=2, cache_read=3, cache_write=4))
    assert (spent.of("input"), spent.of("output"), spent.of("tokens")) == (8, 2, 10)


def test_no_limit_is_no_limit() -> None:
    account = Account(Budget(tokens=0, dollars=0.0))
    assert account.budget.limits() == {}
    account.spend(Spent(usage=Usage(10**12), dollars=1e9, requests=10**9))
    assert account.short(ONE) is None and account.left() == {}


def test_counts_are_kept_to_the_last_one_by_those_that_race() -> None:
    account = Account(Budget(delegations=2))
    assert account.take(Spent(delegations=1)) is None
    reserved(account, Spent(delegations=1))
    shortage = account.reserve(Spent(delegations=1))
    assert isinstance(shortage, Shortage)
    assert (shortage.what, shortage.used, shortage.most) == ("delegations", 2, 2)


def test_an_account_that_is_not_strict_is_passed_by_what_is_in_flight_at_most() -> None:
    account = Account(Budget(tokens=100))
    first, second = reserved(account, tokens(90)), reserved(account, tokens(90))
    account.settle(first, tokens(90))
    account.settle(second, tokens(90))
    assert account.spent.of("tokens") == 180
    assert isinstance(account.reserve(tokens(1)), Shortage)


def test_a_strict_account_refuses_what_might_pass_it() -> None:
    account = Account(Budget(tokens=100, strict=True))
    first = reserved(account, tokens(60))
    shortage = account.reserve(tokens(41))
    assert isinstance(shortage, Shortage)
    assert (shortage.used, shortage.worst) == (60, 41)
    assert "60 of 100 tokens are used" in shortage.message and "41" in shortage.message
    account.settle(first, tokens(10))
    assert isinstance(account.reserve(tokens(90)), Reservation)


def test_a_reservation_is_settled_once() -> None:
    account = Account(Budget(tokens=100, strict=True))
    one = reserved(account, tokens(60))
    account.settle(one, tokens(20))
    account.settle(one, tokens(20))
    assert account.spent == tokens(20) and account.held == Spent()


def test_one_that_was_cancelled_gives_back_what_it_held() -> None:
    account = Account(Budget(tokens=100, strict=True))
    account.settle(reserved(account, tokens(100)))
    assert account.spent == Spent()
    assert account.left() == {"tokens": 100}


def test_children_draw_on_their_parents() -> None:
    root = Account(Budget(tokens=100), name="root")
    child = root.child(Budget(tokens=1000), name="child")
    child.settle(reserved(child, tokens(100)), tokens(100))
    assert root.spent == child.spent == root.delegated == tokens(100)
    assert root.own == Spent()
    shortage = child.reserve(tokens(1))
    assert isinstance(shortage, Shortage) and shortage.account == "root"
    assert "of root" in shortage.message


def test_a_strict_parent_makes_its_children_strict() -> None:
    root = Account(Budget(tokens=100, strict=True))
    child = root.child().child()
    assert child.is_strict
    assert isinstance(child.reserve(tokens(101)), Shortage)


def test_a_last_word_may_pass_a_limit_that_is_not_strict() -> None:
    account = Account(Budget(tokens=10, requests=1), spent=tokens(10))
    assert isinstance(account.reserve(tokens(5)), Shortage)
    assert isinstance(account.reserve(tokens(5), beyond=True), Reservation)
    strict = Account(Budget(tokens=10, strict=True), spent=tokens(10))
    assert isinstance(strict.reserve(tokens(5), beyond=True), Shortage)


def test_a_budget_can_be_raised_while_it_is_used() -> None:
    root = Account(Budget(tokens=10), spent=tokens(10))
    heard: list[str] = []
    child = root.child()
    end = child.watch(lambda: heard.append("changed"))
    assert child.short(ONE) is not None
    root.budget = Budget(tokens=20)
    assert heard == ["changed"] and child.short(ONE) is None
    end()
    root.budget = Budget()
    assert heard == ["changed"]


def test_distribution_gives_children_a_share_of_what_is_left() -> None:
    def first_of(distribution: object, **more: int) -> dict[str, float]:
        root = Account(
            Budget(tokens=120, dollars=2.0),
            spent=tokens(20),
            distribution=distribution,  # type: ignore[arg-type]
        )
        return dict(root.child(**more).budget.limits())

    assert first_of("shared") == {}
    assert first_of("equal", siblings=4) == {"tokens": 25, "dollars": 0.5}
    assert first_of(0.1) == {"tokens": 10, "dollars": 0.2}


def test_a_childs_own_budget_counts_where_it_is_less_than_its_share() -> None:
    root = Account(Budget(tokens=100), distribution="equal")
    assert root.child(Budget(tokens=10, calls=3), siblings=2).budget == Budget(tokens=10, calls=3)
    assert root.child(Budget(tokens=90), siblings=2).budget == Budget(tokens=50)
    spent = Account(Budget(tokens=100, dollars=1.0), spent=tokens(100), distribution="equal")
    share = spent.child(siblings=2).budget.limits()
    assert 0 < share["tokens"] <= 1, "a share of nothing is not unlimited"
    assert share["dollars"] == 0.5
