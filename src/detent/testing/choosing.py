"""Which reply of a script is next: in the order of the requests, or by what a conversation says.

Conversations that run at the same time (subagents) come in any order. Each names its own replies:
`SCENARIO:name` in its prompt picks the list of that name, and with `pick="by_turn"` the place in
the list is the number of answers that the conversation has already, so that any number of
conversations may follow the same list.
"""

from __future__ import annotations

from typing import Any, Protocol

from detent.testing.script import Reply, Script, Spoken, as_reply


class NoReply(LookupError):
    """The script has come to its end, or knows of no such conversation."""


class Asked(Protocol):
    """What of a request tells where its conversation stands."""

    @property
    def scenario(self) -> str | None: ...
    @property
    def turn(self) -> int: ...


class Choosing:
    def __init__(self, plan: Script, told: dict[str | None, int] | None = None) -> None:
        """`told` is how many of each list were told already."""
        self.plan = plan
        self._told: dict[str | None, int] = {} if told is None else told

    def choose(self, asked: Asked, request: Any) -> Reply:
        """A function in the script is given the request. Raises NoReply."""
        plan = self.plan
        name = asked.scenario if plan.scenarios else None
        if name is not None and name not in plan.scenarios:
            raise NoReply(f"the script has no scenario {name!r}")
        replies = plan.replies if name is None else plan.scenarios[name]
        if plan.pick == "by_turn":
            index = asked.turn
        else:
            index = self._told.get(name, 0)
            self._told[name] = index + 1
        if index >= len(replies) and (plan.after == "error" or not replies):
            where = "" if name is None else f" in scenario {name!r}"
            raise NoReply(f"the script has no reply {index + 1}{where} (after='error')")
        found = replies[min(index, len(replies) - 1)]
        if isinstance(found, Reply):
            return found
        spoken: Spoken = found(request)
        return as_reply(spoken)
