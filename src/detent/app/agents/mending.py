"""Agents that were at work when the program died: each gets its end, with what its log tells.

Those below it get theirs when it goes on itself; what they have spent is counted here already.
"""

import asyncio
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.agents.logs import own
from detent.context.account import Price
from detent.context.books import Books
from detent.ports import BadArguments
from detent.session.agent_records import fold
from detent.session.reading import read_log
from detent.session.store import Store
from detent.tools.registry import built_in, canonical_name
from detent.types.agents import AgentEnded, AgentRecord, AgentStarted
from detent.types.budget import Spent
from detent.types.content import plain_text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Entry,
    Notice,
    Opened,
    Prompted,
    Reminded,
    Replied,
)
from detent.types.outcomes import Done, text_of

if TYPE_CHECKING:
    from detent.app.engine import Engine

INTERRUPTED = "interrupted"
NOT_BEGUN = "not begun"
"""Its task was not in its log yet: there is nothing to go on from."""
ASKING = ("TaskOutput", "TaskStop")
"""Calls that tell how an agent has ended, so that it is no news."""


async def end_those_left(engine: "Engine") -> None:
    """On the first write of a session, or of a subagent, that goes on."""
    records = fold(engine.journal.log.entries)
    left = [record for record in records.values() if record.state == "running"]
    for record in left:
        past = await asyncio.to_thread(Past, folders_of(engine), record.agent, engine.kit.price)
        ended = replace(past.end_of(record), unread=past.unread(record, engine.journal.log.entries))
        await engine.recorder.emit(ended)
        _count(engine, ended.spent)
        engine.unended = Spent()
        who = record.name or record.description or record.kind
        text = f"The agent {who} ({record.agent}) was cut off in the run before."
        await engine.recorder.emit(Notice(text, "warning"))
    for record in _unheard(engine.journal.log.entries):
        from detent.app.agents.messages import news_of

        engine.inbox.tell(news_of(record))


def spent_by_those_left(entries: Sequence[Entry], folders: Sequence[str], price: Price) -> Spent:
    """By all who have begun and have no end in the log of whom they work for."""
    left = (record for record in fold(entries).values() if record.state == "running")
    ends = (Past(folders, record.agent, price).end_of(record) for record in left)
    return sum((ended.spent for ended in ends), Spent())


class Past:
    """What the log of an agent tells, as far as it was written."""

    def __init__(
        self, folders: Sequence[str], agent: str, price: Price, met: frozenset[str] = frozenset()
    ) -> None:
        self._folders, self._price, self._met = folders, price, met | {agent}
        self.entries = own(entries_of(folders, agent))

    def end_of(self, record: AgentRecord) -> AgentEnded:
        """Without what an earlier end of it has told."""
        answers = [entry for entry in self.entries if isinstance(entry, Replied)][record.turns :]
        calls = sum(isinstance(entry, CallStarted) for entry in self.entries)
        last = self.entries[-1].at if self.entries else 0.0
        words = (plain_text(answer.content).strip() for answer in reversed(answers))
        return AgentEnded(
            agent=record.agent,
            state="interrupted",
            reason=INTERRUPTED if self.was_asked else NOT_BEGUN,
            answer=next(filter(None, words), ""),
            steps=len(answers),
            calls=max(0, calls - record.tool_calls),
            spent=self._since(record.spent),
            ms=max(0, round((last - record.begun) * 1000) - record.ms) if self.entries else 0,
        )

    @property
    def was_asked(self) -> bool:
        return any(isinstance(entry, Prompted) for entry in self.entries)

    def unread(self, record: AgentRecord, above: Sequence[Entry]) -> tuple[str, ...]:
        """What its parent, whose log is `above`, has told it and it did not come to hear."""
        heard = "\n".join(
            plain_text(entry.content) for entry in self.entries if isinstance(entry, Prompted)
        )
        return tuple(text for text in _messages(record, above) if text not in heard)

    @property
    def spent(self) -> Spent:
        """By it and all below it, also by those whose end nobody has written."""
        spent = Books(self._price).read(self.entries).total
        for record in fold(self.entries).values():
            if record.state == "running" and record.agent not in self._met:
                below = Past(self._folders, record.agent, self._price, self._met)
                spent += below._since(record.spent)
        return replace(spent, turns=0, seconds=0.0)

    def _since(self, told: Spent) -> Spent:
        spent = self.spent - replace(told, turns=0, seconds=0.0)
        return spent if spent.requests > 0 or spent.calls > 0 else Spent()  # of a log that is lost


def _messages(record: AgentRecord, above: Sequence[Entry]) -> list[str]:
    """That reached it since it last began."""
    from detent.tools.delegation.send_message import SendMessage

    parse = SendMessage(built_in("SendMessage")).parse
    found: dict[str, str] = {}
    reached: list[str] = []
    for entry in above:
        match entry:
            case AgentStarted(agent=record.agent):
                found, reached = {}, []
            case CallStarted(name="SendMessage"):
                with suppress(BadArguments):
                    said = parse(entry.arguments)
                    if said.to in (record.agent, record.name):
                        found[entry.call_id] = said.message
            case CallEnded(outcome=Done()) if entry.call_id in found:
                reached.append(found[entry.call_id])
            case _:
                pass
    return reached


def entries_of(folders: Iterable[str], agent: str) -> Sequence[Entry]:
    if os.path.basename(agent) != agent:  # an id is no way out of the folder
        return ()
    for folder in folders:
        try:
            reading = read_log(os.path.join(folder, f"{agent}.jsonl"))
        except (OSError, ValueError):
            continue
        return reading.entries[: reading.understood]
    return ()


def folders_of(engine: "Engine") -> list[str]:
    """Where the logs of a session's agents lie: beside its own, or beside the one it is a copy of;
    those of a subagent's beside its own log."""
    journal = engine.journal
    if journal.lineage is not None:
        return [os.path.dirname(journal.path)] if journal.path else []
    logs = [journal.path, journal.earlier]
    opened = next((e for e in journal.log.entries if isinstance(e, Opened)), None)
    if opened is not None and opened.parent:
        logs.append(Store(engine.grounds.home).find(opened.parent, engine.grounds.cwd) or "")
    folders = (os.path.join(log.removesuffix(".jsonl"), "agents") for log in logs if log)
    return list(dict.fromkeys(folders))


def _count(engine: "Engine", spent: Spent) -> None:
    from detent.app.agents.child import ChildEngine

    if not isinstance(engine, ChildEngine):  # the session knew when it was opened
        return
    # Whoever it works for was told with its own end.
    account = engine.kit.account
    account.spent += spent
    account.delegated += spent
    engine.spent_before += spent


def _unheard(entries: Sequence[Entry]) -> list[AgentRecord]:
    """Those in the background whose end came when nobody could be told any more."""
    open_ends = {
        record.agent: record
        for record in fold(entries).values()
        if record.background and record.state not in ("running", "skipped")
    }
    unheard: list[AgentRecord] = []
    for entry in reversed(entries):
        if not open_ends:
            break
        if told := _told_by(entry):
            for agent in [agent for agent in open_ends if agent in told]:
                del open_ends[agent]
        elif isinstance(entry, AgentEnded) and entry.agent in open_ends:
            unheard.insert(0, open_ends.pop(entry.agent))
    return unheard


def _told_by(entry: Entry) -> str:
    """What the model reads of ends: as news, or because it asked."""
    if isinstance(entry, Reminded):
        return entry.text
    if isinstance(entry, CallEnded) and canonical_name(entry.name) in ASKING:
        return text_of(entry.outcome)
    return ""
