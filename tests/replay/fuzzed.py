"""Random sessions on the bench: everything that can happen to one, from a seed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from detent.app.classifying import ModelClassifier
from detent.app.equipping import Equipment
from detent.app.replay.quiet_loop import QuietLoop
from detent.context.account import Account
from detent.context.books import Books
from detent.context.prompt import section
from detent.context.shaping import Shaping
from detent.context.task_budget import TaskBudget
from detent.context.tokens import of_system, of_tools
from detent.gate.hooks import HookAnswer, HookSet
from detent.loop.compacting import compact
from detent.loop.limits import Limits, Tally
from detent.loop.spending import Purse
from detent.models.catalog import ModelFacts
from detent.ports import Answer, Desk, Proposal, Question
from detent.tools.structured_output import Beside, StructuredOutput
from detent.types.budget import Budget
from detent.types.codec import decode_entry, encode
from detent.types.content import Call, Image, Redacted, Text, Thinking, plain_text
from detent.types.deltas import Begun, CallReady, Counted, Sealed
from detent.types.errors import ModelFailure
from detent.types.events import (
    Budgeted,
    CallDelta,
    CallEnded,
    CallStarted,
    Discarded,
    Entry,
    Event,
    Opened,
    Reminded,
    Restored,
    Retrying,
    Switched,
    TextDelta,
)
from detent.types.files import Change, FileState
from detent.types.messages import Reply, Request
from detent.types.outcomes import Cut, Done, Failed, Outcome
from detent.types.running import Named
from detent.types.usage import Usage
from kitbench import READS, WRITES, Bench, BenchTool, BenchTools
from replay.fuzzed_crew import Crew

WORDS = ("alpha beta gamma delta epsilon zeta eta theta iota kappa " * 40).split()
SUMMARY = {"goal": "to get it done", "decisions": ["one", "two"], "next_step": "go on"}
FACTS = ModelFacts(price=(3.0, 15.0, 0.3, 3.75))


class Shaken:
    """Time passes whenever somebody looks at the clock."""

    def __init__(self, chance: Random, start: float, step: float) -> None:
        self._chance = chance
        self.time = start
        self._step = step

    def now(self) -> float:
        self.time += self._chance.random() * self._step
        return self.time

    elapsed = now

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._chance.getrandbits(40):x}"

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)


class Moody:
    """A model that does whatever models do."""

    def __init__(self, chance: Random, tools: Sequence[str], window: int) -> None:
        self._chance = chance
        self._tools = tools
        self._number = 0
        self.name, self.window, self.max_output = "moody-1", window, 8_000
        self.names = ("moody-1", "moody-2")
        self.outputs = {"moody-1": 8_000, "moody-2": 4_000}
        self.calls_at_most = 6
        """In one turn, so that it comes to an end."""
        self.says_usage = chance.random() < 0.85
        self.caches = chance.random() < 0.3
        self.is_small = chance.random() < 0.1
        self._breaks = chance.choice([0.12] * 9 + [0.9])
        self._odd = chance.choice([0.1] * 9 + [0.9])
        self._last: Call | None = None
        """What it has called, and may call again."""

    async def aclose(self) -> None:
        pass

    async def stream(self, request: Request, deltas: Any) -> Reply:
        chance = self._chance
        self._number += 1
        output = min(request.max_output or self.max_output, self.max_output)
        while chance.random() < 0.12:  # an attempt that comes to nothing
            await deltas(Begun(self.name, "p", output))
            await self._rest()
            if chance.random() < 0.7:
                await deltas(TextDelta(0, "to be taken back"))
                if self.says_usage:
                    await deltas(Counted(Usage(input=chance.randrange(50))))
                if chance.random() < 0.3:
                    await self._call(deltas, 1, self._block())
                await self._rest()
                await deltas(Discarded("the stream broke"))
            await deltas(Retrying(1, 3, 0.1, "the stream broke"))
        if chance.random() < 0.06:
            self.name = "moody-2" if self.name == "moody-1" else "moody-1"
            self.max_output = self.outputs[self.name]
            await deltas(Switched(model=self.name, reason="the other was overloaded"))
        try:
            await deltas(Begun(self.name, "p", output))
            if section("summary") in plain_text(request.messages[-1].content):
                return await self._sum_up()
            return await self._answer(request, deltas)
        except ModelFailure:
            self.name, self.max_output = "moody-1", 8_000
            raise

    async def _sum_up(self) -> Reply:
        await self._rest()
        draw = self._chance.random()
        if draw < 0.15:
            raise ModelFailure("server", "no summary today", status=500, exhausted=True)
        if draw < 0.25:
            raise ModelFailure("invalid_response", "rubbish came")
        text = json.dumps(SUMMARY)
        if draw < 0.4:
            text = self._chance.choice(["", "I would rather not."])
        elif draw < 0.5:
            text = json.dumps({"goal": self._text(2_000), "decisions": [self._text(600)] * 40})
        return Reply((Text(text),), "end_turn", self._usage(500), self.name)

    async def _answer(self, request: Request, deltas: Any) -> Reply:
        chance = self._chance
        draw = chance.random()
        if draw < 0.04:
            kind: Any = chance.choice(["server", "auth", "bad_content", "network"])
            raise ModelFailure(kind, "it would not", status=chance.choice([None, 500, 400]))
        if draw < 0.08 and len(request.messages) > 4:
            tokens = self.window + chance.randrange(1_000)
            window = chance.choice([0, self.window, self.window // 2])
            raise ModelFailure("prompt_too_long", "too long", window=window, tokens=tokens)
        content: list[Any] = []
        breaks_at = chance.randrange(5) if chance.random() < self._breaks else None
        for index in range(chance.choice([0, 1, 1, 2, 3, 4])):
            block = self._block()
            if index == breaks_at:
                if self.says_usage:
                    await deltas(Counted(Usage(input=100, output=index)))
                raise ModelFailure("network", "the line was cut")
            await self._say(deltas, index, block)
            content.append(block)
        usage = self._usage(len(str(request.messages)) // 4)
        stop = "tool_use" if any(isinstance(b, Call) for b in content) else "end_turn"
        if chance.random() < self._odd:
            stop = chance.choice(
                ["max_tokens", "refusal", "odd", *["pause_turn", "max_tokens"] * 3]
            )
        return Reply(tuple(content), stop, usage, self.name, f"msg_{self._number}", "p")

    def _usage(self, read: int) -> Usage:
        if not self.says_usage:
            return Usage()
        chance = self._chance
        cached = chance.randrange(read + 1) if self.caches else 0
        return Usage(read - cached, chance.randrange(200), cached, 3 if self.caches else 0)

    def _block(self) -> Any:
        chance, draw = self._chance, self._chance.random()
        if draw < 0.3 or not self._tools or self.calls_at_most <= 0:
            return Text(chance.choice(["", "well", self._text(300)]))
        if draw < 0.4:
            return Thinking("hm", chance.choice(["", "sealed"]))
        if draw < 0.45:
            return Redacted("xyz")
        self.calls_at_most -= 1
        if self._last is not None and chance.random() < 0.2:
            return replace(self._last, id=chance.choice(["", self._last.id, "another"]))
        self._last = self._call_of(chance.choice(self._tools))
        return self._last

    def _call_of(self, name: str) -> Call:
        chance = self._chance
        call_id = chance.choice(["", "same", f"c{self._number}_{chance.randrange(1000)}"])
        if name == "StructuredOutput":
            return Call(call_id, name, chance.choice(['{"n": 1}', '{"n": "x"}', "{"]))
        arguments = chance.choice(['{"n": 1}', f'{{"n": {chance.randrange(9)}}}', "", "{bad", "{}"])
        return Call(call_id, name, arguments, chance.choice(["", "", "signed"]))

    async def _say(self, deltas: Any, index: int, block: Any) -> None:
        await self._rest()
        match block:
            case Text(text=text):
                half = len(text) // 2
                await deltas(TextDelta(index, text[:half]))
                await self._rest()
                await deltas(TextDelta(index, text[half:]))
            case Call():
                await self._call(deltas, index, block)
            case Thinking(signature=""):
                pass
            case _:
                await deltas(Sealed(index, block))

    async def _call(self, deltas: Any, index: int, block: Any) -> None:
        if isinstance(block, Call):
            await deltas(CallDelta(index, block.id, block.name, block.arguments))
            await self._rest()
            await deltas(CallReady(index, block))

    def _text(self, words: int) -> str:
        return " ".join(self._chance.choice(WORDS) for _ in range(words))

    async def _rest(self) -> None:
        for _ in range(self._chance.choice([0, 0, 1, 3, 12])):
            await asyncio.sleep(0)


class Moving(BenchTool):
    """Changes the working folder."""

    def moves(self, args: Any) -> bool:
        return True


class Noting:
    """What files were and became, made up."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        await _rest(self._chance)
        state = FileState(kind="file", mode=0o644, size=self._chance.randrange(99), digest="ab")
        return self._chance.choice([{}, {"/p/a.txt": state}])

    async def after(self, call_id: str) -> tuple[Change, ...]:
        await _rest(self._chance)
        return self._chance.choice([(), (Change("/p/a.txt"),)])


class Recalling:
    """Reminders, now and then."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def due(self, moment: str) -> Sequence[Reminded]:
        await _rest(self._chance)
        if self._chance.random() < 0.7:
            return ()
        notes = self._chance.sample(["NOTES.md", "MORE.md", "LAST.md"], self._chance.choice([1, 2]))
        return [Reminded(text=f"mind the {moment}", source="memory", path=f"/p/{n}") for n in notes]


class Person:
    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def ask(self, question: Question) -> Answer:
        await _rest(self._chance)
        draw = self._chance.random()
        if draw < 0.5:
            return Answer(True)
        if draw < 0.7:
            return Answer(True, arguments={"n": 7, "by": "hand"})
        return Answer(False, "rather not", interrupt=draw > 0.9)


async def _rest(chance: Random) -> None:
    for _ in range(chance.choice([0, 0, 1, 5])):
        await asyncio.sleep(0)


def tools_of(chance: Random) -> list[BenchTool]:
    async def plain(args: dict[str, Any], desk: Desk) -> Outcome | str:
        await _rest(chance)
        desk.files.remember("/p/a.txt", f"{chance.getrandbits(32):x}")
        desk.progress("at it")
        most = chance.choice([20, 600, 2_500])
        return chance.choice(["", "ok", "many words " * chance.randrange(most)])

    async def odd(args: dict[str, Any], desk: Desk) -> Outcome | str:
        await _rest(chance)
        draw = chance.random()
        if draw < 0.3:
            raise OSError("no such luck")
        return Failed("it did not work") if draw < 0.6 else Done((Text("ok"),), {"n": draw})

    async def hangs(args: dict[str, Any], desk: Desk) -> Outcome | str:
        desk.cut_short(lambda: "so far so good")
        await asyncio.sleep(0 if chance.random() < 0.7 else 60)
        return "done after all"

    async def goes(args: dict[str, Any], desk: Desk) -> Outcome | str:
        desk.shop.move(f"/p/{chance.choice('abc')}")
        await _rest(chance)
        return "gone"

    return [
        BenchTool("look", plain, effects=READS),
        BenchTool("peep", odd, effects=READS),
        BenchTool("write", plain, effects=WRITES),
        BenchTool("try", odd, effects=WRITES),
        BenchTool("wait", hangs, effects=READS, timeout=0.01),
        BenchTool("wait_alone", hangs, effects=WRITES, timeout=0.01),
        Moving("go", goes, effects=READS),
    ]


def hooks_of(chance: Random) -> HookSet:
    """Each listens in some sessions, and has something to say now and then."""

    def hook(*answers: HookAnswer) -> tuple[Any, ...]:
        async def answer(event: Any) -> HookAnswer | None:
            await _rest(chance)
            return chance.choice(answers) if chance.random() < 0.25 else None

        return (answer,) if chance.random() < 0.3 else ()

    said = HookAnswer(context="a hook says so")
    stop = HookAnswer(stop="a hook has had enough")
    deny = HookAnswer(decision="deny", reason="a hook says no")
    other = HookAnswer(arguments={"n": 3, "from": "a hook"})
    return HookSet(
        before_call=hook(said, deny, other, other, HookAnswer(decision="ask"), stop),
        after_call=hook(said, deny, HookAnswer(output="quite another result"), stop),
        after_calls=hook(said, said, stop),
        submitted=hook(said, said, deny),
        stopping=hook(deny, said),
        session_started=hook(said, said, said, stop),
        before_compact=hook(said, deny),
        after_compact=hook(said),
        stop_failed=hook(said),
    )


class Fuzzed:
    """One session; `entries` is its log."""

    def __init__(self, seed: int, *, has_crew: bool = False) -> None:
        self.chance = chance = Random(seed)
        self._crew = Crew(chance) if has_crew else None
        self.entries: list[Entry] = []
        self._time = 1_700_000_000.0
        self._window = chance.choice([3_000, 6_000, 20_000, 200_000])
        self._turns = 0
        self._limits = Limits(
            steps=chance.choice([None, 3, 8, 8]),
            seconds=chance.choice([None] * 9 + [0.02]),
            output=chance.choice([None, 200, 3_000]),
            wrap_up=chance.random() < 0.4,
            early_calls=chance.random() < 0.8,
            concurrency=chance.choice([1, 2, 10]),
            forced=chance.choice([0, 1, 5]),
            characters=chance.choice([500, 30_000]),
        )
        self._shaping = Shaping(
            cumulative=chance.choice([None, 0, 2_000]),
            tokens=chance.choice([None, None, 1_500]),
            summariser=chance.choice(["model", "model", "local"]),
            keep=chance.choice([2, 4]),
        )
        self._budget = self._some_budget() if chance.random() < 0.4 else Budget()
        self._form = chance.random() < 0.12

    def _some_budget(self) -> Budget:
        chance = self.chance
        return chance.choice(
            [
                Budget(calls=chance.randrange(1, 9)),
                Budget(requests=chance.randrange(1, 9)),
                Budget(tokens=chance.choice([500, 5_000, 50_000])),
                Budget(dollars=chance.choice([0.001, 0.02])),
                Budget(turns=2),
                Budget(turns=3),
                *([Budget(delegations=2), Budget(tokens=2_500)] if self._crew else []),
                Budget(tokens=40_000, strict=True),
                Budget(dollars=0.2, output=9_000, strict=True),
            ]
        )

    async def record(self) -> None:
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            await self._run()

    def _bench(self) -> tuple[Bench, Equipment]:
        chance = self.chance
        crew = self._crew.tools() if self._crew else []
        tools = [*tools_of(chance), *crew, *crew]
        names = [*(tool.spec.name for tool in tools), "unknown"]
        toolbox: Any = BenchTools(*tools)
        form = ""
        if self._form:
            schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
            tool = StructuredOutput(schema)
            toolbox, form = Beside(toolbox, tool), tool.spec.name
            names += [form, form]
        model = Moody(chance, names, self._window)
        account = Account(self._budget, spent=Books(_price).read(self.entries).total)
        bench = Bench(
            model,
            toolbox=toolbox,
            entries=self.entries,
            mode=chance.choice(["bypassPermissions", "default", "acceptEdits"]),
            hooks=hooks_of(chance),
            approver=Person(chance),
            reminders=Recalling(chance),
            checkpoints=Noting(chance),
            limits=self._limits,
            shaping=self._shaping,
            account=account,
            price=_price,
            task=TaskBudget(90_000) if chance.random() < 0.2 else None,
            form=form,
        )
        clock = Shaken(chance, self._time, 1e-5 if self._limits.seconds else 0.01)
        bench.log._now = clock.now
        bench.kit = replace(bench.kit, clock=clock)
        kit = bench.kit
        kit.conversation.base = of_system(kit.system, "claude") + of_tools(
            toolbox.specs(), "claude"
        )
        if chance.random() < 0.2:
            self._classify(bench)
        return bench, Equipment(lambda name: FACTS if name.startswith("moody") else ModelFacts())

    def _classify(self, bench: Bench) -> None:
        """Mode `auto`: a model of its own looks at calls."""
        chance, kit, gate = self.chance, bench.kit, bench.kit.gate

        class Judge(Moody):
            async def _answer(self, request: Request, deltas: Any) -> Reply:
                await self._rest()
                if chance.random() < 0.1:
                    raise ModelFailure("server", "no verdict")
                said = json.dumps({"decision": chance.choice(["allow", "ask", "deny"])})
                return Reply((Text(said),), "end_turn", self._usage(50), self.name)

        purse = Purse(kit.account, _price, bench.recorder.emit, "classifier")
        judge = Judge(chance, (), 9_000)
        gate.mode = "auto"  # type: ignore[attr-defined]
        gate.classifier = ModelClassifier(  # type: ignore[attr-defined]
            lambda: judge, purse, lambda: bench.log.entries, kit.clock
        )

    async def _run(self) -> None:
        chance = self.chance
        bench, equipment = self._bench()
        kept = Books(_price).read(self.entries).budget
        if not self.entries:
            await bench.recorder.emit(Opened(session="s", cwd="/p", version="0"))
        if (equipped := equipment.news(bench.kit)) is not None:
            await bench.recorder.emit(equipped)
        if self._crew is not None:
            await self._crew.mend(bench)
        await self._mend(bench)
        if bench.kit.account.budget != kept:
            await bench.recorder.emit(Budgeted(budget=bench.kit.account.budget))
        for _ in range(chance.choice([1, 2, 3])):
            if chance.random() < 0.15:
                await self._between(bench)
            if (equipped := equipment.news(bench.kit)) is not None:
                await bench.recorder.emit(equipped)
            await self._turn(bench)
        if self._crew is not None:
            await self._crew.close()
        self.entries = list(bench.log.entries)
        self._time = bench.kit.clock.now() + 100
        self._budget = bench.kit.account.budget
        if chance.random() < 0.25:  # killed, somewhere
            least = max(2, len(self.entries) - 25)
            self.entries = self.entries[: chance.randrange(least, len(self.entries) + 1)]

    async def _mend(self, bench: Bench) -> None:
        """What a resumed session makes of calls that were running when the last one was killed."""
        ended = {e.call_id for e in self.entries if isinstance(e, CallEnded)}
        for entry in self.entries:
            if isinstance(entry, CallStarted) and entry.call_id not in ended:
                cut = Cut("interrupted; the program ended while it ran")
                await bench.recorder.emit(
                    CallEnded(call_id=entry.call_id, name=entry.name, outcome=cut)
                )

    async def _between(self, bench: Bench) -> None:
        """What people do between turns."""
        chance, emit = self.chance, bench.recorder.emit
        match chance.randrange(4):
            case 0:
                await emit(Named(name="a name"))
            case 1:
                tally = Tally(self._turns, bench.kit.clock.elapsed(), 3_000)
                await compact(bench.kit, tally, "manual", "be short")
            case 2:
                other = Moody(chance, ["look", "write"], self._window)
                bench.kit = replace(bench.kit, model=other)
                await emit(Switched(model=other.name))
            case _:
                await emit(Restored(entries=()))

    async def _turn(self, bench: Bench) -> None:
        chance, model = self.chance, bench.kit.model
        self._turns += 1
        model.calls_at_most = 6  # type: ignore[attr-defined]
        seen, cancel_at = 0, chance.randrange(40) if chance.random() < 0.25 else None
        at = {chance.randrange(30): action for action in self._actions(bench)}
        prompts = (Text("go"),), (Text("and on"),), (Text("look"), Image("image/png", "aGVsbG8="))
        turn = asyncio.create_task(bench.turn(chance.choice(prompts), self._turns))

        def watch(event: Event) -> None:
            nonlocal seen
            seen += 1
            if seen in at:
                at[seen]()
            if seen == cancel_at:
                turn.cancel()

        bench.on_event = watch
        await asyncio.wait([turn], timeout=20)
        assert turn.done(), "the turn hangs"
        assert turn.cancelled() or turn.exception() is None, turn.exception()

    def _actions(self, bench: Bench) -> list[Callable[[], None]]:
        """What happens beside a turn while it runs."""

        def budget() -> None:
            bench.kit.account.budget = self._some_budget()
            bench.recorder.record(Budgeted(budget=bench.kit.account.budget))

        chance = self.chance
        found: list[Callable[[], None]] = []
        if chance.random() < 0.2:
            found.append(lambda: bench.inbox.put((Text("and this"),)))
        if chance.random() < 0.2:
            found.append(lambda: bench.inbox.tell("a job has ended"))
        if chance.random() < 0.08 and self._budget != Budget():
            found.append(budget)
        return found


def _price(model: str, usage: Usage) -> float | None:
    return FACTS.cost(usage) if model.startswith("moody") else None


def fuzzed(seed: int, *, has_crew: bool = False) -> list[Entry]:
    """The log of a random session, with subagents or without, as it would be read from disk."""
    session = Fuzzed(seed, has_crew=has_crew)
    loop = QuietLoop()  # its timers are due when everybody waits
    try:
        loop.run_until_complete(session.record())
    finally:
        loop.close()
    return [decode_entry(encode(entry)) for entry in session.entries]
