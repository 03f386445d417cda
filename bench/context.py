"""What a long history costs a request: ``python bench/context.py`` with the project installed.

One turn of 3,333 steps leaves 10,000 entries. Everything is on as in any session: the log on disk,
the check of the pipeline, the books behind the ledger, and budgets, once usual and once strict. The
model answers at once with the next call; it encodes each request with a real wire and notes when
the body was ready.

*Building* runs from the end of a step to the finished body: making room, budgets, the messages,
their encoding. *Joining* is what cannot be avoided: one copy of the encoded messages into one body,
timed in the same run. Exit 1 when building costs more than 3 ms beyond it.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner
from detent.ports import DeltaSink
from detent.sdk.custom_tools import tool
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.types.budget import Budget
from detent.types.content import Call, Text
from detent.types.effects import Reads
from detent.types.events import Compacted, Trimmed
from detent.types.messages import Reply, Request
from detent.types.usage import Usage

STEPS = 3_333
LAST = 100
LIMIT_MS = 3.0
RESULT = "".join(f"line {n:03}: something that a command has printed\n" for n in range(10))
WIRES = {"messages": AnthropicMessages, "chat": OpenAIChat}
PLENTY = 10**12
BUDGETS = {
    "usual": Budget(tokens=PLENTY, calls=PLENTY, requests=PLENTY),
    "strict": Budget(tokens=PLENTY, calls=PLENTY, requests=PLENTY, strict=True),
}


class Encoding:
    """A model that encodes what it is asked, and asks for one call after the other."""

    name, window, max_output = "bench", PLENTY, 1_000

    def __init__(self, wire: str) -> None:
        self._wire: Any = WIRES[wire](Manner())
        self.begun = 0.0
        self.building: list[float] = []
        self.joining: list[float] = []
        self.messages = 0

    async def stream(self, request: Request, deltas: DeltaSink) -> Reply:
        body = self._wire.body(request, self.name, self.max_output)
        self.building.append(time.perf_counter() - self.begun)
        step, self.messages = len(self.building), len(request.messages)
        if step > STEPS - LAST:
            self.joining.append(joined_in(body, self.messages))
        if step > STEPS:
            return Reply((Text("done"),), "end_turn", Usage(50, 5), self.name)
        call = Call(f"call_{step}", "look", f'{{"place":{step}}}')
        return Reply((call,), "tool_use", Usage(50, 5), self.name)

    async def aclose(self) -> None:
        pass


def joined_in(body: bytes, count: int) -> float:
    """A body of the same size from as many pieces."""
    size = max(1, len(body) // count)
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    begun = time.perf_counter()
    b",".join(pieces)
    return time.perf_counter() - begun


@tool(effects=(Reads("."),))
def look(place: int) -> str:
    """Looks."""
    return RESULT


async def measured(wire: str, budget: str, home: str) -> dict[str, float]:
    os.environ["DETENT_HOME"] = home
    model = Encoding(wire)

    def trace(stage: str, what: str) -> None:
        if stage in ("Compact", "Message"):
            model.begun = time.perf_counter()

    options = Options(
        cwd=home,
        model=model,
        custom_tools=(look,),
        permission_mode="bypassPermissions",
        budget=BUDGETS[budget],
        trace=trace,
    )
    async with Session(options) as session:
        summary = await session.run_turn("go")
        shortened = [e for e in session.entries if isinstance(e, Compacted | Trimmed)]
        entries = len(session.entries)
        assert summary.reason == "end_turn", summary.error
        assert not shortened, f"the history was shortened: {shortened[0]}"
        assert model.messages == 2 * STEPS + 1, model.messages
    early, late = model.building[10 : 10 + LAST], model.building[-LAST:]
    return {
        "entries": entries,
        "early": statistics.median(early) * 1000,
        "late": statistics.median(late) * 1000,
        "joining": statistics.median(model.joining) * 1000,
    }


def main() -> int:
    titles = ("entries", "building", "joining", "beyond", "at first")
    print(f"{'wire':10}{'budget':8}", *(f"{title:>10}" for title in titles), "  (ms)")
    worst = 0.0
    for wire in WIRES:
        for budget in BUDGETS:
            with tempfile.TemporaryDirectory() as home:
                found = asyncio.run(measured(wire, budget, home))
            beyond = found["late"] - found["joining"]
            worst = max(worst, beyond)
            times = (found["late"], found["joining"], beyond, found["early"])
            numbers = (f"{found['entries']:>10,}", *(f"{one:>10.3f}" for one in times))
            print(f"{wire:10}{budget:8}", *numbers)
    print(f"Goal: at most {LIMIT_MS:g} ms beyond joining; the worst is {worst:.3f} ms.")
    return 1 if worst > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
