"""Calls and turns that have ended."""

from __future__ import annotations

from detent.types.events import CallEnded, TextDelta
from detent.types.outcomes import Cut, Refused, done

from .. import story
from ..bench import Bench
from . import state

TESTS = "\n".join([
    "============ test session starts ============",
    *(f"tests/test_{name}.py ....." for name in ("cart", "login", "mail", "tax", "user", "zip")),
    "tests/test_price.py ..F",
    "",
    "    def test_half_up():",
    ">       assert total([line('2.675')], 1) == Decimal('2.68')",
    "E       AssertionError: assert 2.67 == Decimal('2.68')",
    "",
    "FAILED tests/test_price.py::test_half_up",
    "1 failed, 47 passed in 1.31s",
])  # fmt: skip


@state()
async def card_failed(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Run the tests"))
    bench.hear(*story.bash(1, "pytest -q", TESTS, code=1))
    bench.hear(*story.bash(2, "git status --short", " M src/price.py"))
    bench.pass_time(2)


@state()
async def card_refused(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Publish it"))
    bench.hear(
        story.begun(1, "Bash", command="npm publish --access public"),
        story.over(1, "Bash", Refused("The rule Bash(npm publish:*) of your settings denies it.\n"
                                      "What matched: npm publish --access public", "rule")),
        story.begun(2, "Bash", command="npm pack"),
        story.over(2, "Bash", Refused("not without a lock file: use `npm ci`", "user")),
    )  # fmt: skip
    bench.hear(*story.answered("Then I leave it: the package can be published by you."))
    bench.stage.hear_end(story.end(), 0.0102)


@state()
async def card_edited(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("Two edits, and a new test."))
    bench.hear(*story.edit(1, "src/price.py", story.SMALL_PATCH))
    bench.hear(*story.edit(2, "src/price.py"))
    test = "from shop.price import total\n\n\ndef test_nothing():\n    assert total([], 0) == 0\n"
    bench.hear(*story.made(3, "tests/test_empty.py", test))
    bench.pass_time(4)


@state()
async def turn_ended(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right, and run ruff and the tests"))
    bench.hear(*story.bash(1, "ruff check .", "All checks passed!", ms=300))
    bench.hear(*story.edit(2, "src/price.py"))
    bench.hear(*story.bash(3, "pytest -q tests/test_price.py", "3 passed in 0.12s"))
    bench.hear(*story.answered(
        "Totals are kept in `Decimal` and rounded half up. The three cases pass."
    ))  # fmt: skip
    bench.stage.hear_end(story.end(), 0.0412)


@state()
async def turn_failed(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("I look at the prices first."))
    bench.hear(*story.read(1, "src/price.py", 9))
    error = "The provider says: your credit balance is too low (HTTP 400). Nothing was sent again."
    bench.stage.hear_end(story.end("api_error", error=error, ms=2_100), None)


@state()
async def turn_interrupted(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("I run the tests first."))
    bench.hear(story.begun(1, "Bash", command="pytest -q --slow"))
    bench.hear(story.over(1, "Bash", Cut("interrupted by the user", "tests/test_cart.py ....\n")))
    bench.hear(TextDelta(0, "The cart is fine. Now the"))
    bench.stage.hear_end(story.end("user_cancelled", error="interrupted", ms=8_700), 0.0103)


@state()
async def turn_at_its_budget(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.read(1, "src/price.py", 9))
    bench.hear(CallEnded(call_id="c9", name="Grep", outcome=done("3 files")))
    error = "Budget kept: 0.48 of 0.5 dollars are used, and the next request may take 0.06."
    bench.stage.hear_end(story.end("budget_exceeded", error=error), 0.48)
