"""Requests that were refused: what is changed, and that it is not changed for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.context.account import Account
from detent.ports import Desk
from detent.testing.script import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget
from detent.types.content import Image, Text
from detent.types.deltas import Counted
from detent.types.errors import ModelFailure
from detent.types.events import (
    CallEnded,
    Compacted,
    Discarded,
    Notice,
    Prompted,
    TextDelta,
    TurnEnded,
    Withheld,
)
from detent.types.messages import Request
from detent.types.outcomes import Done
from detent.types.usage import Usage
from kitbench import Bench, BenchTool, bench, check_valid

GOOD = Image("image/png", "QUJD")
POISON = Image("image/png", "QkFE")


class Squeamish(ScriptedModel):
    """Refuses every request that shows the one picture."""

    kind: Any = "bad_content"
    status = 400

    async def stream(self, request: Request, deltas: Any) -> Any:
        check_valid(request.messages)
        if POISON.data in repr(request.messages):
            self.requests.append(request)
            self._replies = (self._replies[0], *self._replies)
            raise ModelFailure(self.kind, "Could not process image", status=self.status)
        return await super().stream(request, deltas)


async def _look(args: dict[str, Any], desk: Desk) -> Done:
    return Done((Text("a picture"), POISON))


LOOK = BenchTool("look", _look)


def test_a_picture_that_is_refused_becomes_a_note_and_the_turn_goes_on() -> None:
    b = Bench(Squeamish("I cannot see it"))
    ended = asyncio.run(b.turn((Text("what is this?"), POISON)))
    assert ended.reason == "end_turn"
    (withheld,) = b.of(Withheld)
    assert withheld.entries == (b.of(Prompted)[0].seq,)
    assert "Could not process image" in b.of(Notice)[0].text
    again = Bench(Squeamish("still fine"), entries=b.log.entries)
    assert again.run().reason == "end_turn", "a resumed session is as well as this one"
    assert not again.of(Withheld)


def test_new_pictures_go_first_then_the_others() -> None:
    class Picky(Squeamish):
        async def stream(self, request: Request, deltas: Any) -> Any:
            if len(self.requests) == 0:
                return await ScriptedModel.stream(self, request, deltas)
            return await super().stream(request, deltas)

    b = Bench(Picky("seen", "done"))
    asyncio.run(b.turn((POISON, Text("a"))))
    asyncio.run(b.turn((GOOD, Text("b")), 2))
    first, second = b.of(Prompted)
    assert [w.entries for w in b.of(Withheld)] == [(second.seq,), (first.seq,)]


def test_without_a_picture_the_failure_is_the_end() -> None:
    class Never(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            self.requests.append(request)
            raise ModelFailure("bad_content", "no pdf here", status=400)

    model = Never()
    ended = Bench(model).run()
    assert (ended.reason, ended.status, len(model.requests)) == ("api_error", 400, 1)


def test_a_request_too_large_makes_room_and_then_gives_up_pictures() -> None:
    class Small(Squeamish):
        kind = "prompt_too_long"
        status = 413

    b = Bench(Small("old " * 3_000, reply(call("look")), "fine"), LOOK)
    b.run("before")
    assert b.run().reason == "end_turn"
    order = [type(e) for e in b.events if isinstance(e, Compacted | Withheld)]
    assert order == [Compacted, Withheld], "the result was too new to be left out with the rest"


def test_a_prompt_too_long_is_no_matter_of_pictures() -> None:
    class Long(Squeamish):
        kind = "prompt_too_long"

    b = Bench(Long("old " * 3_000, "fine"))
    b.run("before")
    assert asyncio.run(b.turn((Text("what is this?"), POISON))).reason == "prompt_too_long"
    assert len(b.of(Compacted)) == 1
    assert not b.of(Withheld)


@pytest.mark.parametrize("where", ["prompt", "steering", "result"])
def test_what_no_provider_takes_is_never_recorded(where: str) -> None:
    broken = Image("image/bmp", "QUJD")

    async def picture(args: dict[str, Any], desk: Desk) -> Done:
        return Done((broken,) if where == "result" else (GOOD,))

    b = bench(reply(call("look")), "ok", tools=[BenchTool("look", picture)])
    if where == "steering":
        b.inbox.put((broken,))
    prompt = (Text("x"), broken if where == "prompt" else GOOD)
    assert asyncio.run(b.turn(prompt)).reason == "end_turn"
    recorded = repr([e for e in b.log.entries if isinstance(e, Prompted | CallEnded)])
    assert "image/bmp is not one of" in recorded
    assert "media_type='image/bmp'" not in recorded
    assert "QUJD" in recorded, "sound ones stay"


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal", "odd"])
def test_a_call_cut_before_its_first_argument_is_not_a_call_without_any(stop: str) -> None:
    ran: list[Any] = []

    async def wipe(args: dict[str, Any], desk: Desk) -> Done:
        ran.append(args)
        return Done((Text("wiped"),))

    b = bench(reply("Now:", call("wipe"), stop=stop), "ok", tools=[BenchTool("wipe", wipe)])
    assert b.run().reason == "end_turn"
    assert ran == []
    b = bench(reply("Now:", call("wipe")), "ok", tools=[BenchTool("wipe", wipe)])
    b.run()
    assert ran == [{}]


class Costly(ScriptedModel):
    """Every answer is a second attempt: the first had cost something and was lost."""

    async def stream(self, request: Request, deltas: Any) -> Any:
        await deltas(Counted(Usage(input=1_000, output=7)))
        await deltas(Discarded("lost on the way"))
        return await super().stream(request, deltas)


def test_a_lost_attempt_is_paid_for() -> None:
    def price(model: str, usage: Usage) -> float:
        return usage.input / 1000

    b = Bench(Costly("fine"), price=price, account=Account(Budget(dollars=1.0)))
    ended = b.run()
    assert ended.usage == Usage(input=1_010, output=12)
    assert ended.steps[0].usage == Usage(input=10, output=5), "the step is the answer that came"
    assert ended.lost == {"scripted": Usage(input=1_000, output=7)}
    assert not any(isinstance(event, Counted) for event in b.events)


def test_an_answer_that_is_cancelled_is_paid_for() -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            await deltas(Counted(Usage(input=1_000)))
            await deltas(TextDelta(0, "half"))
            begun.set()
            await asyncio.get_running_loop().create_future()

    async def main() -> None:
        task = asyncio.create_task(b.turn((Text("x"),)))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    begun = asyncio.Event()
    b = Bench(Endless())
    asyncio.run(main())
    assert b.of(TurnEnded)[0].usage == Usage(input=1_000)
