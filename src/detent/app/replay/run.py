"""One run of the program in a replay: its conversation, its account, its kit."""

from collections.abc import Sequence
from typing import Any

from msgspec import convert

from detent.app.replay.calls import Calls
from detent.app.replay.desk import RecordedDesks
from detent.app.replay.gate import RecordedGate
from detent.app.replay.model import RecordedModel
from detent.app.replay.surroundings import (
    NobodyAsked,
    RecordedClock,
    RecordedInbox,
    RecordedReminders,
)
from detent.app.replay.tape import Tape
from detent.app.replay.toolbox import RecordedTools
from detent.context.account import Account, guessed, paid
from detent.context.books import Books
from detent.context.conversation import Conversation
from detent.context.shaping import Shaping
from detent.context.task_budget import TaskBudget
from detent.loop.kit import Kit
from detent.loop.limits import Limits
from detent.models.catalog import ModelFacts
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget, Spent
from detent.types.events import (
    Budgeted,
    Classified,
    Compacted,
    Entry,
    Estimated,
    Lost,
    TurnEnded,
)
from detent.types.running import Equipped
from detent.types.usage import Usage

UNKNOWN = ModelFacts()


class Run:
    """From where the program was started to where it ended."""

    def __init__(self, tape: Tape, equipped: Equipped, before: Sequence[Entry]) -> None:
        self._tape = tape
        terms = equipped.terms
        self.conversation = Conversation(before, terms.get("family", "claude"))
        self._facts: dict[str, ModelFacts] = {}
        for entry in (*before, equipped):
            if isinstance(entry, Equipped):
                self._learn(entry)
        self.account = Account(
            convert(terms.get("budget") or {}, Budget),
            spent=Books(self.price).read(before).total,
        )
        self.desks = RecordedDesks(tape)
        self._ids: list[str] = []
        self.clock = RecordedClock(tape, self._ids)
        self.gate = RecordedGate(tape)
        self.equip(equipped)

    def equip(self, equipped: Equipped) -> None:
        """From here on; the conversation and the account stay what they are."""
        tape, terms = self._tape, equipped.terms
        self.conversation.base = terms.get("base", 0)
        self._learn(equipped)
        self.model = RecordedModel(
            tape, equipped, lambda: self.conversation.is_compacting, self._ids
        )
        self.tools = RecordedTools(tape, equipped, self.desks)
        limits: dict[str, Any] = {**terms.get("limits", {}), "tool_seconds": {}}
        task = terms.get("task")
        self.kit = Kit(
            model=self.model,
            toolbox=self.tools,
            gate=self.gate,
            approver=NobodyAsked(),
            inbox=RecordedInbox(tape),
            clock=self.clock,
            desk=self.desks,
            conversation=self.conversation,
            system=equipped.system,
            emit=tape.emit,
            hint=tape.hint,
            reminders=RecordedReminders(tape),
            checkpoints=self.gate.calls,
            limits=convert(limits, Limits),
            shaping=convert(terms.get("shaping", {}), Shaping),
            price=self.price,
            account=self.account,
            task=TaskBudget(task) if task else None,
            measure=self.clock.measured,
            form=terms.get("form") or "",
        )

    def _learn(self, equipped: Equipped) -> None:
        prices = equipped.terms.get("prices") or {}
        self._facts |= convert(prices, dict[str, ModelFacts])

    def price(self, model: str, usage: Usage) -> float | None:
        return self._facts.get(model, UNKNOWN).cost(usage)

    def begin(self, calls: Calls, begun: float) -> None:
        """A turn, with the calls that it made."""
        self.gate.calls = self.tools.calls = self.desks.calls = self.clock.calls = calls
        self.gate.held, self.tools.held = [], []
        self.clock.begun, self.model.answers = begun, 0
        self._ids.clear()

    def take(self, entry: Entry, made: Entry | None) -> None:
        self.conversation.add(entry)
        if isinstance(entry, Budgeted):
            self.account.budget = entry.budget
        elif made is None:
            self._pay(entry)
        elif isinstance(entry, TurnEnded) and not self._tape.early:
            self.delegate(entry)
        elif isinstance(made, Estimated) and isinstance(entry, Estimated):
            now, then = (guessed(self.price, e.model, e.usage) for e in (made, entry))
            self.account.spend(then - now)  # of an answer that nobody kept

    def recount(self, before: Sequence[Entry]) -> None:
        """Behind a turn that was not played."""
        self.account.spent = Books(self.price).read(before).total

    def delegate(self, ended: TurnEnded) -> None:
        """What others have spent of the account."""
        if ended.delegated != Spent():
            self.account.child().spend(ended.delegated)
            self.account.news()

    def _pay(self, entry: Entry) -> None:
        """What was asked for beside the loop."""
        match entry:
            case Classified() | Lost() | Compacted() if entry.usage != Usage():
                self.account.spend(paid(self.price, entry.model, entry.usage))
            case Estimated():
                self.account.spend(paid(self.price, entry.model, entry.usage))
                self.account.spend(Spent(estimated=entry.usage.total))
            case AgentStarted():
                self.account.spend(Spent(delegations=1))
            case AgentEnded():
                never_began = Spent(delegations=-1) if entry.state == "skipped" else Spent()
                self.account.spend(never_began)
                self.account.child(within=True).spend(entry.spent)
            case _:
                pass
