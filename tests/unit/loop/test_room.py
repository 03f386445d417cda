"""Room is made when the window fills, and once more when a prompt was too long."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from detent.context.conversation import Conversation
from detent.context.pressure import room_of
from detent.context.shaping import Shaping
from detent.sdk.summary import summarise
from detent.testing.script import call, fault, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import ModelFailure
from detent.types.events import Compacted, Notice
from detent.types.messages import Reply, Request
from kitbench import READS, Bench, BenchTool, check_valid


async def _echo(args: dict[str, object], desk: object) -> str:
    return "a line of output\n" * 100


async def _short(args: dict[str, object], desk: object) -> str:
    return "x"


ECHO = BenchTool("echo", _echo, effects=READS)
LOCAL = partial(Shaping, summariser="local")


OLD = [reply(f"answer {number} " * 400, output=1) for number in range(3)]
"""Long enough that it is worth to sum them up."""


class TooLongOnce(ScriptedModel):
    """Refuses the n-th request as too long."""

    refuse = 2

    async def stream(self, request: Request, deltas: object) -> Reply:  # type: ignore[override]
        if len(self.requests) + 1 == self.refuse:
            self.requests.append(request)
            raise ModelFailure("prompt_too_long", "prompt is too long", status=400)
        return await super().stream(request, deltas)  # type: ignore[arg-type]


def test_the_window_is_relieved_at_eighty_percent() -> None:
    steps = [reply(call("echo", n=i), input=4_000 * i, output=1) for i in range(1, 10)]
    model = ScriptedModel(*steps, reply("done", input=10, output=1), window=40_000)
    b = Bench(model, ECHO, shaping=LOCAL())
    b.run()
    compactions = b.of(Compacted)
    assert compactions
    assert all(c.trigger == "auto" for c in compactions)
    assert compactions[0].before_tokens > 800
    for request in model.requests:
        check_valid(request.messages)
    sizes = [len(request.messages) for request in model.requests]
    assert min(sizes[-3:]) < max(sizes), "the request after it is shorter"


@pytest.mark.parametrize(("used", "relieved"), [(31_900, False), (32_100, True)])
def test_the_limit_is_eighty_percent(used: int, relieved: bool) -> None:
    model = ScriptedModel(
        *OLD,
        reply(call("echo"), input=used, output=0),
        "done",
        window=40_000,
        max_output=8_000,
    )
    b = Bench(model, BenchTool("echo", _short, effects=READS), shaping=LOCAL())
    for _ in (*OLD, "the last"):
        b.run()
    assert bool(b.of(Compacted)) is relieved


def test_a_small_window_keeps_room_for_the_answer() -> None:
    usual = Shaping()
    assert room_of(usual, 10_000) == 6_000
    assert room_of(usual, 200_000) == 160_000
    assert room_of(usual, 128_000, output=32_000) == 96_000, "the answer's room is kept free"
    assert room_of(usual, 40_000, output=32_000) == 20_000, "but a prompt needs some, too"


@pytest.mark.parametrize(("threshold", "times"), [(250, 1), (None, 0), (10_000, 0)])
def test_input_tokens_add_up_since_the_last_compaction(threshold: int | None, times: int) -> None:
    steps = [reply(call("echo", n=i), input=80, output=1) for i in range(4)]
    b = Bench(ScriptedModel(*steps, reply("done")), ECHO, shaping=LOCAL(cumulative=threshold))
    b.run()
    assert len(b.of(Compacted)) == times


def test_the_compaction_is_in_the_summary_of_its_turn() -> None:
    steps = [reply(call("echo", n=i), input=80, output=1) for i in range(4)]
    b = Bench(ScriptedModel(*steps, reply("done")), ECHO, shaping=LOCAL(cumulative=250))
    b.run()
    assert summarise(b.events).auto_compaction == b.of(Compacted)[-1]


def test_a_small_conversation_is_left_alone() -> None:
    b = Bench(ScriptedModel(reply("hi", input=10, output=5), window=1_000))
    b.run()
    assert not b.of(Compacted)


def test_a_prompt_that_is_too_long_is_shortened_and_sent_again() -> None:
    model = TooLongOnce(*OLD, "", "second answer")
    model.refuse = len(OLD) + 1
    b = Bench(model)
    for _ in OLD:
        assert b.run("first question").reason == "end_turn"
    ended = b.run("second question")
    assert ended.reason == "end_turn"
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    last = model.requests[-1]
    check_valid(last.messages)
    assert "second question" in str(last.messages), "the current request survives word for word"


def test_room_after_the_fact_can_be_switched_off() -> None:
    model = TooLongOnce("first answer", "", "second answer")
    b = Bench(model, shaping=LOCAL(reactive=False))
    b.run("first question")
    assert b.run("second question").reason == "prompt_too_long"
    assert not b.of(Compacted)


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


def exactly(monkeypatch: pytest.MonkeyPatch, used: int, **shaping: Any) -> Bench:
    """A session in a window of 40,000 tokens of which so many are in use, to the token."""
    monkeypatch.setattr(Conversation, "tokens", lambda self: used)
    model = ScriptedModel(*OLD, "done", window=40_000, max_output=8_000)
    return Bench(model, shaping=LOCAL(**shaping))


@pytest.mark.parametrize(("used", "made"), [(32_000, 0), (32_001, 1)])
def test_room_is_made_above_80_percent(
    monkeypatch: pytest.MonkeyPatch, used: int, made: int
) -> None:
    b = exactly(monkeypatch, used)
    for _ in (*OLD, "the last"):
        b.run()
    assert bool(b.of(Compacted)) is bool(made)


@pytest.mark.parametrize(("used", "ends"), [(39_200, "end_turn"), (39_201, "blocking_limit")])
def test_at_98_percent_a_request_is_still_sent_above_it_is_not(
    monkeypatch: pytest.MonkeyPatch, used: int, ends: str
) -> None:
    assert exactly(monkeypatch, used, is_automatic=False).run().reason == ends


@pytest.mark.parametrize(
    ("used", "state"),
    [(31_999, []), (32_000, ["WARNING"]), (37_999, ["WARNING"]), (38_000, ["CRITICAL"])],
)
def test_the_states_begin_at_80_and_95_percent(
    monkeypatch: pytest.MonkeyPatch, used: int, state: list[str]
) -> None:
    b = exactly(monkeypatch, used, is_automatic=False)
    b.run()
    told = [event.text.split()[1] for event in b.of(Notice) if event.text.startswith("context ")]
    assert told == [f"{one}:" for one in state]


@pytest.mark.parametrize(("threshold", "times"), [(240, 0), (239, 1)])
def test_input_at_the_threshold_is_not_yet_too_much(threshold: int, times: int) -> None:
    """Three requests of 80 tokens before the fourth."""
    steps = [reply(call("echo", n=i), input=80, output=1) for i in range(3)]
    b = Bench(ScriptedModel(*steps, reply("done")), ECHO, shaping=LOCAL(cumulative=threshold))
    b.run()
    assert len(b.of(Compacted)) == times
