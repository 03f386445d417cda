"""What a session may spend: who says so, and what is kept."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from detent.app.budgeting import checked, over
from detent.app.options import Options
from detent.app.settings.budget import BudgetWishes, budget_wishes
from detent.app.wire import assemble
from detent.context.account import Account
from detent.sdk.session import Session
from detent.testing.script import reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget, Spent
from detent.types.errors import BadInput
from detent.types.events import Budgeted, Opened, Prompted
from detent.types.usage import Usage


def account(tmp_path: Path, *, env: str = "", settings: Any = None, **given: Any) -> Account:
    environ = {"HOME": str(tmp_path), **({"CLAUDE_COMPUTE_BUDGET": env} if env else {})}
    model = given.pop("model", ScriptedModel("hi"))
    options = Options(model=model, cwd=str(tmp_path), environ=environ, settings=settings, **given)
    engine = assemble(options)
    engine.journal.close()
    return engine.kit.account


def test_who_is_heard_first(tmp_path: Path) -> None:
    settings = {"budget": {"tokens": 1, "toolCalls": 2}}
    assert account(tmp_path, settings=settings).budget == Budget(tokens=1, calls=2)
    assert account(tmp_path, settings=settings, env="3").budget == Budget(tokens=3, calls=2)
    found = account(tmp_path, settings=settings, env="3", max_tokens=4, max_tool_calls=0)
    assert found.budget == Budget(tokens=4, calls=0), "lifted, and kept so"
    found = account(tmp_path, settings=settings, budget=Budget(tokens=5, turns=6))
    assert found.budget == Budget(tokens=5, calls=2, turns=6)


@pytest.mark.parametrize("text", ["plenty", "-5", "1e6", "0x10"])
def test_what_is_no_number_of_tokens_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="CLAUDE_COMPUTE_BUDGET is a number of tokens"):
        account(tmp_path, env=text)


def test_wishes_lie_over_what_was_kept_one_by_one() -> None:
    kept = Budget(tokens=100, calls=5, strict=True)
    assert over(Budget(), kept) == kept
    assert over(Budget(tokens=200), kept) == Budget(tokens=200, calls=5, strict=True)
    assert over(Budget(calls=0), kept) == Budget(tokens=100, calls=0, strict=True)
    assert over(Budget(turns=0), kept) == kept, "there is nothing to lift"
    assert over(Budget(strict=False), kept) == Budget(tokens=100, calls=5, strict=False)
    assert over(Budget(strict=True, turns=3), Budget()) == Budget(turns=3, strict=True)


def test_every_kind_can_be_set_in_a_file() -> None:
    given = {
        "tokens": 1,
        "input": 2,
        "output": 3,
        "reasoning": 4,
        "usd": 5.5,
        "turns": 6,
        "toolCalls": 7,
        "delegatedTasks": 8,
        "modelCalls": 9,
        "seconds": 10.5,
        "strict": True,
        "onBudget": "wrap_up",
        "distribution": "equal",
    }
    found, notes = budget_wishes({"budget": given}, "f", BudgetWishes(), is_project=False)
    budget = Budget(
        tokens=1,
        input=2,
        output=3,
        reasoning=4,
        dollars=5.5,
        turns=6,
        calls=7,
        delegations=8,
        requests=9,
        seconds=10.5,
        strict=True,
    )
    assert found == BudgetWishes(budget, "wrap_up", "equal") and notes == ()
    _, notes = budget_wishes({"budget": {"tokenz": 1}}, "f", BudgetWishes(), is_project=False)
    assert notes == ("f: budget: unknown key tokenz",)


def test_a_project_can_only_lower(tmp_path: Path) -> None:
    mine = BudgetWishes(Budget(tokens=100, dollars=2.0, strict=True), "halt", "shared")
    theirs = {
        "tokens": 1_000,
        "usd": 1,
        "turns": 3,
        "strict": False,
        "onBudget": "wrap_up",
        "distribution": "equal",
    }
    found, notes = budget_wishes({"budget": theirs}, "f", mine, is_project=True)
    assert found == BudgetWishes(
        Budget(tokens=100, dollars=1.0, turns=3, strict=True), "halt", "shared"
    )
    assert notes == ("f: budget: tokens is ignored; a project may only lower it",)
    own, _ = budget_wishes({"budget": theirs}, "f", mine, is_project=False)
    assert own.budget == Budget(tokens=1_000, dollars=1.0, turns=3, strict=False)


def test_the_distribution_reaches_the_account(tmp_path: Path) -> None:
    settings = {"budget": {"tokens": 100, "distribution": 0.25}}
    root = account(tmp_path, settings=settings)
    below = account(tmp_path, account=root, max_tokens=90)
    assert below.parent is root and below.budget == Budget(tokens=25)
    equal = account(tmp_path, settings={"budget": {"tokens": 100, "distribution": "equal"}})
    assert account(tmp_path, account=equal, siblings=4).budget == Budget(tokens=25)


def test_a_budget_must_be_one_that_can_be_kept() -> None:
    def price(model: str, usage: Usage) -> float | None:
        return None if model == "mystery" else 1.0

    assert checked(Budget(dollars=1), ("known",), price) == Budget(dollars=1)
    assert checked(Budget(tokens=1), ("mystery",), price) == Budget(tokens=1)
    with pytest.raises(BadInput, match="price of mystery is not known"):
        checked(Budget(dollars=1), ("known", "mystery"), price)
    with pytest.raises(BadInput, match="0 or more, not -1 tool calls"):
        checked(Budget(calls=-1), ("known",), price)
    with pytest.raises(BadInput, match="0 or more, not inf dollars"):
        checked(Budget(dollars=float("inf")), ("known",), price)


@pytest.mark.parametrize(
    "tools",
    [
        {"server_tools": ({"type": "web_search_20250305", "name": "web_search"},)},
        {"settings": {"webSearch": {"provider": "native"}}},
    ],
)
def test_a_strict_budget_knows_beforehand_what_will_be_read(
    tmp_path: Path, tools: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match="tools that the provider runs"):
        account(tmp_path, budget=Budget(tokens=50_000, strict=True), **tools)
    assert account(tmp_path, budget=Budget(tokens=50_000), **tools).budget.tokens == 50_000


# What is kept


def session(tmp_path: Path, *replies: Any, **given: Any) -> Session:
    environ = {"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "state")}
    model = ScriptedModel(*replies)
    return Session(Options(model=model, cwd=str(tmp_path), environ=environ, **given))


def test_limits_are_written_with_the_first_prompt_and_when_they_change(tmp_path: Path) -> None:
    async def main() -> None:
        async with session(tmp_path, "one", "two", "three", max_tokens=500) as one:
            await one.run_turn("x")
            await one.run_turn("x")
            kinds = [type(e) for e in one.entries if isinstance(e, Opened | Budgeted | Prompted)]
            assert kinds == [Opened, Budgeted, Prompted, Prompted]
            one.budget = Budget(tokens=900, calls=3)
            one.budget = Budget(tokens=900, calls=3)
            assert isinstance(one.entries[-1], Budgeted)
            assert sum(isinstance(e, Budgeted) for e in one.entries) == 2
            name = one.id
        async with session(tmp_path, "four", resume=name) as two:
            assert two.budget == Budget(tokens=900, calls=3)
            assert two.spent.usage == Usage(20, 10) and two.spent.turns == 2
            two.budget = Budget()
            await two.run_turn("x")
        async with session(tmp_path, "five", resume=name) as three:
            assert three.budget == Budget(), "what was lifted stays so"
            assert three.spent.requests == 3

    asyncio.run(main())


def test_without_limits_nothing_is_written(tmp_path: Path) -> None:
    async def main() -> None:
        async with session(tmp_path, "one") as one:
            await one.run_turn("x")
            assert not any(isinstance(entry, Budgeted) for entry in one.entries)
            assert one.spent == one.spending()["main"] + Spent(
                seconds=one.spent.seconds - one.spending()["main"].seconds
            )

    asyncio.run(main())


def test_what_a_session_has_kept_comes_before_the_settings_one_by_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with session(tmp_path, "one", max_tokens=500) as one:
            await one.run_turn("x")
            name = one.id
        settings = {"budget": {"tokens": 20, "toolCalls": 1}}
        async with session(tmp_path, "two", resume=name, settings=settings) as two:
            assert two.budget == Budget(tokens=500, calls=1)
        async with session(tmp_path, "two", settings=settings) as other:
            assert other.budget == Budget(tokens=20, calls=1)

    asyncio.run(main())


def test_a_log_is_given_back_when_no_session_comes_of_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with session(tmp_path, "one") as one:
            await one.run_turn("x")
            name = one.id
        with pytest.raises(BadInput, match="price of scripted is not known"):
            session(tmp_path, "two", resume=name, max_budget_usd=1.0)
        async with session(tmp_path, "two", resume=name) as two:
            assert (await two.run_turn("x")).ok

    asyncio.run(main())


def test_a_child_session_spends_its_parents_budget(tmp_path: Path) -> None:
    async def main() -> None:
        costly = reply("x", input=60, output=20)
        async with session(tmp_path, costly, "never", max_tokens=100) as parent:
            child = session(tmp_path, costly, "never", account=parent.account, persist=False)
            async with child:
                assert (await child.run_turn("x")).ok
                assert (await parent.run_turn("x")).ok, "something was left"
                assert (await child.run_turn("x")).reason == "budget_exceeded"
            assert parent.spent.of("tokens") == 160 and child.spent.of("tokens") == 80
            assert parent.account.delegated.of("tokens") == 80

    asyncio.run(main())


def managed(tmp_path: Path, **budget: Any) -> dict[str, Any]:
    folder = tmp_path / "managed"
    folder.mkdir(exist_ok=True)
    (folder / "managed-settings.json").write_text(json.dumps({"budget": budget}))
    return {"managed_folders": (str(folder),)}


def test_nobody_goes_beyond_managed_settings(tmp_path: Path) -> None:
    said = managed(tmp_path, tokens=100, toolCalls=5, strict=True)
    wide = account(tmp_path, max_tokens=900, max_tool_calls=0, **said).budget
    assert wide == Budget(tokens=100, calls=5, strict=True)
    assert account(tmp_path, env="700", **said).budget.tokens == 100
    lower = account(tmp_path, max_tokens=9, settings={"budget": {"toolCalls": 2}}, **said).budget
    assert lower == Budget(tokens=9, calls=2, strict=True)


def test_nor_while_the_session_is_open(tmp_path: Path) -> None:
    async def main() -> None:
        said = managed(tmp_path, tokens=100, strict=True)
        async with session(tmp_path, "one", **said) as one:
            for wide in (Budget(tokens=101, strict=True), Budget(strict=True), Budget(tokens=9)):
                with pytest.raises(BadInput, match="managed settings"):
                    one.budget = wide
            one.budget = Budget(tokens=99, strict=True)

    asyncio.run(main())


def test_what_was_lifted_stays_lifted(tmp_path: Path) -> None:
    async def main() -> None:
        settings = {"budget": {"tokens": 500, "strict": True}}
        lifted = {"max_tokens": 0, "budget": Budget(strict=False)}
        async with session(tmp_path, "one", settings=settings, **lifted) as one:
            await one.run_turn("x")
            name = one.id
        async with session(tmp_path, "two", resume=name, settings=settings) as two:
            assert two.budget.limits() == {} and not two.budget.strict

    asyncio.run(main())


def test_strict_is_refused_beside_provider_run_tools_whenever_it_is_said(tmp_path: Path) -> None:
    async def main() -> None:
        tools = [{"type": "web_search_20250305", "name": "web_search"}]
        async with session(tmp_path, "one", server_tools=tools) as one:
            with pytest.raises(BadInput, match="tools that the provider runs"):
                one.budget = Budget(tokens=99_000, strict=True)
            one.budget = Budget(tokens=99_000, strict=False)

    asyncio.run(main())
