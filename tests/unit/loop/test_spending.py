"""What a turn draws from its account, and what it does at a limit."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from detent.app.recorder import to_nobody
from detent.context.account import Account
from detent.context.books import Books
from detent.context.shaping import Shaping
from detent.loop.limits import Limits, Tally
from detent.loop.session_time import session_time
from detent.loop.spending import Purse
from detent.loop.worst import LEAST_OUTPUT, measured_by, most_input
from detent.ports import Desk
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget, Spent
from detent.types.content import Call, Document, Image, Result, Text
from detent.types.deltas import Begun, Counted
from detent.types.errors import ModelFailure, Overdrawn
from detent.types.events import (
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Discarded,
    Prompted,
    Reminded,
    Replied,
    Retrying,
    StepRecord,
    Switched,
    TextDelta,
    TurnEnded,
)
from detent.types.messages import Assistant, Reply, Request, User
from detent.types.outcomes import Cut, Done
from detent.types.usage import Usage
from kitbench import READS, Bench, BenchTool, FakeClock, bench, check_calls, check_valid, results


async def _echo(args: dict[str, Any], desk: Desk) -> str:
    return "echo"


ECHO = BenchTool("echo", _echo)
READ = BenchTool("read", _echo, effects=READS)


def price(model: str, usage: Usage) -> float | None:
    return None if model == "mystery" else (usage.input + usage.cache_write + 2 * usage.output) / 4


def folded(b: Bench) -> Spent:
    return Books(b.kit.price).read(b.log.entries).total


def same(one: Spent, other: Spent) -> bool:
    """But for the time, which the bench's clock does not tell."""
    return one - Spent(seconds=one.seconds) == other - Spent(seconds=other.seconds)


# The account and the log say the same


def test_the_log_adds_up_to_what_the_account_has_spent() -> None:
    b = bench(
        reply(call("echo"), call("echo", n=2), input=10, output=5, cache_read=3, cache_write=2),
        reply("done", input=20, output=1),
        tools=[ECHO],
        price=price,
    )
    ended = b.run()
    spent = b.kit.account.spent
    assert spent.usage == ended.usage == Usage(30, 6, 3, 2)
    assert (spent.turns, spent.calls, spent.requests) == (1, 2, 2)
    assert spent.dollars == (30 + 2 + 12) / 4
    assert same(folded(b), spent)


class Attempts(ScriptedModel):
    """Every answer is a second attempt: the first had cost something and was lost."""

    async def stream(self, request: Request, deltas: Any) -> Any:
        await deltas(Begun("scripted", "", 100))
        await deltas(Counted(Usage(input=1_000, output=7)))
        await deltas(Discarded("lost on the way"))
        await deltas(Retrying(1, 4, 0.0, "lost"))
        return await super().stream(request, deltas)


def test_attempts_that_came_to_nothing_are_drawn_too() -> None:
    b = Bench(Attempts(reply(call("echo")), "fine"), ECHO, price=price)
    ended = b.run()
    spent = b.kit.account.spent
    assert (spent.requests, ended.requests) == (4, 4)
    assert spent.usage == ended.usage == Usage(2_020, 24)
    assert same(folded(b), spent)
    by = Books(price).read(b.log.entries).spending()
    assert by["failed"].requests == 2 and by["failed"].usage == Usage(2_000, 14)
    assert by["main"].requests == 2


def unended(b: Bench) -> Spent:
    """What the log tells when the turn was killed right before its end."""
    return Books(price).read([e for e in b.log.entries if not isinstance(e, TurnEnded)]).total


def test_a_turn_that_is_killed_has_lost_none_of_its_attempts() -> None:
    b = Bench(Attempts(reply(call("echo")), "fine"), ECHO, price=price)
    ended = b.run()
    assert unended(b).usage == ended.usage == Usage(2_020, 24)
    assert unended(b).requests == 4


def test_a_turn_that_is_killed_has_lost_no_answer_that_was_cut() -> None:
    cut = reply("too lo", stop="max_tokens", input=30, output=40)
    b = Bench(ScriptedModel(cut, "whole", max_output=64_000), price=price)
    ended = b.run()
    assert [step.stop for step in ended.steps] == ["max_tokens", "end_turn"]
    assert unended(b).usage == ended.usage == Usage(40, 45)
    by = Books(price).read(b.log.entries).spending()
    assert list(by) == ["main"] and by["main"].requests == 2
    assert same(folded(b), b.kit.account.spent)


def test_an_attempt_that_cost_nothing_is_no_model_call() -> None:
    class Busy(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            await deltas(Begun("scripted", "", 100))
            return await super().stream(request, deltas)

    b = Bench(Busy("fine"), price=price)
    b.run()
    assert b.kit.account.spent.requests == 1


def test_a_further_attempt_is_not_made_beyond_the_budget() -> None:
    b = Bench(Attempts("fine"), price=price, account=Account(Budget(tokens=500)))
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "tokens")
    assert "1007 of 500 tokens" in ended.error
    assert b.of(Replied) == []
    assert same(folded(b), b.kit.account.spent)


def test_a_turn_that_is_cancelled_has_its_cost_and_holds_nothing() -> None:
    class Endless(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            await deltas(Begun("scripted", "", 10))
            await deltas(Counted(Usage(input=1_000)))
            await deltas(TextDelta(0, "half"))
            begun.set()
            await asyncio.get_running_loop().create_future()

    async def main() -> None:
        task = asyncio.create_task(b.turn())
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    begun = asyncio.Event()
    b = Bench(Endless("never"), price=price)
    asyncio.run(main())
    account = b.kit.account
    assert account.held == Spent()
    assert account.spent.usage == Usage(input=1_000)
    assert same(folded(b), account.spent)


def test_a_price_that_nobody_knows_is_not_zero() -> None:
    b = bench(reply("x", input=7, output=3), price=lambda model, usage: None)
    b.run()
    assert (b.kit.account.spent.dollars, b.kit.account.spent.unpriced) == (0.0, 10)
    assert folded(b).unpriced == 10


# Books


def books(*entries: Any) -> dict[str, Spent]:
    return Books(price).read(entries).spending()


STEP = StepRecord(1, "m", "end_turn", Usage(10, 5))
REPLIED = Replied(
    turn=1, step=1, model="m", content=(), stop="end_turn", usage=Usage(10, 5), at=103.0
)
ASKED = Classified(call_id="c", name="T", model="small", decision="allow", usage=Usage(4, 1))
SUMMED = Compacted(summary="s", keeps_from=1, model="m", usage=Usage(8, 2))
PROMPT = Prompted(turn=1, content=(Text("x"),), at=100.0)


def test_what_has_an_entry_of_its_own_is_not_counted_twice() -> None:
    lost = {"small": Usage(4, 1), "m": Usage(11, 2)}
    ended = TurnEnded(
        turn=1, reason="end_turn", steps=(STEP,), usage=Usage(25, 8), lost=lost, requests=4
    )
    by = books(PROMPT, ASKED, REPLIED, SUMMED, ended)
    assert {name: part.usage for name, part in by.items()} == {
        "main": Usage(10, 5),
        "compaction": Usage(8, 2),
        "classifier": Usage(4, 1),
        "failed": Usage(3, 0),
    }
    assert {name: part.requests for name, part in by.items()} == {
        "main": 1,
        "compaction": 1,
        "classifier": 1,
        "failed": 1,
    }
    assert sum(by.values(), Spent()).usage == ended.usage


def test_a_turn_that_never_ended_counts_as_far_as_it_came() -> None:
    by = books(PROMPT, REPLIED, ASKED)
    assert by["main"].usage == Usage(10, 5) and by["main"].turns == 1
    assert by["main"].seconds == 3.0
    again = books(PROMPT, REPLIED, ASKED, PROMPT, REPLIED)
    assert again["main"].usage == Usage(20, 10) and again["main"].turns == 2


def test_a_compaction_between_turns_is_not_taken_for_a_lost_attempt() -> None:
    ended = TurnEnded(turn=1, reason="end_turn", steps=(STEP,), usage=Usage(10, 5), requests=1)
    by = books(PROMPT, REPLIED, ended, SUMMED, PROMPT, REPLIED, ended)
    assert "failed" not in by
    assert by["compaction"].usage == Usage(8, 2) and by["main"].usage == Usage(20, 10)


def test_books_read_only_what_is_new() -> None:
    entries: list[Any] = [PROMPT, REPLIED]
    kept = Books(price)
    first = kept.read(entries).total
    assert kept.read(entries).total == first
    entries += [PROMPT, REPLIED]
    assert kept.read(entries).total == Books(price).read(entries).total


def test_what_subagents_spent_is_told_apart() -> None:
    delegated = Spent(usage=Usage(7), requests=2)
    ended = TurnEnded(turn=1, reason="end_turn", steps=(STEP,), delegated=delegated)
    assert books(PROMPT, REPLIED, ended)["subagents"] == delegated


def test_a_child_that_spends_during_a_turn_is_in_its_record() -> None:
    async def delegate(args: dict[str, Any], desk: Desk) -> str:
        b.kit.account.child().spend(Spent(usage=Usage(50), requests=1))
        return "done"

    b = bench(reply(call("task")), "ok", tools=[BenchTool("task", delegate)])
    ended = b.run()
    assert ended.delegated == Spent(usage=Usage(50), requests=1)
    assert ended.requests == 2
    assert same(folded(b), b.kit.account.spent)


# Summaries


async def _long(args: dict[str, Any], desk: Desk) -> str:
    return "x" * 4_000


def crowded(**options: Any) -> Bench:
    """Five calls fill the window; then a summary is asked for."""
    fills = (6_000, 9_000, 12_000, 15_000, 33_000)
    steps = [reply(call("long", n=n), input=fills[n], output=1) for n in range(5)]
    summary = reply('{"goal": "mend it", "next_step": "tests"}', input=1_000, output=100)
    done = reply("done", input=10, output=1)
    model = ScriptedModel(*steps, summary, done, window=40_000, max_output=8_000)
    long = BenchTool("long", _long, effects=READS)
    return Bench(model, long, shaping=Shaping(order=("auto",)), price=price, **options)


def test_a_summary_is_drawn_from_the_account_too() -> None:
    b = crowded()
    ended = b.run()
    assert ended.reason == "end_turn"
    (compacted,) = b.of(Compacted)
    assert compacted.by == "model" and compacted.usage == Usage(1_000, 100)
    spent = b.kit.account.spent
    assert (spent.requests, spent.usage) == (7, ended.usage)
    assert Books(price).read(b.log.entries).spending()["compaction"].usage == Usage(1_000, 100)
    assert same(folded(b), spent)


def test_a_summary_that_cannot_be_paid_for_is_made_without_the_model() -> None:
    b = crowded(account=Account(Budget(requests=5)))
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "requests")
    assert b.kit.account.spent.requests == 5
    assert all(compacted.by == "local" for compacted in b.of(Compacted))


# Calls


def test_calls_beyond_the_budget_are_answered_not_run() -> None:
    calls = [call("echo", n=n) for n in range(4)]
    b = bench(reply(*calls), "never", tools=[ECHO], account=Account(Budget(calls=2)))
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "calls")
    assert len(b.of(CallStarted)) == 2
    outcomes = [event.outcome for event in b.of(CallEnded)]
    assert [type(outcome) for outcome in outcomes] == [Done, Done, Cut, Cut]
    check_calls(b.log.entries)
    messages = b.conversation.messages()
    check_valid(messages)
    assert "not run: Budget spent: 2 of 2 tool calls." in results(messages)[2][1]


def test_calls_that_run_together_are_counted_one_by_one() -> None:
    calls = [call("read", n=n) for n in range(6)]
    b = bench(reply(*calls), "never", tools=[READ], account=Account(Budget(calls=3)))
    b.run()
    assert len(b.of(CallStarted)) == 3 == b.kit.account.spent.calls


def test_the_last_word_follows_calls_that_were_not_run() -> None:
    calls = [call("echo", n=n) for n in range(3)]
    b = bench(
        reply(*calls),
        "what I have",
        tools=[ECHO],
        account=Account(Budget(calls=1)),
        limits=Limits(wrap_up=True),
    )
    assert b.run().reason == "budget_exceeded"
    requests = b.model.requests  # type: ignore[attr-defined]
    check_valid(requests[-1].messages)
    assert len(requests) == 2 and requests[-1].tools == []


# Turns and time


def test_a_session_has_so_many_turns() -> None:
    async def main() -> None:
        assert (await b.turn(number=1)).reason == "end_turn"
        assert (await b.turn(number=2)).reason == "end_turn"
        third = await b.turn("three", number=3)
        assert (third.reason, third.limit) == ("budget_exceeded", "turns")
        assert "2 of 2 turns" in third.error

    b = bench("one", "two", "three", account=Account(Budget(turns=2)))
    asyncio.run(main())
    assert len(b.model.requests) == 2  # type: ignore[attr-defined]
    assert b.kit.account.spent.turns == folded(b).turns == 2


def test_a_turn_that_got_no_answer_is_not_counted() -> None:
    class Down(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            raise ModelFailure("network", "down")

    b = Bench(Down("x"), account=Account(Budget(turns=1)))
    b.run()
    assert b.kit.account.spent.turns == folded(b).turns == 0
    assert b.kit.account.held == Spent()


def test_the_time_of_the_session_ends_a_turn_wherever_it_is() -> None:
    async def wait(args: dict[str, Any], desk: Desk) -> str:
        await asyncio.get_running_loop().create_future()
        return "never"

    b = bench(
        reply(call("wait")), tools=[BenchTool("wait", wait)], account=Account(Budget(seconds=0.05))
    )
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "seconds")
    assert "0.05 of 0.05 seconds" in ended.error
    check_calls(b.log.entries)


def test_the_time_of_an_account_above_is_named_as_its_own() -> None:
    async def main(account: Account) -> None:
        async with session_time(account, FakeClock(), Tally(1, 0.0)):
            await asyncio.get_running_loop().create_future()

    above = Account(Budget(seconds=0.05), name="the night's work")
    with pytest.raises(Overdrawn, match=r"0\.05 of 0\.05 seconds of the night's work"):
        asyncio.run(main(above.child(Budget(seconds=60))))


def test_more_time_can_be_given_while_a_turn_runs() -> None:
    async def main(more: float) -> None:
        async with session_time(b.kit.account, b.clock, Tally(1, 0.0)):
            b.kit.account.budget = Budget(seconds=more)
            await asyncio.sleep(0.1)  # longer than there was

    b = bench(account=Account(Budget(seconds=0.05)))
    asyncio.run(main(more=3_600))
    with pytest.raises(Overdrawn):
        asyncio.run(main(more=0.06))


def test_a_budget_that_is_raised_while_a_turn_runs_lets_it_go_on() -> None:
    async def raise_it(args: dict[str, Any], desk: Desk) -> str:
        b.kit.account.budget = Budget(tokens=1_000)
        return "raised"

    b = bench(
        reply(call("more"), input=90, output=20),
        "ok",
        tools=[BenchTool("more", raise_it)],
        account=Account(Budget(tokens=100)),
    )
    assert b.run().reason == "end_turn"


# Strict


def test_a_text_has_no_more_tokens_than_bytes() -> None:
    request = Request(("süß",), (User((Text("x" * 1_000),)),))
    assert most_input(request, None, "m") >= 1_005
    picture = Request((), (User((Image("image/png", "AA=="),)),))
    assert most_input(picture, None, "m") >= 6_000
    paper = Request((), (User((Document("application/pdf", "A" * 100),)),))
    assert most_input(paper, None, "m") >= 6_400


def test_what_was_counted_is_not_guessed_again() -> None:
    prompt, answer = User((Text("x" * 9_000),)), Assistant((Call("c", "T", "{}"),), "m")
    sent = Request(("s" * 5_000,), (prompt,))
    measured = measured_by(sent, Reply((), "tool_use", Usage(2_000, 100), "m"))
    result = User((Result("c", (Text("y" * 500),)),))
    further = Request(("s" * 5_000,), (prompt, answer, result))
    assert 2_600 <= most_input(further, measured, "m") <= 2_800
    assert most_input(further, measured, "other") > 14_000, "another model counts otherwise"
    rebuilt = Request(("s" * 5_000,), (User((Text("z" * 9_000),)), answer, result))
    assert most_input(rebuilt, measured, "m") > 14_000, "an earlier message has changed"


def test_a_strict_account_sends_nothing_that_might_pass_it() -> None:
    b = bench("never", account=Account(Budget(tokens=1_500, strict=True)))
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "tokens")
    assert "may take" in ended.error
    assert b.model.requests == []  # type: ignore[attr-defined]


def test_a_strict_account_asks_for_a_shorter_answer() -> None:
    b = bench("ok", account=Account(Budget(tokens=10_000, strict=True)))
    assert b.run().reason == "end_turn"
    (request,) = b.model.requests  # type: ignore[attr-defined]
    assert LEAST_OUTPUT <= request.max_output < 9_000
    b = bench("ok", account=Account(Budget(output=2_500, strict=True)))
    b.run()
    assert b.model.requests[0].max_output == 2_500  # type: ignore[attr-defined]
    b = bench("ok", account=Account(Budget(dollars=2_000, strict=True)), price=price)
    b.run()
    most = b.model.requests[0].max_output  # type: ignore[attr-defined]
    assert LEAST_OUTPUT <= most < 4_000, "two output tokens for a dollar"


def test_a_cut_answer_is_kept_where_a_longer_one_cannot_be_had() -> None:
    cut = reply("half of it", stop="max_tokens", output=4_000)
    b = bench(cut, "never", account=Account(Budget(output=5_000, strict=True)))
    ended = b.run()
    assert (ended.reason, ended.limit) == ("budget_exceeded", "output")
    assert [r.content for r in b.of(Replied)] == [(Text("half of it"),)]
    assert not b.of(Discarded)


def test_without_strictness_the_answer_is_as_long_as_ever() -> None:
    b = bench("ok", account=Account(Budget(tokens=10_000)))
    b.run()
    assert b.model.requests[0].max_output == 32_000  # type: ignore[attr-defined]


def test_the_last_word_is_spoken_in_a_strict_account_only_if_it_fits() -> None:
    def last_words(most: int) -> int:
        b = bench(
            reply(call("echo"), input=1_000, output=2_000),
            "what I have",
            tools=[ECHO],
            account=Account(Budget(tokens=most, calls=1, strict=True)),
            limits=Limits(wrap_up=True),
        )
        assert b.run().reason == "budget_exceeded"
        assert b.kit.account.spent.of("tokens") <= most
        spoken = len(b.model.requests) - 1  # type: ignore[attr-defined]
        assert len(b.of(Reminded)) == spoken, "nothing is announced that cannot be had"
        return spoken

    assert last_words(5_000) == 0
    assert last_words(50_000) == 1, "it calls no tool, so the limit of calls is kept"


@pytest.mark.parametrize("budget", [Budget(tokens=15), Budget(turns=1), Budget(requests=1)])
@pytest.mark.parametrize("strict", [True, False])
def test_a_turn_that_finds_the_budget_spent_has_nothing_to_wrap_up(
    budget: Budget, strict: bool
) -> None:
    spent = Spent(usage=Usage(10, 5), turns=1, requests=1)
    budget = msgspec.structs.replace(budget, strict=strict)
    account = Account(budget, spent=spent)
    b = bench("never", account=account, limits=Limits(wrap_up=True))
    assert b.run().reason == "budget_exceeded"
    assert b.model.requests == []  # type: ignore[attr-defined]


def test_a_strict_account_that_has_little_left_wraps_up() -> None:
    tools = [BenchTool(f"tool{n}", _echo) for n in range(40)]
    b = bench(
        "what I have",
        tools=tools,
        account=Account(Budget(tokens=4_200, strict=True)),
        limits=Limits(wrap_up=True),
    )
    ended = b.run()
    assert ended.reason == "budget_exceeded"
    (request,) = b.model.requests  # type: ignore[attr-defined]
    assert request.tools == []


class Honest(ScriptedModel):
    """Counts a token for every byte, and writes as much as it may."""

    async def stream(self, request: Request, deltas: Any) -> Any:
        self.requests.append(request)
        await asyncio.sleep(0)
        await deltas(Begun(self.name, "", request.max_output))
        size = sum(
            len(block.text)
            for m in request.messages
            for block in m.content
            if isinstance(block, Text)
        )
        usage = Usage(input=size + sum(map(len, request.system)), output=request.max_output)
        await asyncio.sleep(0)
        return Reply((Text("x" * 50),), "end_turn", usage, self.name)


@pytest.mark.parametrize("racing", [1, 2, 5])
@pytest.mark.parametrize("most", [3_000, 10_000, 60_000, 200_000])
def test_sessions_that_race_on_a_strict_account_never_pass_it(racing: int, most: int) -> None:
    """With a model that takes all that it may."""
    root = Account(Budget(tokens=most, dollars=most / 3, strict=True))

    async def work(b: Bench) -> None:
        for number in range(1, 9):
            await b.turn("y" * 100, number=number)

    async def main() -> None:
        benches = [
            Bench(Honest("x", max_output=9_000), account=root.child(), price=price)
            for _ in range(racing)
        ]
        await asyncio.gather(*map(work, benches))
        assert root.spent == sum((b.kit.account.spent for b in benches), Spent())
        sent = sum(len(b.model.requests) for b in benches)  # type: ignore[attr-defined]
        assert root.spent.requests == sent
        assert bool(sent) == (most > 3_000), "what fits is sent"

    asyncio.run(main())
    assert root.spent.of("tokens") <= most
    assert root.spent.dollars <= most / 3 + 1e-6
    assert root.held == Spent()


def test_a_dearer_fallback_has_to_fit_too() -> None:
    class Falls(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Any:
            await deltas(Begun("scripted", "", request.max_output))
            await deltas(Switched(model="big", reason="busy"))
            await deltas(Begun("big", "", 30_000))
            raise AssertionError("it was sent")

    b = Bench(Falls("x"), account=Account(Budget(output=5_000, strict=True)))
    assert b.run().limit == "output"


def test_whoever_asks_with_a_purse_is_refused_before_anything_is_sent() -> None:
    model = ScriptedModel("never")
    purse = Purse(Account(Budget(requests=1), spent=Spent(requests=1)), price, to_nobody)

    async def unheard(delta: Any) -> None:
        raise AssertionError(delta)

    with pytest.raises(Overdrawn, match="1 of 1 model calls") as lacking:
        asyncio.run(purse.ask(model, Request((), (User((Text("x"),)),)), unheard))
    assert lacking.value.kind == "budget"
    assert model.requests == []
