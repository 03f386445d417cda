"""What a session has done to files, and what taking it back means. Pure: entries → moves.

Every entry that changed files is a deed: a call, what a subagent did, or an undo of some. Going
back to a moment takes back all deeds since then, each path for itself and the newest deed first, as
long as every deed found the path as the one before had left it. Where somebody else was in between,
it ends there.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from detent.types.agents import AgentStarted, ChildChanged
from detent.types.content import Call
from detent.types.effects import Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.files import Change, FileState, Undone


class Deed(Struct, frozen=True):
    seq: int
    step: int
    """The answer that it is from, counted from 1 as everywhere; 0 of an undo."""
    prompt: int
    """The prompt that it is for, counted likewise."""
    name: str
    about: str
    """The command, or the file."""
    changes: tuple[Change, ...]
    of: tuple[int, ...] = ()
    """What an undo takes back."""
    left: tuple[str, ...] = ()
    is_undo: bool = False
    late: bool = False
    """Others may have had a hand in it: nothing of it is taken back unless that is wanted."""


Halt = Literal["", "between", "late"]


class Move(Struct, frozen=True):
    """A path on its way back."""

    path: str
    present: FileState
    """What must be there now: else somebody has changed it."""
    target: FileState
    halt: Halt = ""
    """Why it does not go back further, although it was to: somebody else had changed it in between,
    or may have."""

    @property
    def is_dark(self) -> bool:
        """Of a file whose bytes were not kept nobody knows whether it is as it was."""
        states = self.present, self.target
        return any(state.kind == "file" and not state.digest for state in states)


def deeds_of(entries: Sequence[Entry]) -> list[Deed]:
    steps = _steps(entries)
    about: dict[str, str] = {}
    agents: dict[str, AgentStarted] = {}
    found: list[Deed] = []
    replies = prompts = latest = 0
    for entry in entries:
        match entry:
            case Prompted(steered=False):
                prompts += 1
            case Replied():
                replies += 1
            case CallStarted(call_id=call_id):
                about[call_id] = _about(entry)
                latest = steps.get(call_id, replies + 1)
            case AgentStarted(agent=agent):
                agents[agent] = entry
            case ChildChanged(agent=agent, call_id=call_id, changed=changed) if changed:
                step = max(latest, replies)  # the one that was under way
                name, what = _agent(agents.get(agent), agent, about.get(call_id, ""))
                found.append(Deed(entry.seq, step, prompts, name, what, changed))
            case CallEnded(call_id=call_id, changed=changed) if changed:
                step = steps.get(call_id, replies + 1)
                what = about.get(call_id, "")
                deed = Deed(entry.seq, step, prompts, entry.name, what, changed, late=entry.late)
                found.append(deed)
            case Undone(begun=False, of=of, changes=changes, left=left) if of:
                found.append(
                    Deed(entry.seq, 0, prompts, "undo", "", changes, of, left, is_undo=True)
                )
            case _:
                pass
    return found


def standing(deeds: Sequence[Deed]) -> dict[int, bool]:
    """Of every call that changed files, by its entry: whether that still stands."""
    said = _said(deeds)
    stands: dict[int, bool] = {}
    for deed in deeds:
        if not deed.is_undo:
            stands[deed.seq] = True
        else:
            says = said[deed.seq]
            stands |= {call: stood for call, stood in says.items() if call in stands}
    return stands


def _said(deeds: Iterable[Deed]) -> dict[int, dict[int, bool]]:
    """What each undo says of calls; one that undoes another says the contrary."""
    said: dict[int, dict[int, bool]] = {}
    for deed in deeds:
        if deed.is_undo:
            says = said[deed.seq] = {}
            for one in deed.of:
                contrary = {call: not stood for call, stood in said.get(one, {}).items()}
                says |= contrary if one in said else {one: False}
    return said


def last_standing(deeds: Sequence[Deed]) -> Deed | None:
    """The newest call that still stands."""
    stands = standing(deeds)
    return next((deed for deed in reversed(deeds) if stands.get(deed.seq)), None)


def redoable(deeds: Sequence[Deed]) -> Deed | None:
    """The last undo that was not taken back itself."""
    waiting: list[Deed] = []
    undos: set[int] = set()
    for deed in deeds:
        if not deed.is_undo:
            continue
        waiting = [one for one in waiting if one.seq not in deed.of]
        if not undos.issuperset(deed.of):
            waiting.append(deed)
        undos.add(deed.seq)
    return waiting[-1] if waiting else None


def undone_since(deeds: Sequence[Deed], seq: int) -> tuple[int, ...]:
    """What an undo names that goes back to this entry: undos since then of what had stood there,
    the oldest last, for that one knows best, and calls that had not stood there but do now."""
    said, stands = _said(deeds), standing(deeds)
    before = standing([deed for deed in deeds if deed.seq <= seq])
    lacking = {call for call, stood in before.items() if stood and not stands[call]}
    undos = [one for one in reversed(said) if one > seq and lacking.intersection(said[one])]
    raised = {call for one in undos for call in said[one]}
    calls = [call for call in stands if not before.get(call) and (stands[call] or call in raised)]
    again = [call for call in stands if call > seq]
    return tuple(undos + calls) or tuple(again)


def moves_since(deeds: Sequence[Deed], seq: int, *, late: bool = False) -> tuple[Move, ...]:
    """What brings every path back to what it was at this entry, as far as it can be."""
    chains: dict[str, list[tuple[Change, bool]]] = {}
    stands = standing(deeds)
    for deed in deeds:
        if deed.seq > seq:
            is_doubtful = deed.late and not late and stands.get(deed.seq, True)
            for change in deed.changes:
                chains.setdefault(change.path, []).append((change, is_doubtful))
    moves = (_back(path, chain) for path, chain in chains.items())
    return tuple(move for move in moves if move.present != move.target or move.halt or move.is_dark)


def moves_against(deed: Deed) -> tuple[Move, ...]:
    """What takes back an undo."""
    return tuple(Move(change.path, change.after, change.before) for change in deed.changes)


def cut_off(entries: Sequence[Entry]) -> Undone | None:
    """An undo that was begun, and of whose end nothing is known."""
    for entry in reversed(entries):
        if isinstance(entry, Undone):
            return entry if entry.begun else None
    return None


def _back(path: str, chain: Sequence[tuple[Change, bool]]) -> Move:
    present = target = chain[-1][0].after
    for change, is_doubtful in reversed(chain):
        if change.after != target:
            return Move(path, present, target, "between")
        if is_doubtful:
            return Move(path, present, target, "late")
        target = change.before
    return Move(path, present, target)


def _steps(entries: Sequence[Entry]) -> dict[str, int]:
    """By call: the number of its answer. Calls may run before their answer is whole."""
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    return {
        block.id: number
        for number, reply in enumerate(replies, 1)
        for block in reply.content
        if isinstance(block, Call)
    }


def _agent(started: AgentStarted | None, agent: str, about: str) -> tuple[str, str]:
    """How a listing calls it; without an agent it is a call of the session itself, and still
    runs."""
    if not agent:
        return "call", about
    if started is None:  # one that works for another agent
        return "agent", agent
    return started.kind, started.name or started.description or agent


def _about(started: CallStarted) -> str:
    for effect in started.effects:
        if isinstance(effect, Runs):
            return effect.command
    return next((e.path for e in started.effects if isinstance(e, Writes)), "")
