"""A loop on a bench: everything real but the model, the clock and the machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from detent.app.desk import DeskMaker
from detent.app.inbox import Queue
from detent.app.recorder import Recorder
from detent.context.compact.boundary import boundary_of
from detent.context.compact.contract import restored
from detent.context.compact.local import summary_of
from detent.context.conversation import Conversation
from detent.context.shaping import KEEP
from detent.gate.gate import Gatekeeper
from detent.gate.hooks import HookSet
from detent.gate.terms import RuleSet, Workspace
from detent.loop.kit import Kit
from detent.loop.turn import run_turn
from detent.ports import Answer, BadArguments, Desk, Model, Question, Tool
from detent.session.log import MemoryLog
from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call, Result, Text, UserBlock
from detent.types.effects import Effect, Reads, Writes
from detent.types.events import CallEnded, CallStarted, Compacted, Entry, Event, Replied, TurnEnded
from detent.types.messages import Assistant, Message, ToolSpec, User
from detent.types.outcomes import Outcome, done

READS = (Reads("/p/a.txt"),)
WRITES = (Writes("/p/a.txt"),)


class FakeClock:
    """Time passes only while somebody sleeps, and then at once."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []
        self._ids = 0

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return self.time

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}_fresh{self._ids}"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


Body = Callable[[dict[str, Any], Desk], Awaitable[Outcome | str]]


class BenchTool:
    """A tool made of an async function that sees its arguments as a dict."""

    def __init__(
        self,
        name: str,
        body: Body,
        *,
        effects: tuple[Effect, ...] = (),
        timeout: float | None = None,
    ) -> None:
        self.spec = ToolSpec(name, f"The tool {name}.", msgspec.Raw(b'{"type":"object"}'))
        self.timeout = timeout
        self._body = body
        self._effects = effects

    def parse(self, arguments: str) -> Any:
        try:
            return msgspec.json.decode(arguments or "{}", type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise BadArguments(f"send an object: {error}") from None

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return self._effects

    def moves(self, args: Any) -> bool:
        return False

    async def run(self, args: Any, desk: Desk) -> Outcome:
        said = await self._body(args, desk)
        return done(said) if isinstance(said, str) else said


class BenchTools:
    def __init__(self, *tools: Tool) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    def specs(self) -> Sequence[ToolSpec]:
        return [tool.spec for tool in self._tools.values()]

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)


class Approving:
    def __init__(self, answer: Answer | None = None) -> None:
        self.questions: list[Question] = []
        self._answer = answer or Answer(True, by="test")

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self._answer


class Bench:
    """One session. `turn` runs a turn and keeps every event in `events`."""

    def __init__(
        self,
        model: Model,
        *tools: Tool,
        toolbox: Any = None,
        entries: Sequence[Entry] = (),
        mode: Any = "bypassPermissions",
        rules: RuleSet | None = None,
        hooks: HookSet | None = None,
        **kit: Any,
    ) -> None:
        self.model = model
        self.clock = FakeClock()
        self.log = MemoryLog(self.clock.now, entries)
        self.conversation = Conversation(entries)
        self.recorder = Recorder(self.log, self.conversation)
        self.inbox = Queue()
        self.events: list[Event] = []
        self.stages: list[str] = []
        self.on_event: Callable[[Event], None] = lambda event: None
        self.recorder.attach(self._deliver, self.events.append)
        self.kit = Kit(
            model=model,
            toolbox=toolbox or BenchTools(*tools),
            gate=Gatekeeper(
                Workspace("/p", ("/p",), "/home/u"), mode=mode, rules=rules, hooks=hooks
            ),
            inbox=self.inbox,
            clock=self.clock,
            desk=DeskMaker(BareShop("/p", MemoryHost({"/p/a.txt": "a"})), "s", {}),
            conversation=self.conversation,
            system=("Be brief.",),
            emit=self.recorder.emit,
            hint=self.recorder.hint,
            trace=lambda stage, what: self.stages.append(stage),
            **{"approver": Approving(), **kit},
        )

    async def _deliver(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)
        await asyncio.sleep(0)

    async def turn(self, prompt: str | tuple[UserBlock, ...] = "go", number: int = 1) -> TurnEnded:
        content = (Text(prompt),) if isinstance(prompt, str) else prompt
        return await run_turn(self.kit, content, number)

    def run(self, prompt: str = "go") -> TurnEnded:
        return asyncio.run(self.turn(prompt))

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]


def bench(*replies: Any, tools: Sequence[Tool] = (), **options: Any) -> Bench:
    """A bench whose model follows a script."""
    fields = {key: options.pop(key) for key in ("window", "max_output") if key in options}
    return Bench(ScriptedModel(*replies, **fields), *tools, **options)


def results(messages: Sequence[Message]) -> list[tuple[str, str, bool]]:
    """Every result in the order the model reads them: id, text, is it an error."""
    return [
        (
            block.call_id,
            "".join(p.text for p in block.content if isinstance(p, Text)),
            block.is_error,
        )
        for message in messages
        if isinstance(message, User)
        for block in message.content
        if isinstance(block, Result)
    ]


def check_valid(messages: Sequence[Message]) -> None:
    """I1 and its neighbours: what every provider demands of a history."""
    seen: set[str] = set()
    open_calls: list[str] = []
    for position, message in enumerate(messages):
        wanted = User if position % 2 == 0 else Assistant
        assert isinstance(message, wanted), f"message {position} is not of a {wanted.__name__}"
        assert message.content, f"message {position} is empty"
        if isinstance(message, User):
            answered = [b.call_id for b in message.content if isinstance(b, Result)]
            assert answered == open_calls, f"message {position} answers {answered}"
            first_other = next(
                (i for i, b in enumerate(message.content) if not isinstance(b, Result)), None
            )
            assert first_other is None or not any(
                isinstance(b, Result) for b in message.content[first_other:]
            ), "results come first"
            open_calls = []
        else:
            open_calls = [b.id for b in message.content if isinstance(b, Call)]
            assert not seen & set(open_calls), "an id came twice"
            assert len(set(open_calls)) == len(open_calls), "an id came twice"
            seen |= set(open_calls)
        for block in message.content:
            parts = block.content if isinstance(block, Result) else (block,)
            assert parts
            assert all(part.text.strip() for part in parts if isinstance(part, Text)), "blank text"
    assert not open_calls, "the last calls have no results"


def check_calls(entries: Sequence[Entry]) -> None:
    """Every started call ended, no call ended twice, ids unique.

    And what was done was done for an answer that is kept, so that no other can do it again.
    """
    started = [e.call_id for e in entries if isinstance(e, CallStarted)]
    ended = [e.call_id for e in entries if isinstance(e, CallEnded)]
    assert len(set(started)) == len(started)
    assert len(set(ended)) == len(ended)
    assert set(started) <= set(ended)
    kept = {
        block.id
        for entry in entries
        if isinstance(entry, Replied)
        for block in entry.content
        if isinstance(block, Call)
    }
    assert set(ended) <= kept


def compact_locally(
    entries: Sequence[Entry], *, keep: int = KEEP, before_tokens: int, reactive: bool = False
) -> Compacted | None:
    """A compaction as the loop makes it without a model; None when nothing is old enough."""
    boundary = boundary_of(entries, keep)
    if boundary is None:
        return None
    whole = restored(summary_of(boundary, entries), entries, boundary.kept)
    return Compacted(
        summary=whole.text,
        keeps_from=boundary.keeps_from,
        keeps=boundary.keeps,
        before_tokens=before_tokens,
        trigger="reactive" if reactive else "auto",
        depth=boundary.depth,
        lineage=boundary.lineage,
        restored=whole.added,
    )
