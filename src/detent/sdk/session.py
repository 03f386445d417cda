"""A session: a conversation in a folder, one turn at a time. The public edge of the loop."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Self

from detent.app.clock import new_session_id as new_uuid
from detent.app.engine import Engine
from detent.app.options import Options
from detent.app.recorder import to_nobody
from detent.app.wire import assemble
from detent.context.account import Account
from detent.gate.terms import parse_mode
from detent.loop.turn import run_turn
from detent.ports import Job
from detent.sdk.channel import Channel
from detent.sdk.interactive import Interactive
from detent.sdk.summary import TurnSummary, summarise
from detent.types.budget import Budget, Spent, What
from detent.types.content import Text, UserBlock
from detent.types.errors import BadInput
from detent.types.events import Entry, Event, Notice, TurnEnded
from detent.types.messages import Task
from detent.types.usage import Usage

if TYPE_CHECKING:
    from detent.app.agents.kinds.record import AgentKind
    from detent.app.commands.record import TurnWishes
    from detent.app.settings.interface import InterfaceWishes
    from detent.context.books import Books
    from detent.context.memory.record import Piece
    from detent.sdk.compaction import Hear, Uncompacted
    from detent.sdk.subagents import AgentNode
    from detent.sdk.undo import Part, Point, Redone, Rewinding
    from detent.sdk.undo import Report as Undone
    from detent.types.agents import AgentRecord, GroupEnded
    from detent.types.events import Compacted
    from detent.types.ledger import ContextLedger

__all__ = ["Job", "LimitReached", "Prompt", "Session", "new_uuid", "parse_mode"]

Prompt = str | Sequence[UserBlock]


class LimitReached(Exception):
    """With `raise_on_limit`: the turn ended at a limit; `summary` holds what there is."""

    def __init__(self, summary: TurnSummary) -> None:
        super().__init__(summary.error)
        self.summary = summary


class Session(Interactive):
    """Use as `async with Session(options) as session`; leaving ends whatever still runs."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._engine: Engine = assemble(self.options)
        self._task: asyncio.Task[TurnEnded] | None = None
        self._channel: Channel | None = None
        self._books: Books | None = None
        self._kinds: tuple[AgentKind, ...] | None = None
        self._interrupted = False
        self._stoppable = False
        """The turn has begun, so that cancelling it leaves a trace of it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    @property
    def id(self) -> str:
        return self._engine.journal.session

    @property
    def path(self) -> str:
        """The log file; empty when the session is not saved."""
        return self._engine.journal.path

    @property
    def cwd(self) -> str:
        return self._engine.cwd

    @property
    def model(self) -> str:
        return self._engine.kit.model.name

    @property
    def mode(self) -> str:
        return self._engine.gate.mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self._engine.set_mode(mode)

    async def switch_model(self, name: str) -> None:
        """Another model from the next turn on."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        self._engine.recorder.attach(to_nobody, lambda event: None)
        await self._engine.begin()
        await self._engine.switch_model(name)

    @property
    def prompt(self) -> str:
        """The system prompt as people read it, with the marker where the session's own begins."""
        from detent.context.prompt import shown

        return shown(self._engine.kit.system)

    @property
    def interface(self) -> "InterfaceWishes":
        """How a terminal is to look and to behave, as the settings say."""
        from detent.app.settings.interface import InterfaceWishes

        return self._engine.grounds.settings.interface or InterfaceWishes()

    @property
    def output_style(self) -> str:
        """As the settings say it, whether there is such a style or not."""
        return self._engine.prompt.style

    async def set_output_style(self, name: str) -> None:
        """Another style from the next turn on. Raises BadInput where there is none of that name."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.styles import restyle

        restyle(self._engine, name)

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self._engine.kit.toolbox.specs())

    @property
    def agents(self) -> "tuple[AgentKind, ...]":
        """The agents that there are; each can be given work."""
        if self._kinds is None:
            from detent.app.agents.kinds.finding import kinds_of

            kinds = self._engine.kinds or kinds_of(self._engine.grounds)
            self._kinds = kinds.all()
        return self._kinds

    @property
    def subagents(self) -> "tuple[AgentRecord, ...]":
        """Those that were given work, as they are now; in earlier runs of the session, too."""
        from detent.sdk.subagents import records

        return records(self._engine)

    @property
    def at_work(self) -> "tuple[AgentRecord, ...]":
        """Those of them that work at this moment; they end with the session."""
        staff = self._engine.staff
        if staff is None or not staff.is_busy:
            return ()
        return tuple(one for one in staff.all() if one.state == "running")

    async def agent_tree(self) -> "tuple[tuple[AgentNode, ...], tuple[GroupEnded, ...]]":
        """The same with all who worked for them, and the groups that have ended."""
        from detent.sdk.subagents import tree

        return await tree(self._engine)

    async def stop_agent(self, agent: str) -> "AgentRecord":
        """By id or name. Whoever it works for is told. Raises BadInput."""
        from detent.sdk.subagents import stop

        return await stop(self._engine, agent)

    async def stop_task(self, task: str) -> None:
        """The same for whatever works in the background: an agent, or a job by its id."""
        jobs = {job.id for job in self.jobs}
        if task in jobs:
            await self._engine.shop.jobs.stop(task)
        else:
            await self.stop_agent(task)

    async def message_agent(self, agent: str, text: str) -> "AgentRecord":
        """Heard before its next request; one that has ended goes on with it. Raises BadInput."""
        from detent.sdk.subagents import send

        return await send(self._engine, agent, text)

    def wait_no_longer(self) -> None:
        """A turn that has nothing left but to wait for agents in the background ends now; they
        go on."""
        self._engine.inbox.is_patient = False
        self._engine.inbox.stir()

    @property
    def entries(self) -> Sequence[Entry]:
        return self._engine.journal.log.entries

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Background jobs of this run; those whose `exit_code` is None end with the session, but
        for those that are `kept`: of an earlier run, too."""
        return self._engine.shop.jobs_of_this_run

    async def memory(self) -> "tuple[Piece, ...]":
        """Memory files: whether the model reads each, and why; as the disk is now."""
        return await self._engine.memory.remembering.pieces()

    @property
    def memory_off(self) -> str:
        """Why files that `memory` does not name are not read, if there are any."""
        return self._engine.memory.remembering.off

    @property
    def usage(self) -> Usage:
        """Tokens of the whole session, earlier runs of it included."""
        return self.spent.usage

    @property
    def account(self) -> Account:
        """Others may draw on it: `Options(account=…)`."""
        return self._engine.kit.account

    @property
    def budget(self) -> Budget:
        """What the session may spend in all. Another one counts at once, also for a turn that
        runs, and is kept with the session. Raises BadInput for one that cannot be kept."""
        return self.account.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._engine.set_budget(budget)

    @property
    def spent(self) -> Spent:
        """Of the whole session, earlier runs of it and what draws on its account included."""
        return self.account.spent

    def left(self) -> dict[What, float]:
        """Of what is limited, by this account or one that it draws on."""
        return self.account.left()

    def spending(self) -> dict[str, Spent]:
        """The same by what it was for: main, compaction, classifier, aside, subagents, failed."""
        if self._books is None:
            from detent.context.books import Books

            self._books = Books(self._engine.kit.price)
        return self._engine.spending(self._books.read(self.entries))

    @property
    def task(self) -> Task | None:
        """What the model is told that it has for all of its work."""
        task = self._engine.kit.task
        return None if task is None else task.now(self.entries)

    @property
    def prices_date(self) -> str:
        """How old our knowledge of prices is."""
        from detent.models.catalog import catalog

        return catalog().date

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def price(self, model: str, usage: Usage) -> float | None:
        """Dollars; None when the price of the model is unknown."""
        return self._engine.kit.price(model, usage)

    def bounds(self, model: str) -> tuple[int, int]:
        """Window and output limit of a model, as far as they are known."""
        mine = self._engine.kit.model
        if model == mine.name:
            return mine.window, mine.max_output
        facts = self._engine.facts(model)
        return facts.window, facts.max_output

    def context(self, step: int = 0) -> "ContextLedger":
        """Every block of the next request, or of the one for this answer. Asks nobody."""
        from detent.app.ledger import ledger_of

        return ledger_of(self._engine, step)

    async def compact(self, instructions: str = "", hear: "Hear" = to_nobody) -> "Compacted | None":
        """Tells what is old in short, now; None when nothing could be made shorter, or a hook did
        not want it. `hear` gets what happens meanwhile."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.compaction import compact_now

        return await compact_now(self._engine, instructions, hear)

    async def uncompact(self, *, last: bool = False) -> "Uncompacted":
        """What compactions and trims had left out is read again; with `last`, of the latest."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.compaction import uncompact_now

        return await uncompact_now(self._engine, last=last)

    async def undo(
        self, step: int = 0, *, turn: bool = False, merge: bool = False, dry_run: bool = False
    ) -> "Undone":
        """Puts files back to what they were before the last step that changed any, before `step`,
        or with `turn` before the last prompt. What somebody changed since stays as it is, unless
        with `merge` both changes fit together. Raises BadInput."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.undo import Wish, undo_now

        wish = Wish(step=step, turn=turn, merges=merge)
        return await undo_now(self._engine, wish, dry_run=dry_run)

    async def redo(self) -> "Redone":
        """Takes back the last undo or rewind."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.undo import redo_now

        return await redo_now(self._engine)

    async def rewind(
        self, prompt: int, part: "Part" = "both", *, dry_run: bool = False
    ) -> "Rewinding":
        """Goes back to before this prompt (see `points`): the chat, the files, or both."""
        if self.is_running:
            raise RuntimeError("a turn is running")
        from detent.sdk.undo import rewind_now

        return await rewind_now(self._engine, prompt, part, dry_run=dry_run)

    def points(self) -> "tuple[Point, ...]":
        """The prompts that one can go back to."""
        from detent.sdk.undo import points

        return points(self.entries)

    async def send(
        self, prompt: Prompt, *, uuid: str = "", wishes: "TurnWishes | None" = None
    ) -> AsyncGenerator[Event, None]:
        """One turn as events, `TurnEnded` last. Closing the iterator ends the turn first. `uuid` is
        what the caller calls the prompt; `wishes` hold for this turn alone."""
        if self.is_running:
            raise RuntimeError("a turn is running; steer() adds to it")
        channel = self._channel = Channel()
        self._engine.recorder.attach(channel.put, channel.offer)
        self._interrupted = self._stoppable = False
        self._engine.inbox.is_patient = True
        task = self._task = asyncio.create_task(self._turn(_blocks(prompt), uuid, wishes))
        task.add_done_callback(lambda task: channel.end())
        try:
            while (event := await channel.get()) is not None:
                yield event
            await self._outcome(task)
        finally:
            channel.close()
            await _ended(task)

    async def run_turn(self, prompt: Prompt) -> TurnSummary:
        """One turn as its summary."""
        events = [event async for event in self.send(prompt)]
        summary = summarise(events)
        if self.options.raise_on_limit and summary.reason in ("max_turns", "budget_exceeded"):
            raise LimitReached(summary)
        return summary

    def steer(self, prompt: Prompt) -> None:
        """Say something while a turn runs: it is heard before the next request."""
        self._engine.inbox.put(_blocks(prompt))

    def interrupt(self) -> bool:
        """End the running turn; its reader still gets `TurnEnded`. False when none runs."""
        if not self.is_running or self._task is None:
            return False
        if not self._interrupted and self._stoppable:
            self._task.cancel()
        self._interrupted = True
        return True

    @property
    def parting(self) -> Sequence[Event]:
        """What hooks had to say when the session was closed, and nobody read any more."""
        return self._engine.parting

    async def aclose(self) -> None:
        self._interrupted = True  # nobody cancelled the reader: its iterator just ends
        if self._channel is not None:
            self._channel.close()  # whoever waits for a reader need not any longer
        if self._task is not None:
            await _ended(self._task)
        await self._engine.aclose()

    def news(self) -> list[Notice]:
        """What people should know of how the session was opened, once: a turn begins with it."""
        engine = self._engine
        notices, engine.notices = engine.notices, []
        hints, engine.hints = engine.hints, ()
        return [*(Notice(text, "warning") for text in notices), *map(Notice, hints)]

    async def _turn(
        self, content: tuple[UserBlock, ...], uuid: str, wishes: "TurnWishes | None" = None
    ) -> TurnEnded:
        engine = self._engine
        if wishes is not None:
            from detent.app.commands.granting import granted

            async with granted(engine, wishes):
                return await self._turn(content, uuid)
        if engine.journal.is_new and (words := engine.grounds.first_words):
            content = (Text(words), *content)
        await engine.begin()
        for notice in self.news():
            await engine.recorder.emit(notice)
        self._stoppable = True
        if self._interrupted and self._task is not None:
            self._task.cancel()  # it takes effect at the first wait, where the turn expects it
        return await run_turn(engine.kit, content, engine.turns + 1, uuid)

    async def _outcome(self, task: asyncio.Task[TurnEnded]) -> None:
        """A bug in the turn surfaces at the reader; an interrupt does not."""
        try:
            await task
        except asyncio.CancelledError:
            if not self._interrupted:
                raise


async def _ended(task: asyncio.Task[TurnEnded]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])


def _blocks(prompt: Prompt) -> tuple[UserBlock, ...]:
    """A blank prompt would leave the model without a message to answer."""
    blocks = (Text(prompt),) if isinstance(prompt, str) else tuple(prompt)
    if all(isinstance(block, Text) and not block.text.strip() for block in blocks):
        raise BadInput("the prompt is empty")
    return blocks
