"""What subagents were refused: part of what the user has to know of a turn."""

from detent.types.content import Call
from detent.types.events import CallEnded, Event, Replied
from detent.types.outcomes import Refused


class RefusedBelow:
    """A call and the answer that it stands in may come in any order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, CallEnded]] = []
        """With the agent."""
        self._asked: dict[tuple[str, str], str] = {}
        self._said: dict[str, Replied] = {}
        """The last answer of each agent."""

    def look_at(self, agent: str, event: Event) -> None:
        if isinstance(event, CallEnded) and isinstance(event.outcome, Refused):
            self.calls.append((agent, event))
            self._keep(agent, event.call_id)
        elif isinstance(event, Replied):
            self._said[agent] = event
            for whose, ended in self.calls:
                if whose == agent:
                    self._keep(agent, ended.call_id)

    def arguments(self, agent: str, call_id: str) -> str:
        return self._asked.get((agent, call_id), "{}")

    def _keep(self, agent: str, call_id: str) -> None:
        said = self._said.get(agent)
        for block in said.content if said is not None else ():
            if isinstance(block, Call) and block.id == call_id:
                self._asked[agent, call_id] = block.arguments
