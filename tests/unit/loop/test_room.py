"""Room is made when the window fills, and once more when a prompt was too long."""

from __future__ import annotations

from detent.testing.script import call, fault, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import ModelFailure
from detent.types.events import Compacted
from detent.types.messages import Reply, Request
from kitbench import READS, Bench, BenchTool, check_valid


async def _echo(args: dict[str, object], desk: object) -> str:
    return "x" * 400


ECHO = BenchTool("echo", _echo, effects=READS)


class TooLongOnce(ScriptedModel):
    """Refuses the n-th request as too long."""

    refuse = 2

    async def stream(self, request: Request, deltas: object) -> Reply:  # type: ignore[override]
        if len(self.requests) + 1 == self.refuse:
            self.requests.append(request)
            raise ModelFailure("prompt_too_long", "prompt is too long", status=400)
        return await super().stream(request, deltas)  # type: ignore[arg-type]


def test_the_window_is_relieved_at_eighty_percent() -> None:
    steps = [reply(call("echo", n=i), input=100 * i, output=1) for i in range(1, 10)]
    model = ScriptedModel(*steps, reply("done", input=10, output=1), window=1_000)
    b = Bench(model, ECHO)
    b.run()
    compactions = b.of(Compacted)
    assert compactions
    assert all(c.trigger == "auto" for c in compactions)
    assert compactions[0].before_tokens > 800
    for request in model.requests:
        check_valid(request.messages)
    sizes = [len(request.messages) for request in model.requests]
    assert min(sizes[-3:]) < max(sizes), "the request after it is shorter"


def test_a_small_conversation_is_left_alone() -> None:
    b = Bench(ScriptedModel(reply("hi", input=10, output=5), window=1_000))
    b.run()
    assert not b.of(Compacted)


def test_a_prompt_that_is_too_long_is_shortened_and_sent_again() -> None:
    model = TooLongOnce("first answer", "", "second answer")
    b = Bench(model)
    assert b.run("first question").reason == "end_turn"
    ended = b.run("second question")
    assert ended.reason == "end_turn"
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    last = model.requests[-1]
    check_valid(last.messages)
    assert "second question" in str(last.messages), "the current request survives word for word"


def test_it_is_tried_once_only() -> None:
    class Always(ScriptedModel):
        async def stream(self, request: Request, deltas: object) -> Reply:  # type: ignore[override]
            self.requests.append(request)
            raise ModelFailure("prompt_too_long", "prompt is too long", status=400)

    model = Always("unused")
    b = Bench(model)
    assert b.run().reason == "prompt_too_long"
    assert len(model.requests) <= 2


def test_nothing_to_leave_out_is_said_as_it_is() -> None:
    b = Bench(ScriptedModel(fault(400, body="prompt is too long")))
    assert b.run().reason in ("api_error", "prompt_too_long")
    assert not b.of(Compacted)
