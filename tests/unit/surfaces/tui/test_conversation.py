"""The conversation over a session that does as it is told: what runs, what waits, what is heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from detent.surfaces.tui.conversation import Conversation, Job
from detent.types.budget import Spent
from detent.types.content import Text, UserBlock
from detent.types.errors import BadInput
from detent.types.events import Event, Prompted, Replied, TurnEnded
from detent.types.usage import Usage
from terminalbench import Written, settle, staged

Content = tuple[UserBlock, ...]


def words(content: Content) -> str:
    return "+".join(block.text for block in content if isinstance(block, Text))


class Session:
    """A turn lasts until `end`; steering is heard when `hear` says so."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.inbox: list[Content] = []
        self.spent = Spent()
        self._events: asyncio.Queue[Event] | None = None

    @property
    def is_running(self) -> bool:
        return self._events is not None

    async def send(self, content: Content, *, wishes: Any = None) -> AsyncIterator[Event]:
        self.sent.append(words(content))
        self._events = asyncio.Queue()
        try:
            yield Prompted(turn=1, content=content)
            while True:
                event = await self._events.get()
                yield event
                if isinstance(event, TurnEnded):
                    return
        finally:
            self._events = None

    def say(self, event: Event) -> None:
        assert self._events is not None, "no turn runs"
        self._events.put_nowait(event)

    def end(self, reason: Any = "end_turn") -> None:
        self.say(TurnEnded(turn=1, reason=reason))

    def steer(self, content: Content) -> None:
        self.inbox.append(content)

    def hear(self) -> None:
        """The loop takes all of it, each as an entry."""
        for content in self.take_back():
            self.say(Prompted(turn=1, content=content, steered=True))

    def take_back(self) -> tuple[Content, ...]:
        taken, self.inbox = tuple(self.inbox), []
        return taken

    def interrupt(self) -> bool:
        if self._events is None:
            return False
        self.end("user_cancelled")
        return True


class Bench:
    def __init__(self) -> None:
        self.session = Session()
        self.stage, self.terminal, self.box = staged(Written(80, 30))
        self.conversation = Conversation(self.session, self.stage)  # type: ignore[arg-type]
        self.back: list[str] = []
        self.conversation.give_back = self.back.append

    def turn(self, text: str) -> None:
        self.conversation.turn(text, (Text(text),))

    def steer(self, text: str) -> None:
        self.conversation.steer(text, (Text(text),))

    @property
    def screen(self) -> str:
        self.stage.paint()
        return self.terminal.screen


def play(body: Callable[[Bench], Awaitable[None]]) -> None:
    async def whole() -> None:
        bench = Bench()
        await body(bench)
        await bench.conversation.aclose()
        await settle()
        assert not bench.conversation.is_busy
        bench.stage.leave()

    asyncio.run(whole())


def test_jobs_run_one_at_a_time_and_in_order() -> None:
    async def body(bench: Bench) -> None:
        began: list[str] = []
        gates = {name: asyncio.Event() for name in "abc"}

        def job(name: str) -> Job:
            async def run() -> None:
                began.append(name)
                await gates[name].wait()

            return Job(name, run, f"doing {name}")

        for name in "abc":
            bench.conversation.do(job(name))
        await settle()
        assert began == ["a"] and bench.conversation.label == "doing a"
        assert bench.conversation.queued == ("↳ after this turn: b", "↳ after this turn: c")
        gates["a"].set()
        await settle()
        assert began == ["a", "b"]
        gates["b"].set()
        gates["c"].set()
        await settle()
        assert began == ["a", "b", "c"] and not bench.conversation.is_busy
        assert bench.conversation.label == ""

    play(body)


def test_what_is_said_while_a_turn_runs_is_heard_in_it() -> None:
    async def body(bench: Bench) -> None:
        bench.turn("first")
        await settle()
        bench.steer("and this")
        assert bench.conversation.queued == ("↳ after this call: and this",)
        bench.session.hear()
        await settle()
        assert bench.conversation.queued == ()
        assert "+ and this" in bench.screen
        bench.session.end()
        await settle()
        assert bench.session.sent == ["first"], "it was no turn of its own"

    play(body)


def test_where_no_turn_runs_steering_is_one() -> None:
    async def body(bench: Bench) -> None:
        bench.steer("go")
        await settle()
        assert bench.session.sent == ["go"] and bench.session.inbox == []
        bench.session.end()

    play(body)


def test_steering_that_nobody_heard_begins_the_next_turns_before_what_is_queued() -> None:
    async def body(bench: Bench) -> None:
        bench.turn("first")
        bench.turn("queued")
        await settle()
        bench.steer("late")
        bench.steer("later")
        bench.session.end()
        await settle()
        assert bench.session.sent == ["first", "late"]
        bench.session.end()
        await settle()
        assert bench.session.sent == ["first", "late", "later"]
        bench.session.end()
        await settle()
        assert bench.session.sent == ["first", "late", "later", "queued"]
        bench.session.end()

    play(body)


def test_the_last_that_waits_is_taken_back_first() -> None:
    async def body(bench: Bench) -> None:
        bench.turn("first")
        bench.turn("queued")
        await settle()
        bench.steer("one")
        bench.steer("two")
        assert bench.conversation.take_back() == "queued"
        assert bench.conversation.take_back() == "two"
        assert [words(content) for content in bench.session.inbox] == ["one"], "still to be heard"
        assert bench.conversation.queued == ("↳ after this call: one",)
        assert bench.conversation.take_back() == "one"
        assert bench.conversation.take_back() == ""
        bench.session.end()
        await settle()
        assert bench.session.sent == ["first"]

    play(body)


def test_what_is_being_heard_can_no_longer_be_taken_back() -> None:
    """The loop has taken it; its entry is on the way."""

    async def body(bench: Bench) -> None:
        bench.turn("first")
        await settle()
        bench.steer("one")
        bench.session.hear()
        assert bench.conversation.take_back() == ""
        await settle()
        assert bench.conversation.queued == ()
        bench.session.end()

    play(body)


def test_an_interrupt_gives_back_whatever_waits() -> None:
    async def body(bench: Bench) -> None:
        assert not bench.conversation.interrupt(), "nothing runs"
        bench.turn("first")
        bench.turn("queued")
        await settle()
        bench.steer("steered")
        assert bench.conversation.interrupt()
        await settle()
        assert bench.back == ["steered\nqueued"]
        assert bench.session.sent == ["first"] and not bench.conversation.is_busy
        assert "interrupted" in bench.screen
        assert bench.conversation.queued == () and bench.session.inbox == []

    play(body)


def test_a_job_that_is_no_turn_is_cancelled() -> None:
    async def body(bench: Bench) -> None:
        ended: list[str] = []

        async def run() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("ended")

        bench.conversation.do(Job("/slow", run, "/slow"))
        await settle()
        assert bench.conversation.interrupt()
        await settle()
        assert ended == ["ended"] and not bench.conversation.is_busy
        assert "Interrupted." in bench.screen

    play(body)


@pytest.mark.parametrize("error", [BadInput("no such model"), ValueError("a slip of ours")])
def test_what_goes_wrong_is_told_and_the_next_job_runs(error: Exception) -> None:
    async def body(bench: Bench) -> None:
        async def run() -> None:
            raise error

        bench.conversation.do(Job("/x", run))
        bench.turn("next")
        await settle()
        assert str(error) in bench.screen
        assert bench.session.sent == ["next"]
        bench.session.end()

    play(body)


def test_a_turn_that_breaks_off_leaves_nothing_at_work() -> None:
    async def body(bench: Bench) -> None:
        bench.turn("first")
        await settle()
        bench.session.say(ValueError("not an event"))  # type: ignore[arg-type]
        bench.conversation.hear = _breaks  # type: ignore[method-assign]
        await settle()
        assert not bench.stage.view.is_running and not bench.conversation.is_busy
        assert "esc to interrupt" not in bench.screen

    def _breaks(event: Event) -> None:
        raise ValueError("broken")

    play(body)


def test_notes_go_with_the_next_prompt_only() -> None:
    async def body(bench: Bench) -> None:
        bench.conversation.note(Text("<shell>\nls"))
        bench.turn("look")
        await settle()
        bench.session.end()
        bench.turn("again")
        await settle()
        bench.session.end()
        await settle()
        assert bench.session.sent == ["<shell>\nls+look", "again"]

    play(body)


def test_a_turn_tells_what_it_has_cost() -> None:
    async def body(bench: Bench) -> None:
        bench.session.spent = Spent(dollars=1.0)
        bench.turn("first")
        await settle()
        bench.session.say(
            Replied(turn=1, step=1, model="m", content=(), stop="", usage=Usage(70, 30))
        )
        bench.session.spent = Spent(dollars=1.25)
        bench.session.end()
        await settle()
        assert "$0.2500" in bench.screen
        assert bench.conversation.context == 100

    play(body)


def test_the_end_is_told_to_who_wants_to_know() -> None:
    async def body(bench: Bench) -> None:
        heard: list[str] = []

        async def on_end(ended: TurnEnded) -> None:
            heard.append(ended.reason)

        bench.conversation.on_end = on_end
        bench.turn("first")
        await settle()
        bench.session.end()
        await settle()
        assert heard == ["end_turn"]

    play(body)


def test_who_leaves_begins_nothing_more() -> None:
    """Not even with what was said and nobody has heard."""

    async def whole() -> None:
        bench = Bench()
        bench.turn("first")
        bench.turn("queued")
        await settle()
        bench.steer("unheard")
        await bench.conversation.aclose()
        await settle()
        assert bench.session.sent == ["first"] and not bench.session.is_running
        assert not bench.conversation.is_busy
        bench.stage.leave()

    asyncio.run(whole())
