"""What a session has spent, and on what: folded from its log. What was rewound was paid for too."""

from collections.abc import Sequence

from detent.context.account import Price, guessed, paid
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.budget import Budget, Spent
from detent.types.events import (
    Budgeted,
    CallStarted,
    Classified,
    Compacted,
    Entry,
    Estimated,
    Lost,
    Opened,
    Prompted,
    Replied,
    TurnEnded,
)
from detent.types.usage import Usage

PARTIAL = ("broken_off", "cancelled")
"""Stops of answers that were kept as far as they came: nobody may have charged for them."""
CATEGORIES = ("main", "compaction", "classifier", "aside", "subagents", "hooks", "failed")


class Books:
    """Entries are read once, in their order; a turn that never ended counts as far as it came."""

    def __init__(self, price: Price) -> None:
        self.budget = Budget()
        """What was kept last of what may be spent."""
        self.by: dict[str, Spent] = {}
        """By what it was for, without the answers of the running turn and without calls."""
        self._price = price
        self._answers: list[Replied | Lost] = []
        """Of the running turn."""
        self._begun = 0.0
        self._calls = 0
        self._beside: dict[str, Usage] = {}
        """Of the running turn, by model: what has an entry of its own."""
        self._calls_beside = 0
        self._others = 0
        """What a subagent knows of others was paid for by them: up to this entry."""
        self._read = 0

    def read(self, entries: Sequence[Entry]) -> "Books":
        for entry in entries[self._read :]:
            self._take(entry)
        self._read = len(entries)
        return self

    def spending(self) -> dict[str, Spent]:
        main = self.by.get("main", Spent()) + self._so_far() + Spent(calls=self._calls)
        found = self.by if main == Spent() else {**self.by, "main": main}
        return {name: found[name] for name in CATEGORIES if name in found}

    @property
    def total(self) -> Spent:
        return sum(self.spending().values(), Spent())

    def _take(self, entry: Entry) -> None:
        if 0 < entry.seq <= self._others:
            return
        match entry:
            case Opened() if entry.lineage is not None:
                self._others = entry.forked_at
            case Replied() | Lost(what="cut"):
                self._answers.append(entry)
            case CallStarted():
                self._calls += 1
            case Classified():
                self._book_beside("classifier", entry.model, entry.usage)
            case Lost():
                self._book_beside(entry.what, entry.model, entry.usage)
            case Estimated():
                self._book(entry.what, guessed(self._price, entry.model, entry.usage))
            case Compacted() if entry.usage != Usage():
                self._book_beside("compaction", entry.model, entry.usage)
            case AgentStarted():
                self._book("subagents", Spent(delegations=1))
            case AgentEnded():
                not_one = Spent(delegations=-1) if entry.never_began else Spent()
                self._book("subagents", entry.spent + not_one)
            case Prompted(steered=False):
                self._close(self._so_far())
                self._begun = entry.at
            case TurnEnded():
                self._end(entry)
            case Budgeted():
                self.budget = entry.budget
            case _:
                pass

    def _end(self, ended: TurnEnded) -> None:
        """It knows more than the entries: answers that were asked for again, attempts that failed.

        What has been said of the classifier and of summaries is in `lost` as well.
        """
        main = sum((self._paid(s.model, s.usage, s.stop) for s in ended.steps), Spent())
        failed, attempts = Spent(), ended.requests - main.requests - self._calls_beside
        for model, usage in ended.lost.items():
            known = self._beside.get(model, Usage())
            rest = Spent(usage=usage) - Spent(usage=known)
            if rest.usage != Usage():
                failed += self._paid(model, rest.usage) - Spent(requests=1)
        failed += Spent(requests=max(0, attempts))
        if failed != Spent():
            self._book("failed", failed)
        if ended.delegated != Spent():
            self._book("subagents", ended.delegated)
        counted = bool(ended.steps or ended.lost)
        self._close(main + Spent(turns=counted, seconds=ended.ms / 1000))

    def _close(self, main: Spent) -> None:
        if main != Spent():
            self._book("main", main)
        self._answers, self._beside, self._calls_beside = [], {}, 0

    def _book(self, what: str, spent: Spent) -> None:
        self.by[what] = self.by.get(what, Spent()) + spent

    def _book_beside(self, what: str, model: str, usage: Usage) -> None:
        self._book(what, self._paid(model, usage))
        self._beside[model] = self._beside.get(model, Usage()) + usage
        self._calls_beside += 1

    def _paid(self, model: str, usage: Usage, stop: str = "") -> Spent:
        if stop in PARTIAL and usage == Usage():
            return Spent()
        return paid(self._price, model, usage)

    def _so_far(self) -> Spent:
        """Of the running turn, or of one that never ended: then only answers tell the time."""
        if not self._answers:
            return Spent()
        cost = Spent()
        for answer in self._answers:
            cost += self._paid(answer.model, answer.usage, getattr(answer, "stop", ""))
        seconds = self._answers[-1].at - self._begun if self._begun else 0.0
        return cost + Spent(turns=1, seconds=max(0.0, seconds))
