"""While a turn runs."""

from __future__ import annotations

from detent.sdk.session import Job
from detent.types.events import (
    CallDelta,
    CallStarted,
    Compacting,
    Nested,
    Progress,
    Replied,
    Retrying,
    TextDelta,
    ThinkingDelta,
)

from .. import story
from ..bench import FOLDER, Bench
from . import state

MARKDOWN = """\
The total is wrong for **two** reasons.

1. `round` works on floats, so that `2.675` becomes `2.67`.
2. The rate is *multiplied* and never added:
   - 19 % of 100 is 19, and not 119
   - see [the docs](https://docs.python.org/3/library/decimal.html)

## What I would change

| file | change | lines |
|---|---|---:|
| src/price.py | Decimal, half up | 6 |
| tests/test_price.py | three cases | 21 |

```python
def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)  # as on invoices
```

> Prices are shown with two digits, also where they are
> whole.

Shall I go on with the tests of the inv"""


@state(rows=40)
async def streaming(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Why are totals off by a cent?"))
    bench.hear(ThinkingDelta(0, "They say a cent. Floats, then?"))
    bench.pass_time(3.2)
    bench.hear(*(TextDelta(1, MARKDOWN[at : at + 7]) for at in range(0, len(MARKDOWN), 7)))
    bench.pass_time(4.1)


@state()
async def thinking(bench: Bench) -> None:
    bench.open()
    bench.stage.toggle_thinking()
    bench.hear(story.prompt("Why are totals off by a cent?"))
    bench.hear(ThinkingDelta(0, "They say a cent.\nFloats, then? `round` is half to even,\nand"))
    bench.pass_time(2.5)


@state()
async def running_call(bench: Bench) -> None:
    bench.session.budget_left = {"dollars": 1.9588}
    bench.open()
    bench.hear(story.prompt("Run the tests"))
    bench.hear(*story.answered("I run them all, with the slow ones."))
    bench.hear(story.begun(1, "Bash", command="pytest -q --slow tests"))
    done = {"cart": 20, "login": 45, "price": 61, "tax": 80}
    for name, share in done.items():
        bench.hear(Progress("c1", "Bash", f"tests/test_{name}.py ..... [{share}%]\n"))
    bench.pass_time(12.4)


@state()
async def progress_bar(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Read all of the invoices"))
    bench.hear(story.begun(1, "delegate_agent", children=[{}] * 12))
    bench.hear(Progress("c1", "delegate_agent", "7 of 12 children have ended\n"))
    bench.pass_time(75)


@state()
async def much_at_work(bench: Bench) -> None:
    bench.session.jobs = (
        Job("b1", "npm run dev", f"{FOLDER}/out", 312.0),
        Job("b2", "tail -f var/shop.log", f"{FOLDER}/out", 8.2),
    )
    bench.open()
    bench.hear(story.prompt("Look for other places that round"))
    bench.hear(
        story.begun(1, "Agent", description="Find rounding", prompt="…", subagent_type="explore"),
        story.begun(2, "Grep", pattern=r"round\(", path=f"{FOLDER}/src"),
        story.begun(3, "WebFetch", url="https://docs.python.org/3/library/decimal.html"),
        story.agent(1, "explore", "Find rounding"),
        story.agent(2, "explore", "Invoices and their tests", depth=2),
        story.agent(3, "general-purpose", "Write the changelog", background=True),
    )
    read = CallStarted(
        call_id="n1", name="Read", arguments=f'{{"file_path":"{FOLDER}/src/cart.py"}}', effects=(),
        verdict=story.Allow("mode"),
    )  # fmt: skip
    replied = Replied(turn=1, step=1, model="m", content=(), stop="tool_use", usage=story.USAGE)
    bench.hear(Nested("a1", replied), Nested("a1", read), Nested("a2", ThinkingDelta(0, "hm")))
    bench.pass_time(21.7)


@state()
async def todo_list(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("I go step by step."))
    bench.hear(*story.todos(
        1,
        ("completed", "Find where totals are rounded"),
        ("completed", "Write a test that fails"),
        ("in_progress", "Use Decimal in src/price.py"),
        ("pending", "Run all tests"),
        ("pending", "Say what has changed in docs/prices.md"),
    ))  # fmt: skip
    bench.hear(*story.read(2, "src/price.py", 9))
    bench.hear(CallDelta(0, "c3", "Edit", '{"file_path":'))
    bench.pass_time(33)


@state()
async def queued(bench: Bench) -> None:
    bench.open()
    bench.busy()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.read(1, "src/price.py", 9))
    bench.hear(story.prompt("tests/test_tax.py matters as well", steered=True))
    bench.hear(story.begun(2, "Bash", command="pytest -q"))
    bench.pass_time(5)
    bench.say("the rate is in percent, by the way")
    bench.say("then write the changelog", later=True)
    bench.say("/compact", later=True)
    bench.type("and also")


@state()
async def retrying(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(Retrying(2, 10, 4.0, "the provider is overloaded", 529))
    bench.pass_time(9)


@state()
async def compacting(bench: Bench) -> None:
    bench.session.budget_left = {"tokens": 48_200}
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("All of it is read."))
    bench.hear(Compacting())
    bench.pass_time(14)


@state()
async def fetching(bench: Bench) -> None:
    bench.open()
    bench.seat.busy = "Fetching the model ████████░░░░░░░░░░░░ 40%"
