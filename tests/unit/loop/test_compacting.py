"""A compaction: by the model or without it, bounded, honest, and never at the cost of the turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from detent.context.conversation import Conversation
from detent.context.project import project
from detent.context.shaping import Shaping
from detent.gate.hooks import HookAnswer, HookSet
from detent.loop.compacting import compact
from detent.loop.limits import Limits, Tally
from detent.testing.script import call, fault, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Text
from detent.types.deltas import Counted
from detent.types.errors import ModelFailure
from detent.types.events import (
    CallEnded,
    Compacted,
    Compacting,
    HooksRan,
    Learned,
    Lost,
    Notice,
    Prompted,
    Reminded,
    Trimmed,
    TurnEnded,
)
from detent.types.messages import Assistant, Reply, Request
from detent.types.usage import Usage
from kitbench import READS, Bench, BenchTool, check_valid

GOOD = {
    "goal": "mend the parser",
    "constraints": ["never touch the lexer"],
    "decisions": ["a hand-written parser, for the messages"],
    "failed_approaches": ["a grammar file: it was too slow"],
    "open_todos": ["the tests"],
    "files_touched": ["parser.py: the loop"],
    "last_request": "something else entirely",
    "current_state": "half done",
    "next_step": "run the tests",
}
AUTO = Shaping(order=("auto",))
FILLS = (6_000, 9_000, 12_000, 15_000, 33_000)


async def _echo(args: dict[str, Any], desk: object) -> str:
    return "x" * 4_000


ECHO = BenchTool("echo", _echo, effects=READS)


def crowded(*said: Any, shaping: Shaping = AUTO, **options: Any) -> Bench:
    """Five calls fill the window; then a summary is asked for, for which `said` answers."""
    steps = [reply(call("echo", n=n), input=FILLS[n], output=1) for n in range(5)]
    model = ScriptedModel(
        *steps, *said, reply("done", input=10, output=1), window=40_000, max_output=8_000
    )
    return Bench(model, ECHO, shaping=shaping, **options)


def asked(b: Bench) -> list[Request]:
    """The requests for a summary."""
    assert isinstance(b.model, ScriptedModel)
    return [r for r in b.model.requests if "about to be shortened" in str(r.messages[-1])]


def answer(**fields: Any) -> str:
    return json.dumps({**GOOD, **fields})


def test_the_model_writes_the_summary_and_the_turn_goes_on() -> None:
    b = crowded(reply(answer(), input=1_000, output=100))
    assert b.run("mend the parser, and be quick").reason == "end_turn"
    (compacted,) = b.of(Compacted)
    assert (compacted.by, compacted.model, compacted.failures) == ("model", "scripted", 0)
    assert compacted.usage == Usage(input=1_000, output=100)
    for expected in ("a grammar file: it was too slow", "- the tests", "run the tests"):
        assert expected in compacted.summary
    assert "something else entirely" not in compacted.summary, "nobody's version of the request"
    last = b.model.requests[-1]  # type: ignore[attr-defined]
    check_valid(last.messages)
    assert "mend the parser, and be quick" in str(last.messages[0])


def test_the_request_for_it_begins_as_the_last_one() -> None:
    b = crowded(answer())
    b.run()
    (request,) = asked(b)
    model: Any = b.model
    before = model.requests[model.requests.index(request) - 1]
    assert (request.system, request.tools) == (before.system, before.tools)
    assert request.messages[: len(before.messages)] == before.messages
    assert request.max_output <= 8_000
    check_valid(request.messages)


def test_what_is_recorded_is_true() -> None:
    b = crowded(answer())
    b.run()
    (compacted,) = b.of(Compacted)
    at = b.log.entries.index(compacted)
    before, after = b.log.entries[:at], b.log.entries[: at + 1]
    kept = project(after)
    assert compacted.replaced == len(project(before)) - len(kept) == 6, "three answers, results"
    assert compacted.before_tokens > compacted.after_tokens > 0
    assert (compacted.depth, compacted.lineage) == (1, ())
    assert compacted.keeps == (b.of(Prompted)[0].seq,)
    assert sum(isinstance(message, Assistant) for message in kept) == 2, "four messages stay"


def test_signals_say_that_it_takes_a_while() -> None:
    b = crowded(answer())
    b.run()
    assert [signal.is_over for signal in b.of(Compacting)] == [False, True]
    b = crowded(shaping=replace(AUTO, summariser="local"))
    b.run()
    assert b.of(Compacted)[0].by == "local" and not b.of(Compacting) and not asked(b)


@pytest.mark.parametrize(
    "bad",
    [
        "no object at all",
        '{"goal": ""}',
        reply(call("echo", n=1)),
        reply("{}", call("echo", n=1)),
        '["goal"]',
    ],
    ids=["prose", "empty", "a call", "a call beside it", "a list"],
)
def test_three_bad_answers_and_it_is_made_without_the_model(bad: Any) -> None:
    b = crowded(bad, bad, bad)
    assert b.run().reason == "end_turn"
    assert len(asked(b)) == 3
    (compacted,) = b.of(Compacted)
    assert (compacted.by, compacted.failures) == ("local", 3)
    assert [lost.usage.input for lost in b.of(Lost)] == [10, 10, 10], "each try is paid for"
    assert compacted.usage == Usage()
    assert len(b.of(CallEnded)) == 5, "a call in it is never run"
    assert any("gave no summary" in notice.text for notice in b.of(Notice))


def test_a_second_try_may_be_better() -> None:
    b = crowded("hm", f"Here it is:\n```json\n{answer()}\n```\nGood luck!")
    b.run()
    (compacted,) = b.of(Compacted)
    assert (compacted.by, compacted.failures, compacted.usage.input) == ("model", 1, 10)
    assert [(lost.what, lost.usage.input) for lost in b.of(Lost)] == [("compaction", 10)]


def test_a_model_that_fails_is_not_asked_again_and_the_turn_goes_on() -> None:
    b = crowded(fault(400, body="no"))
    assert b.run().reason == "end_turn"
    (compacted,) = b.of(Compacted)
    assert (len(asked(b)), compacted.by, compacted.failures) == (1, "local", 1)


def test_after_three_failures_in_a_row_the_session_does_without() -> None:
    b = crowded("bad", "bad", "bad")
    b.run()
    again = crowded(entries=b.log.entries)
    again.run("and on")
    assert not asked(again), "also after a resume"
    assert again.of(Compacted)[0].failures == 0
    other = Bench(ScriptedModel(answer()), ECHO, entries=again.log.entries, shaping=AUTO)
    asyncio.run(compact(other.kit, Tally(1, 0.0), "manual"))
    assert len(asked(other)) == 1, "who asks for it by hand gets another try"


def test_where_the_window_has_no_room_for_asking_nobody_is_asked() -> None:
    steps = [reply(call("echo", n=n), input=4_000 * n, output=1) for n in range(1, 5)]
    full = reply(call("echo", n=9), input=38_500, output=1)
    model = ScriptedModel(*steps, full, reply("done", input=10), window=40_000, max_output=8_000)
    b = Bench(model, ECHO, shaping=AUTO)
    assert b.run().reason == "end_turn"
    assert not asked(b) and b.of(Compacted)[0].by == "local"


def test_a_spent_budget_pays_for_no_summary() -> None:
    b = crowded(limits=Limits(steps=5))
    assert b.run().reason == "max_turns"
    assert not asked(b)


def test_what_it_costs_is_part_of_the_turn() -> None:
    b = crowded(reply(answer(), input=1_000, output=100))
    ended = b.run()
    assert ended.lost == {"scripted": Usage(input=1_000, output=100)}
    assert ended.usage.input == sum(FILLS) + 1_000 + 10


def test_cancelling_works_while_a_summary_is_asked_for() -> None:
    begun = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            if "about to be shortened" in str(request.messages[-1]):
                await deltas(Counted(Usage(input=500)))
                begun.set()
                await asyncio.get_running_loop().create_future()
            return await super().stream(request, deltas)

    async def main() -> None:
        task = asyncio.create_task(b.turn("go"))
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    steps = [reply(call("echo", n=n), input=FILLS[n], output=1) for n in range(5)]
    b = Bench(Slow(*steps, "done", window=40_000, max_output=8_000), ECHO, shaping=AUTO)
    asyncio.run(main())
    assert b.of(TurnEnded)[0].reason == "user_cancelled"
    assert [(e.what, e.usage) for e in b.of(Lost)] == [("compaction", Usage(input=500))]
    assert b.of(TurnEnded)[0].lost == {"scripted": Usage(input=500)}
    assert not b.of(Compacted) and not b.conversation.is_compacting


def test_what_hardly_shrinks_is_left_alone_and_that_is_said() -> None:
    b = crowded(shaping=replace(AUTO, keep=8))
    model: Any = b.model
    b.run("what must be done " * 500)
    assert not b.of(Compacted)
    assert any("could not be made shorter" in notice.text for notice in b.of(Notice))
    assert len(model.requests) == 6, "and no model was asked for what cannot help"


ENDLESS = answer(current_state="y" * 3_000, open_todos=["z" * 500 + str(n) for n in range(40)])


def test_a_summary_that_is_as_long_as_what_it_replaces_gives_way_to_a_short_one() -> None:
    b = crowded(ENDLESS)
    ended = b.run()
    (compacted,) = b.of(Compacted)
    assert (compacted.by, compacted.failures) == ("local", 1)
    assert "zzz" not in compacted.summary and "Tools used: echo" in compacted.summary
    assert compacted.usage.input == 10 == ended.lost["scripted"].input, "it was paid for"


def test_where_no_summary_is_short_enough_there_is_none() -> None:
    """The user's own words are most of it, and stay."""
    words = "\n".join(
        f"The house number {n} is blue and has a garden behind it." for n in range(60)
    )
    b = Bench(ScriptedModel("so", "so", "so", ENDLESS, window=40_000), shaping=AUTO)
    for text in (words, "and?", "go on"):
        b.run(text)
    tally = Tally(4, 0.0)
    assert not asyncio.run(compact(b.kit, tally, "auto")) and not b.of(Compacted)
    assert [(entry.what, entry.usage.input) for entry in b.of(Lost)] == [("compaction", 10)]
    assert any("would leave" in notice.text for notice in b.of(Notice))
    assert tally.compactions == 0


def test_a_hook_cannot_begin_another_inside() -> None:
    inside: list[bool] = []

    async def meddle(event: Any) -> None:
        inside.append(await compact(b.kit, Tally(1, 0.0), "manual"))

    b = crowded(answer(), hooks=HookSet(before_compact=(meddle,)))
    b.run()
    assert inside == [False] and len(b.of(Compacted)) == 1


def test_what_the_user_wants_of_it_reaches_the_model_the_hooks_and_the_log() -> None:
    seen: list[Any] = []
    b = crowded(
        hooks=HookSet(before_compact=(seen.append,)), shaping=replace(AUTO, tokens=0, share=0.0)
    )  # type: ignore[arg-type]
    b.run()
    assert not b.of(Compacted)
    b.model._replies = (*b.model._replies, answer())  # type: ignore[attr-defined]
    assert asyncio.run(compact(b.kit, Tally(1, 0.0), "manual", "mind the lexer"))
    (compacted,) = b.of(Compacted)
    assert (compacted.trigger, compacted.instructions) == ("manual", "mind the lexer")
    assert "mind the lexer" in str(asked(b)[0].messages[-1])
    assert (seen[0].trigger, seen[0].instructions) == ("manual", "mind the lexer")


def test_a_receipt_names_the_hooks_that_ran() -> None:
    def first(event: Any) -> None: ...

    def second(event: Any) -> HookAnswer:
        return HookAnswer(context="noted")

    def third(event: Any) -> None:
        raise RuntimeError("no")

    b = crowded(answer(), hooks=HookSet(before_compact=(first, second, third)))
    b.run()
    (receipt,) = b.of(HooksRan)
    assert receipt.hooks == ("first", "second", "third (failed)")
    assert (receipt.event, receipt.said) == ("PreCompact", "noted")


def test_reminders_come_back_after_it() -> None:
    class Remembers:
        async def due(self, moment: str) -> list[Reminded]:
            if "memory" in str(project(b.log.entries)):
                return []
            return [Reminded(text="memory", source="memory", path="/p/CLAUDE.md")]

    b = crowded(answer(), reminders=Remembers())
    b.run()
    assert len(b.of(Reminded)) == 2
    assert "memory" in str(b.model.requests[-1].messages)  # type: ignore[attr-defined]


def test_what_is_recorded_holds_the_memory_that_is_told_again() -> None:
    class Remembers:
        async def due(self, moment: str) -> list[Reminded]:
            if b.conversation.told:
                return []
            return [Reminded(text="memory " * 900, source="memory", path="/p/CLAUDE.md")]

    b = crowded(answer(), reminders=Remembers())
    after: list[int] = []
    b.on_event = lambda event: after.append(b.conversation.tokens())
    b.run()
    (compacted,) = b.of(Compacted)
    told = b.events.index(b.of(Reminded)[-1])
    assert after[told] == compacted.after_tokens > 1_000


def test_memory_that_comes_right_back_is_no_room() -> None:
    """Nearly all of it is memory: it would be as long as before, so nobody is asked."""

    class Remembers:
        async def due(self, moment: str) -> list[Reminded]:
            if b.conversation.told:
                return []
            return [Reminded(text="word " * 30_000, source="memory", path="/p/CLAUDE.md")]

    b = crowded(reminders=Remembers())
    b.run()
    assert not b.of(Compacted) and not asked(b)
    assert any("could not be made shorter" in notice.text for notice in b.of(Notice))


# After a prompt that was too long


class Narrow(ScriptedModel):
    """Refuses what has more than so many characters, in the words of vLLM."""

    real = 8_192

    async def stream(self, request: Request, deltas: Any) -> Reply:
        tokens = len(str(request.messages)) // 3
        if tokens > self.real:
            self.requests.append(request)
            self._replies = ("", *self._replies)
            text = f"maximum context length is {self.real} tokens; {tokens} were sent"
            failure = ModelFailure("prompt_too_long", text, status=400)
            failure.window, failure.tokens = self.real, tokens
            raise failure
        return await super().stream(request, deltas)


def test_the_window_is_learned_and_the_next_request_fits() -> None:
    steps = [reply(call("echo", n=n), input=0, output=0) for n in range(10)]
    model = Narrow(*steps, reply("done", input=0, output=0), window=1_000_000)
    shaping = Shaping(order=("auto",), summariser="local")
    b = Bench(model, ECHO, shaping=shaping)
    assert b.run("keep at it").reason == "end_turn"
    assert b.conversation.window == 8_192
    compacted = b.of(Compacted)
    assert compacted[0].trigger == "reactive"
    assert [one.window for one in b.of(Learned)] == [8_192], "told once"
    refused = [r for r in model.requests if len(str(r.messages)) // 3 > model.real]
    assert len(refused) == 1, "it is made fit before, from then on"
    assert 0.5 < b.conversation.scale < 0.7, "and so is how the server counts"
    again = Bench(Narrow("fine", window=1_000_000), ECHO, entries=b.log.entries, shaping=shaping)
    assert again.conversation.window == 8_192, "also after a resume"


def test_trims_come_first_and_may_be_enough() -> None:
    silent: Any = {"input": 0, "output": 0}
    turns = [(reply(call("echo", n=n), **silent), reply("so", **silent)) for n in range(8)]
    model = Narrow(*(one for turn in turns for one in turn), window=1_000_000)
    b = Bench(model, ECHO, shaping=Shaping(summariser="local"))
    for number in range(8):
        assert b.run(f"look {number}").reason == "end_turn"
    assert b.of(Trimmed)[0].stage == "snip_window"
    assert not [one for one in b.of(Compacted) if one.trigger == "reactive"]
    assert b.conversation.window == Conversation(b.log.entries).window == 8_192


def test_only_the_answer_was_too_long() -> None:
    class Greedy(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            if request.max_output > 2_000:
                self.requests.append(request)
                self._replies = ("", *self._replies)
                failure = ModelFailure("prompt_too_long", "max_tokens is too large", status=400)
                failure.window, failure.tokens = 4_096, 2_000
                raise failure
            return await super().stream(request, deltas)

    model = Greedy("fine", window=200_000)
    b = Bench(model)
    assert b.run().reason == "end_turn"
    assert not b.of(Compacted) and 1_000 < model.requests[-1].max_output <= 2_096
    assert Conversation(b.log.entries).window == 4_096, "nothing was shortened, and it is kept"


def test_fewer_messages_stay_where_four_do_not_fit() -> None:
    async def flood(args: dict[str, Any], desk: object) -> str:
        return "y" * 18_000

    steps = [reply(call("flood", n=n), input=100, output=1) for n in range(2)]
    model = Narrow(*steps, "done", window=1_000_000)
    tool = BenchTool("flood", flood, effects=READS)
    b = Bench(model, tool, shaping=Shaping(order=("auto",), summariser="local"))
    assert b.run("read it all").reason == "end_turn"
    (compacted,) = b.of(Compacted)
    at = b.log.entries.index(compacted)
    assert not any(isinstance(m, Assistant) for m in project(b.log.entries[: at + 1]))
    assert "read it all" in str(model.requests[-1].messages)


def test_it_is_once_for_each_recovery() -> None:
    class Never(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            self.requests.append(request)
            if len(self.requests) <= 3:
                self._replies = ("", *self._replies)
                return await ScriptedModel.stream(self, request, deltas)
            raise ModelFailure("prompt_too_long", "prompt is too long", status=400)

    steps = [reply(call("echo", n=n), input=100, output=1) for n in range(3)]
    model = Never(*steps)
    b = Bench(model, ECHO, shaping=Shaping(order=("auto",), summariser="local"))
    assert b.run().reason == "prompt_too_long"
    assert len(b.of(Compacted)) == 1


def test_two_in_a_row_are_the_most_whoever_wants_the_third() -> None:
    """Two because the window seemed full, and then a server that refuses all the same."""

    class Refusing(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            if len(b.of(Compacted)) == 2:
                raise ModelFailure("prompt_too_long", "prompt is too long", status=400)
            return await super().stream(request, deltas)

    fills = (6_000, 9_000, 12_000, 33_000, 34_000, 35_000)
    steps = [reply(call("echo", n=n), input=fill, output=1) for n, fill in enumerate(fills)]
    model = Refusing(*steps, "done", window=40_000, max_output=8_000)
    b = Bench(model, ECHO, shaping=replace(AUTO, summariser="local"))
    assert b.run().reason == "prompt_too_long"
    assert [one.trigger for one in b.of(Compacted)] == ["auto", "auto"]


def test_the_text_of_the_request_is_what_was_typed() -> None:
    b = crowded(answer())
    asyncio.run(b.turn((Text("  spaces, and\n\nlines  "),)))
    assert Text("  spaces, and\n\nlines  ") in b.model.requests[-1].messages[0].content  # type: ignore[attr-defined]
