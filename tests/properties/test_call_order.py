"""For every interleaving of calls: results in call order, nothing beside a call that acts."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.loop.limits import Limits
from detent.ports import Desk
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from kitbench import READS, WRITES, BenchTool, bench, check_valid, results

Kind = Literal["reads", "writes", "moves"]


class Moving(BenchTool):
    def moves(self, args: Any) -> bool:
        return True


class Course:
    """What ran beside what."""

    def __init__(self) -> None:
        self.running: dict[int, Kind] = {}
        self.begun: list[int] = []
        self.company: list[dict[int, Kind]] = []

    def tool(self, kind: Kind) -> BenchTool:
        async def body(args: dict[str, Any], desk: Desk) -> str:
            number = args["n"]
            self.begun.append(number)
            self.running[number] = kind
            self.company.append(dict(self.running))
            for _ in range(args["steps"]):
                await asyncio.sleep(0)
            del self.running[number]
            if args["fails"]:
                raise ValueError(f"failed #{number}")
            return f"done #{number}"

        maker = Moving if kind == "moves" else BenchTool
        return maker(kind, body, effects=WRITES if kind == "writes" else READS)


planned = st.lists(
    st.tuples(
        st.sampled_from(["reads", "reads", "writes", "moves"]), st.integers(0, 6), st.booleans()
    ),
    min_size=1,
    max_size=9,
)


@given(plan=planned, most=st.sampled_from([1, 2, 3, 10]))
@settings(max_examples=300)
def test_results_come_in_call_order_and_acts_stand_alone(
    plan: list[tuple[Kind, int, bool]], most: int
) -> None:
    course = Course()
    calls = [
        call(kind, {"n": n, "steps": steps, "fails": fails})
        for n, (kind, steps, fails) in enumerate(plan)
    ]
    b = bench(
        reply(*calls),
        "ok",
        tools=[course.tool(kind) for kind in ("reads", "writes", "moves")],
        limits=Limits(concurrency=most),
    )
    b.run()
    assert isinstance(b.model, ScriptedModel)
    messages = b.model.requests[-1].messages
    check_valid(messages)
    told = [int(text.rsplit("#", 1)[1]) for _, text, _ in results(messages)]
    assert told == list(range(len(plan)))
    assert sorted(course.begun) == list(range(len(plan))), "each ran once"
    for company in course.company:
        assert len(company) <= most
        assert len(company) == 1 or set(company.values()) == {"reads"}
    acts = [n for n in course.begun if plan[n][0] != "reads"]
    for act in acts:  # all before it have begun before it, and none behind it
        at = course.begun.index(act)
        assert sorted(course.begun[:at]) == list(range(act))
