"""The ports to work that is given to others: subagents, and tasks that all share."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from detent.types.agents import AgentRecord, GroupEnded, Task

if TYPE_CHECKING:
    from typing import Protocol
else:  # as in ports/__init__.py
    Protocol = object


class Assignment(Struct, frozen=True, kw_only=True):
    """What a subagent is to do, and how; what is empty is left to its kind, then to its parent."""

    prompt: str
    kind: str = ""
    """Empty: the general one."""
    description: str = ""
    name: str = ""
    model: str = ""
    mode: str = ""
    """A permission mode: it may hold back more than the parent's, never less."""
    effort: str = ""
    isolation: Literal["", "worktree"] = ""
    at_end: Literal["", "merge", "keep", "discard"] = ""
    """What becomes of its worktree; empty: merged when it has done its work."""
    max_turns: int = 0
    resume: str = ""
    """An earlier agent or session that it goes on from."""
    with_context: bool = False
    """It knows what its parent knows."""
    group: str = ""
    index: int = 0
    siblings: int = 1
    """How many share the budget, where that is shared equally."""


class Agents(Protocol):
    """The subagents of one parent. None of these raises but `CannotDelegate`, with words for the
    model, before anything has begun."""

    async def run(
        self,
        assignment: Assignment,
        call_id: str,
        progress: Callable[[str], None],
        too_late: Callable[[], str] = str,
    ) -> AgentRecord:
        """Until it has ended, however. Cancelling ends it first. There may be no place for it yet:
        when there is, `too_late` gives the reason if it is not to begin any more, and this is
        raised."""

    def leave(self, call_id: str) -> bool:
        """The one that this call waits for works on in the background: `run` gives its record as
        it stands, with `background` set. False when there is none."""

    async def start(self, assignment: Assignment, call_id: str) -> AgentRecord:
        """In the background: its end arrives in the parent's inbox."""

    def goes_aside(self, kind: str) -> bool:
        """Whether those of this kind always work in the background."""

    def find(self, agent: str) -> AgentRecord | None:
        """By id or name: one of this parent's, also of an earlier run of the session."""

    def all(self) -> tuple[AgentRecord, ...]: ...
    async def wait(self, agent: str, seconds: float) -> AgentRecord:
        """Until it has ended or the time is up."""

    async def stop(self, agent: str) -> AgentRecord: ...
    async def send(self, agent: str, text: str) -> AgentRecord:
        """Heard before its next request; one that has ended goes on with it in the background."""

    def skip(self, assignment: Assignment, call_id: str, reason: str) -> AgentRecord:
        """It never begins: what it depends on was not done."""

    def give_up(self, assignment: Assignment, call_id: str, error: str) -> AgentRecord:
        """It cannot begin: nobody of that kind can be had now."""

    def end_group(self, ended: GroupEnded) -> None: ...
    def began_with(self, group: str) -> tuple[str, str]:
        """The id and the arguments of the call that began a group; empty when there is none."""


class CannotDelegate(Exception):
    """There is no such agent, it would be too deep, or the budget has none left."""


class AtWork(CannotDelegate):
    """One that is to go on has not ended, or is about to go on already."""


class TooLate(CannotDelegate):
    """It had to wait for a place, and is not wanted any more."""


class Tasks(Protocol):
    """The shared list. Every change is in the log before it is told."""

    def all(self) -> Sequence[Task]: ...
    async def create(self, subject: str, **given: Any) -> Task: ...
    async def change(self, task: str, by: str, **given: Any) -> Task:
        """Raises ValueError with words for the model."""
