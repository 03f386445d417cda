"""A session that runs: how it begins, what is changed about it meanwhile, how it ends."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.desk import KeptFiles
from detent.app.equipping import Equipment
from detent.app.gating import (
    HOLDING,
    permitted_mode,
    quiet_facts,
)
from detent.app.grounds import Grounds
from detent.app.inbox import Queue
from detent.app.journal import Journal, opening
from detent.app.models import facts_of
from detent.app.options import Options
from detent.app.recorder import Recorder, to_nobody
from detent.app.reminders import MemoryFiles
from detent.app.workshop import Shop
from detent.gate.gate import Gatekeeper
from detent.loop.kit import Kit
from detent.ports import Model, Toolbox
from detent.types.budget import Budget, Spent
from detent.types.events import Budgeted, Entry, Event, Notice, Switched, TurnEnded
from detent.types.running import Named

if TYPE_CHECKING:
    from detent.app.agents.kinds.record import Kinds
    from detent.app.agents.staff import Staff
    from detent.app.git_state import Git
    from detent.app.prompting import Prompt
    from detent.context.books import Books


class Engine:
    """A wired session: the kit of its turns, and the parts a session steers them with."""

    memory: MemoryFiles
    git: "Git | None" = None
    """Asked ahead; what nobody came to want is ended with the session."""
    staff: "Staff | None" = None
    """The subagents that it has set to work, once it has."""
    prompt: "Prompt"
    """A session's; agents have one that stays."""
    tools: Toolbox
    """All that it may use, whatever of them the model is shown."""

    def __init__(
        self,
        grounds: Grounds,
        kit: Kit,
        journal: Journal,
        recorder: Recorder,
        inbox: Queue,
        gate: Gatekeeper,
        shop: Shop,
    ) -> None:
        self.kit = kit
        self.journal = journal
        self.recorder = recorder
        self.inbox = inbox
        self.gate = gate
        self.shop = shop
        self.notices: list[str] = [*journal.notices, *grounds.settings.notices]
        self.hints: tuple[str, ...] = (*grounds.settings.hints, *quiet_facts(grounds))
        self.facts = facts_of(grounds.settings)
        """What is known of a model by its name."""
        self._equipment = Equipment(self.facts, grounds.settings.auto_model)
        self.unended = Spent()
        """By agents of the run before whose end is not in the log yet: their logs know it."""
        self.parting: list[Event] = []
        """What was to be told when nobody read any more: hooks at the end of the session."""
        self.grounds = grounds
        self._options = grounds.options
        self._named, self._names_read = "", 0
        """The last name in the log, and how many entries were looked at for it."""
        self._is_sandbox_checked = False
        self._left: list[Model] = []
        self._goes_on = bool(journal.log.entries)
        """Nothing was written yet of a session that was there before."""
        self._kept = _kept_budget(journal.log.entries)
        """What the log says that may be spent."""
        if grounds.tape is not None:
            grounds.tape.tell = lambda text: recorder.hint(Notice(text, "error"))

    def spending(self, books: "Books") -> dict[str, Spent]:
        """What the books of its log say, and what is not in them yet."""
        found = books.spending()
        if self.unended != Spent():
            found["subagents"] = found.get("subagents", Spent()) + self.unended
        return found

    def set_budget(self, budget: Budget) -> None:
        """Counts at once. A turn that runs does not wait for it to be read."""
        from detent.app.budgeting import checked, permitted

        model = self.kit.model
        budget = permitted(budget, self._options, self.grounds.settings)
        budget = checked(budget, getattr(model, "names", (model.name,)), self.kit.price)
        self.kit.account.budget = budget
        if not self.journal.is_new and self.kit.account.budget != self._kept:
            self._kept = self.kit.account.budget
            self.recorder.record(Budgeted(budget=self._kept))

    def set_mode(self, mode: str) -> None:
        self.gate.mode = permitted_mode(mode, self.grounds.settings)

    @property
    def kinds(self) -> "Kinds | None":
        """Of agents that it can start."""
        return self.prompt.kinds

    @property
    def cwd(self) -> str:
        return self.shop.cwd

    async def switch_model(self, name: str) -> None:
        """Another model from the next turn on; the log says so."""
        await self._reopen(replace(self._options, model=name))
        await self.recorder.emit(Switched(model=self.kit.model.name))

    async def set_thinking(self, budget: int | None) -> None:
        """Another budget for thinking from the next turn on."""
        await self._reopen(replace(self._options, thinking_budget=budget))

    async def set_effort(self, level: str) -> None:
        """Another effort from the next turn on; empty is what the settings say."""
        from detent.app.wishes import check_effort

        check_effort(level)
        await self._reopen(replace(self._options, effort=level))

    @property
    def effort(self) -> str:
        """Empty where the provider decides."""
        from detent.app.wishes import effort_of

        return effort_of(self._options, self.grounds.settings)

    @property
    def thinking_budget(self) -> int | None:
        """In tokens; None where nobody says."""
        wished = self._options.thinking_budget
        return self.grounds.settings.thinking_budget if wished is None else wished

    @property
    def name(self) -> str:
        """What people call the session, or will with its first entry. Asked for often: each entry
        is looked at once."""
        entries = self.journal.log.entries
        for at in range(self._names_read, len(entries)):
            if isinstance(entry := entries[at], Named):
                self._named = entry.name
        self._names_read = len(entries)
        return self._options.name or self._named

    def set_name(self, name: str) -> None:
        """A session without an entry gets it with the first."""
        if self.journal.is_new:
            self._options = replace(self._options, name=name)
        elif name != self.name:
            self.recorder.record(Named(name=name))

    async def _reopen(self, options: Options) -> None:
        priced = replace(options, max_budget_usd=self.kit.account.budget.dollars)
        model, old = self.grounds.model(priced), self.kit.model
        self._options, self.kit = options, replace(self.kit, model=model)
        if model is not old:  # a model of the caller's own making stays what it is
            self._left.append(old)
            await self._close_left()

    def model_for(self, name: str, effort: str) -> Model:
        """Another model, or the same with another effort: for a while. Raises BadInput, NoModel."""
        wished = replace(self._options, max_budget_usd=self.kit.account.budget.dollars)
        if name:
            wished = replace(wished, model=name)
        return self.grounds.model(replace(wished, effort=effort or wished.effort))

    @asynccontextmanager
    async def lent_model(self, model: Model) -> AsyncIterator[None]:
        """The turn in it is this model's, of a session that has begun. What was chosen for that
        stays chosen."""
        usual = self.kit.model
        if model is usual:
            yield
            return
        self.kit = replace(self.kit, model=model)
        is_other = model.name != usual.name
        try:
            if is_other:
                await self.recorder.emit(Switched(model=model.name, once=True))
            yield
        finally:
            self.kit = replace(self.kit, model=usual)
            self._left.append(model)
            if is_other:
                self.recorder.note(Switched(model=usual.name, once=True))
            await self._close_left()

    async def _close_left(self) -> None:
        """Models that were left for another one, as soon as no subagent speaks with them."""
        if self.staff is not None and self.staff.is_busy:
            return
        while self._left:
            await self._left.pop().aclose()

    @property
    def turns(self) -> int:
        return sum(isinstance(entry, TurnEnded) for entry in self.journal.log.entries)

    async def begin(self) -> None:
        """The first entry is written with the first prompt, not before."""
        await self._check_sandbox()
        was_there = not self.journal.is_new
        if self.journal.is_new:
            self.journal.is_new = False
            journal = self.journal
            await self.recorder.emit(opening(journal.session, self.cwd, journal.lineage))
        if (equipped := self._equipment.news(self.kit)) is not None:
            await self.recorder.emit(equipped)  # the first of a run, so that a replay knows one
        if self._options.name:
            await self._take_name()
        if self._goes_on:
            await self._go_on()
        if self.kit.account.budget != self._kept:
            self._kept = self.kit.account.budget
            await self.recorder.emit(Budgeted(budget=self._kept))
        if was_there or self.gate.mode in HOLDING:
            from detent.app.kept_choices import new_mode

            if (switched := new_mode(self.gate.mode, self.journal.log.entries)) is not None:
                self.recorder.note(switched)

    async def _take_name(self) -> None:
        from detent.app.sessions.names import newly_named

        named = newly_named(self._options.name, self.journal.log.entries)
        self._options = replace(self._options, name="")
        if named is not None:
            await self.recorder.emit(named)

    async def _go_on(self) -> None:
        """What the run before has left behind is seen to first."""
        from detent.app.resuming import mend

        self._goes_on = False
        self.shop.take_up_jobs()
        await mend(self)
        if self._options.resume_at:
            from detent.app.truncating import truncate

            await truncate(self)

    async def _check_sandbox(self) -> None:
        """Before anything happens, where the user insists on one or goes by it; else it is tried
        with the first command. Raises BadInput."""
        wishes, flag = self.grounds.settings.sandbox, self._options.sandbox
        insists = flag in ("bwrap", "landlock") or (wishes is not None and wishes.is_required)
        goes_by = wishes is not None and wishes.auto_allow
        if not (insists or goes_by) or self._is_sandbox_checked:
            return
        from detent.app.sandboxing import checked, wishes_of

        self._is_sandbox_checked = True
        backend = await checked(self.shop.confinement.sandbox, wishes_of(self.grounds))
        self.gate.trusts_sandbox = goes_by and backend != "none"

    async def aclose(self) -> None:
        if self.git is not None:
            self.git.end()
        try:
            self.recorder.attach(to_nobody, self.parting.append)
            if self.staff is not None:
                await self.staff.aclose()
            if self.gate.has_opened and self.gate.hears("session_ended"):
                from detent.app.hooking import say_goodbye

                await say_goodbye(self.gate, self.recorder)
            await self.gate.aclose()
            if self.gate.classifier is not None:
                await self.gate.classifier.aclose()
            await self.shop.aclose()
            if isinstance(self.kit.checkpoints, KeptFiles):
                self.kit.checkpoints.close()
        finally:
            await self._close_left()
            await self.kit.model.aclose()
            if (trouble := await self.recorder.settle()) is not None:
                self.parting.append(trouble)
            self.journal.close()


def _kept_budget(entries: Sequence[Entry]) -> Budget:
    kept = (entry.budget for entry in reversed(entries) if isinstance(entry, Budgeted))
    return next(kept, Budget())
