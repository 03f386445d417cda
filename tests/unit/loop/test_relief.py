"""The pipeline in the loop: which stages run, when, in which order, and what they cost."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from detent.context.project import effective
from detent.context.shaping import ORDER, Shaping, Stage
from detent.testing.script import call, reply, say
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Result, Text
from detent.types.events import Compacted, Entry, Notice, Replied, Trimmed
from detent.types.messages import Message, User
from kitbench import READS, Bench, BenchTool, check_valid, results

LOCAL = partial(Shaping, summariser="local")
LINES = "a line of what a command says\n"


async def _look(args: dict[str, Any], desk: Any) -> str:
    return f"look {args['n']}\n" + LINES * args.get("lines", 100)


LOOK = BenchTool("look", _look, effects=READS)


def looks(count: int, **fields: Any) -> list[Any]:
    return [reply(call("look", n=n, **fields), input=0, output=0) for n in range(count)]


def bench(
    *replies: Any, window: int = 20_000, shaping: Shaping | None = None, **more: Any
) -> Bench:
    model = ScriptedModel(
        *replies, reply("done", input=0, output=0), window=window, max_output=1_000
    )
    return Bench(model, LOOK, shaping=shaping or LOCAL(), **more)


def only(*stages: Stage, **more: Any) -> Shaping:
    return LOCAL(order=stages, **more)


def requests(b: Bench) -> list[Any]:
    return b.model.requests  # type: ignore[attr-defined, no-any-return]


def test_a_stage_runs_when_the_window_fills_and_says_what_it_did() -> None:
    b = bench(*looks(30), shaping=only("snip_messages"))
    assert b.run().reason == "end_turn"
    trimmed = b.of(Trimmed)
    assert trimmed and {entry.stage for entry in trimmed} == {"snip_messages"}
    for entry in trimmed:
        assert entry.before_tokens > 16_000 * 0.8 > entry.after_tokens
    for request in requests(b):
        check_valid(request.messages)
    assert "[snipped: " in str(requests(b)[-1].messages)


def test_it_shortens_far_enough_that_it_rarely_has_to() -> None:
    b = bench(*looks(60), shaping=only("snip_messages"))
    b.run()
    steps = [i for i, e in enumerate(b.log.entries) if isinstance(e, Trimmed)]
    assert 2 <= len(steps) <= 8, "not in every step"
    first = b.of(Trimmed)[0]
    assert first.after_tokens <= 16_000 * 0.6 + 800


@pytest.mark.parametrize(("used", "cut"), [(17_000, False), (19_300, True)])
def test_a_little_is_not_worth_a_broken_cache_until_the_window_is_nearly_full(
    used: int, cut: bool
) -> None:
    small = [reply(call("look", n=n, lines=1), input=0, output=0) for n in range(2)]
    full = reply(call("look", n=3, lines=1), input=used, output=0)
    b = bench(*looks(1, lines=160), *small, full, shaping=only("micro"))
    b.run()
    assert bool(b.of(Trimmed)) is cut


def test_while_there_is_room_nothing_is_touched() -> None:
    b = bench(*looks(5), window=200_000)
    b.run()
    assert not b.of(Trimmed, Compacted)


def test_a_summary_is_made_only_where_the_stages_do_not_suffice() -> None:
    free = bench(*looks(30))
    free.run()
    assert free.of(Trimmed) and not free.of(Compacted)
    nothing = bench(*looks(30), shaping=only("auto"))
    nothing.run()
    assert nothing.of(Compacted) and not nothing.of(Trimmed)


def test_no_further_stage_runs_when_one_was_enough() -> None:
    """Also where the check is made right before a request, which may pay for a summary."""
    long = bench(*looks(30), window=200_000)
    long.run()
    b = bench(entries=long.log.entries)
    b.run("go on")
    assert [entry.stage for entry in b.of(Trimmed)] == ["snip_messages"]
    assert not b.of(Compacted)


def test_the_order_is_the_users() -> None:
    b = bench(*looks(30), shaping=only("auto", "snip_messages", "micro"))
    b.run()
    assert isinstance(b.of(Trimmed, Compacted)[0], Compacted)
    other = bench(*looks(30, lines=200), shaping=only("micro", "snip_messages", "auto"))
    other.run()
    assert other.of(Trimmed, Compacted)[0].stage == "micro"


@pytest.mark.parametrize("stage", [stage for stage in ORDER if stage != "auto"])
def test_without_any_one_stage_the_others_go_on(stage: Stage) -> None:
    order = tuple(s for s in ORDER if s != stage)
    b = bench(*looks(40), shaping=LOCAL(order=order))
    assert b.run().reason == "end_turn"
    assert stage not in {entry.stage for entry in b.of(Trimmed)}
    for request in requests(b):
        check_valid(request.messages)


def test_switched_off_nothing_that_was_sent_changes_and_the_end_is_said() -> None:
    b = bench(*looks(40), shaping=LOCAL(is_automatic=False))
    ended = b.run()
    assert not b.of(Trimmed, Compacted)
    assert ended.reason == "blocking_limit"
    for way in ("Prompt too long", "/compact", "new session", "larger window"):
        assert way in ended.error


def test_many_results_of_one_answer_share_a_budget() -> None:
    blocks = [call("look", n=n, lines=600) for n in range(8)]
    b = bench(reply(*blocks, input=0, output=0), window=100_000)
    b.run()
    (trimmed,) = b.of(Trimmed)
    assert trimmed.stage == "result_budget" and len(trimmed.trims) == 8
    sent = results(requests(b)[-1].messages)
    assert sum(len(text) for _, text, _ in sent) <= 100_000
    assert trimmed.after_tokens < trimmed.before_tokens
    outputs = b.kit.desk.shop.outputs
    for _, text, _ in sent:
        path = text.partition("the whole is in ")[2].partition(" …]")[0]
        assert outputs.text(path).count(LINES) == 600, "the whole is in its file"  # type: ignore[attr-defined]


def test_the_budget_of_results_can_be_switched_off() -> None:
    blocks = [call("look", n=n, lines=600) for n in range(8)]
    b = bench(reply(*blocks, input=0, output=0), window=200_000, shaping=only("auto"))
    b.run()
    assert not b.of(Trimmed)


def texts(messages: list[Message]) -> list[str]:
    parts = [
        part for m in messages if isinstance(m, User) for block in m.content
        for part in (block.content if isinstance(block, Result) else (block,))
    ]  # fmt: skip
    return [part.text for part in parts if isinstance(part, Text)]


def test_when_the_window_is_nearly_full_recent_results_are_cut_but_the_last() -> None:
    big = [
        reply(call("look", n=0, lines=160), input=0, output=0),
        reply(call("look", n=1, lines=160), input=9_700, output=0),
    ]
    b = bench(*big, window=10_000, shaping=only("micro"))
    b.run()
    (trimmed,) = b.of(Trimmed)
    assert trimmed.stage == "micro"
    sent = texts(requests(b)[-1].messages)
    assert "the middle is left out" in sent[1] and sent[2].count(LINES) == 160


def test_the_state_is_told_when_it_changes() -> None:
    b = bench(
        *[reply(call("look", n=n, lines=1), input=used, output=0) for n, used in
          enumerate((10_000, 16_500, 16_600, 19_300))],
        shaping=LOCAL(is_automatic=False),
    )  # fmt: skip
    b.run()
    told = [event.text for event in b.of(Notice) if event.text.startswith("context ")]
    assert [text.partition(":")[0] for text in told] == ["context WARNING", "context CRITICAL"]
    assert "% of the window is in use" in told[0]


def test_running_it_again_adds_nothing() -> None:
    """One check at three points: it must not matter how often it is made."""
    import asyncio

    from detent.loop.limits import Tally
    from detent.loop.room import make_room

    b = bench(*looks(30))
    b.run()
    length = len(b.log.entries)
    tally = Tally(1, 0.0, 1_000)

    async def again() -> None:
        for _ in range(3):
            await make_room(b.kit, tally)

    asyncio.run(again())
    assert length == len(b.log.entries)


def test_a_long_turn_may_be_summed_up_again_and_again_but_not_in_circles() -> None:
    b = bench(*looks(120), shaping=only("auto"))
    assert b.run().reason == "end_turn"
    compactions = b.of(Compacted)
    assert len(compactions) > 2, "there were whole steps between them"
    circles = bench(*[reply(call("look", n=n), input=19_000, output=0) for n in range(12)],
                    shaping=only("auto"))  # fmt: skip
    circles.run()
    places = [_steps_before(circles.log.entries, c) for c in circles.of(Compacted)]
    for first, third in zip(places, places[2:], strict=False):
        assert third - first >= 5, places


def _steps_before(entries: list[Entry], compacted: Compacted) -> int:
    return sum(isinstance(e, Replied) and e.seq < compacted.seq for e in entries)


def test_where_nothing_is_old_nothing_is_said_of_it() -> None:
    b = bench(reply("hello", input=0, output=0), shaping=only("auto"))
    b.conversation.base = 17_000
    assert b.run().reason == "end_turn"
    assert [e.text for e in b.of(Notice)] == ["context WARNING: 85% of the window is in use"]


def test_what_was_in_vain_is_not_tried_again_at_once() -> None:
    full = [reply(call("look", n=n, lines=1), input=17_000, output=0) for n in range(6)]
    b = bench(*full, shaping=only("auto"))
    b.run()
    vain = [event for event in b.of(Notice) if "could not be made shorter" in event.text]
    assert not b.of(Compacted) and len(vain) == 1


def test_when_the_window_is_nearly_full_fewer_messages_stay() -> None:
    b = bench(*looks(1, lines=400), *looks(1, lines=400), shaping=only("auto"))
    b.conversation.base = 14_000
    assert b.run().reason == "end_turn", "with the usual four it could not be sent"
    (compacted,) = b.of(Compacted)
    assert sum(isinstance(e, Replied) for e in effective(b.log.entries[: compacted.seq])) == 1


def test_what_was_in_vain_is_tried_again_when_the_window_is_nearly_full() -> None:
    fills = ((1, 100), (400, 200), (400, 11_000), (1, 19_500))
    full = [
        reply(call("look", n=n, lines=lines), input=fill, output=0)
        for n, (lines, fill) in enumerate(fills)
    ]
    b = bench(*full, shaping=only("auto"))
    assert b.run().reason == "end_turn"
    assert [e for e in b.of(Notice) if "could not be made shorter" in e.text]
    assert len(b.of(Compacted)) == 1


def test_above_the_limit_of_sending_room_is_made_whatever_the_threshold() -> None:
    full = [*looks(12), reply(call("look", n=12, lines=1), input=19_700, output=0)]
    b = bench(*full, shaping=only("snip_messages", share=0.995))
    assert b.run().reason == "end_turn"
    assert [entry.stage for entry in b.of(Trimmed)] == ["snip_messages"]


def test_no_summary_is_asked_for_after_the_last_answer() -> None:
    """Nobody may ever read it: the next request, if there is one, will need it."""
    model = ScriptedModel(
        *[reply(say(f"long answer {n} " * 300), input=0, output=0) for n in range(3)],
        reply("the end", input=19_000, output=0),
        reply("a summary", input=0, output=0),
        reply("the end", input=0, output=0),
        window=20_000, max_output=1_000,
    )  # fmt: skip
    b = Bench(model, LOOK, shaping=Shaping(order=("auto",)))
    for _ in range(4):
        b.run()
    assert len(model.requests) == 4 and not b.of(Compacted)
    b.run("go on")
    assert b.of(Compacted), "made when a request needs it"


def test_at_the_end_of_a_turn_what_costs_nothing_is_done() -> None:
    steps = looks(14)
    b = bench(*steps, shaping=only("snip_messages", "micro"))
    b.model._replies = (*steps, reply("done", input=17_000, output=0))  # type: ignore[attr-defined]
    b.run()
    kinds = [type(entry).__name__ for entry in b.log.entries]
    assert kinds[-2:] == ["Trimmed", "TurnEnded"]


def test_an_answer_has_no_more_room_than_the_window_leaves() -> None:
    model = ScriptedModel(
        *[reply(call("look", n=n, lines=1), input=used, output=0) for n, used in
          enumerate((1_000, 30_000, 36_000))],
        reply("done", input=0, output=0),
        window=40_000, max_output=32_000,
    )  # fmt: skip
    b = Bench(model, LOOK, shaping=LOCAL(share=0.97))
    b.run()
    limits = [request.max_output for request in model.requests]
    assert limits[:2] == [32_000, 32_000]
    assert limits[2] == 8_000, "halved until it fits"
    assert limits[3] == 4_000, "and never less than the reserve"


def test_more_room_for_a_cut_answer_ends_at_the_window() -> None:
    cut = reply("half", stop="max_tokens", input=0, output=0)
    from detent.loop.limits import Limits

    model = ScriptedModel(cut, cut, cut, cut, "end", "end", window=20_000, max_output=64_000)
    b = Bench(model, limits=Limits(output=8_000), shaping=LOCAL())
    b.run()
    limits = [request.max_output for request in model.requests]
    assert limits[0] == 8_000 and max(limits) <= 20_000


def test_a_stage_that_is_switched_off_is_not_loaded() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from test_relief import bench, looks, only;"
        "b = bench(*looks(30), shaping=only(*sys.argv[2:])); b.run();"
        "print(*sorted(n.rpartition('.')[2] for n in sys.modules "
        "if n.startswith('detent.context.compact.')))"
    )

    def loaded(*stages: str) -> set[str]:
        import os

        here = os.path.dirname(__file__)
        ran = subprocess.run(
            [sys.executable, "-c", code, here, *stages],
            env={"PYTHONPATH": os.path.join(here, "..", ".."), "PATH": os.environ["PATH"]},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return set(ran.stdout.split()) & set(ORDER)

    assert loaded("snip_messages") == {"snip_messages"}
    assert loaded("micro", "collapse") == {"micro", "collapse"}
    assert loaded("result_budget", "snip_window") == {"result_budget", "snip_window"}
