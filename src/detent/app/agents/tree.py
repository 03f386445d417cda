"""Who worked for whom in a session that is saved: its log, and those of its agents beside it."""

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.mending import spent_by_those_left
from detent.app.grounds import grounds_of
from detent.app.models import prices
from detent.app.options import Options
from detent.app.sessions.meant import log_meant
from detent.app.sessions.without_index import read_with_card
from detent.context.account import Price
from detent.context.books import Books
from detent.session.agent_records import Records
from detent.session.facts import SessionCard
from detent.session.reading import Reading, read_log
from detent.types.agents import AgentRecord, GroupEnded
from detent.types.budget import Spent
from detent.types.events import CallStarted, Entry, Replied

MOST, DEEPEST = 5_000, 100
"""Agents whose logs are opened, and how many may stand below one another."""

NO_NAME = "its log cannot be read: that is no name of one"


class AgentNode(Struct, frozen=True, omit_defaults=True):
    record: AgentRecord
    agents: "tuple[AgentNode, ...]" = ()
    groups: tuple[GroupEnded, ...] = ()
    """Those of its own that have ended."""
    trouble: str = ""
    """What could not be read of it."""
    kept_worktree: str = ""
    """Where it has worked, if that is still there."""


class AgentTree(Struct, frozen=True, omit_defaults=True):
    session: SessionCard
    steps: int
    """By itself, as the calls."""
    calls: int
    spent: Spent
    """With all below."""
    agents: tuple[AgentNode, ...] = ()
    groups: tuple[GroupEnded, ...] = ()
    trouble: str = ""


def tree_of(options: Options, wanted: str = "") -> AgentTree:
    """Of the newest session of the folder, where none is said. Writes nothing. Raises BadInput."""
    grounds = grounds_of(options)
    path = log_meant(grounds.home, grounds.cwd, wanted)
    reading, card = read_with_card(path)
    price = prices(grounds.settings)
    folder = os.path.join(path.removesuffix(".jsonl"), "agents")
    growing = _Growing(folder, price, card.parent)
    is_running = card.state == "running"
    agents, groups = growing.below(reading.entries, is_running=is_running)
    steps, calls, spent = _amounts(reading.entries, price)
    spent += spent_by_those_left(reading.entries, [folder], price)
    trouble = _damage(reading, is_running)
    return AgentTree(card, steps, calls, spent, agents, groups, trouble)


def below(
    entries: Sequence[Entry], folder: str, price: Price, *, is_running: bool
) -> tuple[tuple[AgentNode, ...], tuple[GroupEnded, ...]]:
    """Those who worked for a session whose log this is, and all below them."""
    return _Growing(folder, price, "").below(entries, is_running=is_running)


class _Growing:
    def __init__(self, folder: str, price: Price, fork_of: str) -> None:
        self._folder, self._price, self._fork_of = folder, price, fork_of
        self._met: set[str] = set()
        """A log that was made up may name an agent twice, or one below itself."""

    def below(
        self, entries: Sequence[Entry], *, is_running: bool, depth: int = 1
    ) -> tuple[tuple[AgentNode, ...], tuple[GroupEnded, ...]]:
        """Those who worked for the one whose log this is."""
        records = Records(self._folder).read(entries)
        found = [one for one in records.agents.values() if one.agent not in self._met]
        self._met.update(one.agent for one in found)
        nodes = tuple(self._node(one, is_running, depth) for one in found)
        return nodes, tuple(records.groups.values())

    def _node(self, record: AgentRecord, is_running: bool, depth: int) -> AgentNode:
        has_no_end = record.state == "running"
        if has_no_end and not is_running:  # nobody is there to end it
            record = replace(record, state="interrupted")
        if record.never_began:
            return AgentNode(record)
        if len(self._met) > MOST or depth > DEEPEST:
            return AgentNode(record, trouble="whoever worked for it is not looked at")
        is_running = record.state == "running"
        reading, trouble = self._read(record, is_running)
        entries = reading.entries if reading else ()
        if has_no_end:
            record = _so_far(record, entries, self._price)
        agents, groups = self.below(entries, is_running=is_running, depth=depth + 1)
        return AgentNode(record, agents, groups, trouble, _left_worktree(record))

    def _read(self, record: AgentRecord, is_running: bool) -> tuple[Reading | None, str]:
        """And what is wrong with it. One that has just begun may have no log yet."""
        path = record.session_path
        if os.path.dirname(path) != self._folder:  # an id is no way out of the folder
            return None, NO_NAME
        try:
            reading = read_log(path)
        except FileNotFoundError:
            where = f" here, but with {self._fork_of}" if self._fork_of else " there any more"
            return None, "" if is_running else f"its log is not{where}"
        except OSError as error:
            return None, f"its log cannot be read: {error.strerror}"
        except ValueError:
            return None, NO_NAME
        return reading, _damage(reading, is_running)


def _left_worktree(record: AgentRecord) -> str:
    is_left = record.state != "running" and record.worktree and os.path.isdir(record.worktree)
    return record.worktree if is_left else ""


def _so_far(record: AgentRecord, entries: Sequence[Entry], price: Price) -> AgentRecord:
    """Of one without an end, what its own log tells; what it knew before it began is not its."""
    own = [entry for entry in entries if entry.at >= record.begun]
    if not own:
        return record
    steps, calls, spent = _amounts(own, price)
    ms = round((own[-1].at - record.begun) * 1000)
    return replace(record, turns=steps, tool_calls=calls, spent=spent, ms=ms)


def _amounts(entries: Sequence[Entry], price: Price) -> tuple[int, int, Spent]:
    steps = sum(isinstance(entry, Replied) for entry in entries)
    calls = sum(isinstance(entry, CallStarted) for entry in entries)
    return steps, calls, Books(price).read(entries).total


def _damage(reading: Reading, is_running: bool) -> str:
    """The last line of a log that is being written need not be whole."""
    if reading.strange:
        return "a later version of Detent has written in its log"
    damaged = reading.damaged - (is_running and reading.torn)
    lines = "1 line" if damaged == 1 else f"{damaged} lines"
    return f"{lines} of its log cannot be read" if damaged > 0 else ""
