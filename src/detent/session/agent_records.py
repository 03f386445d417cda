"""What is known of subagents, folded from their parent's log. What was rewound has happened too.

A record is never changed: each entry makes a new one from the one before. An agent that goes on
keeps its record; what it spends adds up.
"""

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from detent.types.agents import AgentEnded, AgentRecord, AgentStarted, GroupEnded
from detent.types.events import CallEnded, Entry
from detent.types.outcomes import Done


class Records:
    """Entries are read once, in their order."""

    def __init__(self, folder: str = "") -> None:
        """`folder` holds the agents' logs; empty where nothing is saved."""
        self.agents: dict[str, AgentRecord] = {}
        """By id, in the order in which they first began."""
        self.groups: dict[str, GroupEnded] = {}
        """Those that have ended; of one that went on and ended again, the last end."""
        self._folder = folder
        self._read = 0

    def read(self, entries: Sequence[Entry]) -> "Records":
        for entry in entries[self._read :]:
            self.take(entry)
        self._read = len(entries)
        return self

    def take(self, entry: Entry) -> None:
        """One more entry, of whatever kind."""
        match entry:
            case AgentStarted():
                self.agents[entry.agent] = self._begun(entry, self.agents.get(entry.agent))
            case AgentEnded():
                known = self.agents.get(entry.agent) or self._lost(entry)
                self.agents[entry.agent] = _ended(entry, known)
            case GroupEnded():
                self.groups[entry.group] = entry
            case CallEnded() if (agent := sent_aside(entry)) in self.agents:
                self.agents[agent] = replace(self.agents[agent], background=True)
            case _:
                pass

    def named(self, agent: str) -> AgentRecord | None:
        """By id, or by name: then the one that began last."""
        if agent in self.agents:
            return self.agents[agent]
        return next((one for one in reversed(self.agents.values()) if one.name == agent), None)

    def _begun(self, entry: AgentStarted, before: AgentRecord | None) -> AgentRecord:
        record = AgentRecord(
            agent=entry.agent,
            kind=entry.kind,
            name=entry.name,
            description=entry.description,
            call_id=entry.call_id,
            parent_agent_id=entry.parent,
            group_id=entry.group,
            child_index=entry.index,
            depth=entry.depth,
            model=entry.model,
            background=entry.background,
            worktree=entry.worktree,
            mode=entry.mode,
            max_turns=entry.max_turns,
            effort=entry.effort,
            wanted_model=entry.wanted_model,
            at_end=entry.at_end,
            session_path=self._path(entry.agent),
            begun=entry.at,
        )
        return record if before is None else _gone_on(record, before)

    def _lost(self, entry: AgentEnded) -> AgentRecord:
        """Its beginning could not be read."""
        return AgentRecord(agent=entry.agent, kind="", session_path=self._path(entry.agent))

    def _path(self, agent: str) -> str:
        return os.path.join(self._folder, f"{agent}.jsonl") if self._folder else ""


def sent_aside(entry: CallEnded) -> str:
    """The agent that works on while its call has ended, perhaps because a person wanted it so."""
    match entry.outcome:
        case Done(data={"isAsync": True, "agentId": str(agent)}):
            return agent
        case _:
            return ""


def fold(entries: Iterable[Entry], folder: str = "") -> dict[str, AgentRecord]:
    records = Records(folder)
    for entry in entries:
        records.take(entry)
    return records.agents


def _gone_on(record: AgentRecord, before: AgentRecord) -> AgentRecord:
    """Who merely sends it a message says neither what it is called nor where it belongs."""
    record = replace(
        record,
        name=record.name or before.name,
        description=record.description or before.description,
        model=record.model or before.model,
        worktree=record.worktree or before.worktree,
        turns=before.turns,
        tool_calls=before.tool_calls,
        spent=before.spent,
        begun=before.begun,
        ms=before.ms,
    )
    if record.group_id or not before.group_id:
        return record
    return replace(record, group_id=before.group_id, child_index=before.child_index)


def _ended(entry: AgentEnded, before: AgentRecord) -> AgentRecord:
    return replace(
        before,
        state=entry.state,
        stop_reason=entry.reason,
        answer=entry.answer,
        error=entry.error,
        turns=before.turns + entry.steps,
        tool_calls=before.tool_calls + entry.calls,
        spent=before.spent + entry.spent,
        ms=before.ms + entry.ms,
        unread=entry.unread,
        session_path="" if entry.never_began else before.session_path,
    )
