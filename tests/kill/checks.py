"""What must hold after a run was killed, and after it was gone on with. Each gives complaints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

from detent.context.project import project
from detent.session.agent_records import fold
from detent.session.reading import read_log
from detent.types.agents import AgentEnded, AgentStarted, TaskChanged
from detent.types.codec import encode
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Replied,
    TurnEnded,
)
from detent.types.outcomes import Cut, Done, Refused

from .playing import Ground, unpaired
from .stories import FILES, MARK, Part, Story

MOST_COMPACTIONS = 2
GO_ON = (Text("go on"),)
NEVER_BEGUN = Refused("it has no beginning in the log", "nobody")


@dataclass
class Told:
    """What a run has reported, killed or not."""

    delivered: dict[int, int] = field(default_factory=dict)
    """Entries that its reader had, by number: their checksums."""
    complaints: list[str] = field(default_factory=list)
    tokens: int = 0
    notices: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    ended: int = 0
    """The number of its last entry, when it has come to its end."""
    not_found: str = ""
    more: list[dict[str, Any]] = field(default_factory=list)

    @staticmethod
    def forget(path: str) -> None:
        """What was shown before a fault that may take it: the rest counts."""
        lines = Path(path).read_text().splitlines()
        Path(path).write_text("".join(f"{one}\n" for one in lines if '"delivered"' not in one))


def told_by(path: str) -> Told:
    told = Told()
    if not os.path.exists(path):
        return told
    for line in Path(path).read_text().splitlines():
        match json.loads(line):
            case {"delivered": seq, "sum": checksum}:
                told.delivered[seq] = checksum
            case {"request": wrong}:
                told.complaints += [f"I1: {wrong}"] if wrong else []
            case {"tokens": tokens}:
                told.tokens += tokens
            case {"notice": text}:
                told.notices.append(text)
            case {"turn": reason}:
                told.turns.append(reason)
            case {"ended": last}:
                told.ended = last
            case {"not_found": text}:
                told.not_found = text
            case {"wrong": text}:
                told.complaints.append(text)
            case more:
                told.more.append(more)
    return told


def log_of(ground: Ground) -> Path | None:
    """None where nothing was ever written whole: the name of a log may be there all the same."""
    files = sorted(Path(ground.home).glob("sessions/*/*.jsonl"))
    found = [path for path in files if read_log(str(path)).entries]
    assert len(found) < 2, f"several sessions: {found}"
    return found[0] if found else None


def logs_below(log: Path) -> list[Path]:
    """Of all who worked for the session."""
    return sorted((log.with_suffix("") / "agents").glob("*.jsonl"))


def entries_below(ground: Ground) -> dict[str, Sequence[Entry]]:
    """By the ids of the agents."""
    log = log_of(ground)
    below = logs_below(log) if log is not None else []
    return {path.stem: read_log(str(path)).entries for path in below}


def entries_of(ground: Ground) -> Sequence[Entry]:
    log = log_of(ground)
    return () if log is None else read_log(str(log)).entries


def after_a_kill(ground: Ground, told: Told, kills: int) -> Iterator[str]:
    """Before anybody goes on: what was shown is there, and what is there can be read. Each kill
    may have torn one line."""
    log = log_of(ground)
    if log is None:
        yield from (f"I2: entry {seq} was shown, and there is no log" for seq in told.delivered)
        return
    for path in (log, *logs_below(log)):
        reading = read_log(str(path))
        if reading.damaged > kills:
            yield f"I4: {reading.damaged} damaged lines in {path.name}"
        if path == log:
            yield from _lost(reading.entries, told)
        yield from sound(reading.entries)


def _lost(entries: Sequence[Entry], told: Told) -> Iterator[str]:
    there = {entry.seq: crc32(encode(entry)) for entry in entries}
    for seq, checksum in told.delivered.items():
        if there.get(seq) != checksum:
            yield f"I2: entry {seq} was shown and is {'another' if seq in there else 'lost'}"


def sound(entries: Sequence[Entry]) -> Iterator[str]:
    """Of any log: a history that could be sent, calls that were permitted, few compactions."""
    numbers = [entry.seq for entry in entries]
    if any(one >= other for one, other in pairwise(numbers)):
        yield f"I4: numbers {numbers}"
    if entries and not isinstance(entries[0], Opened):
        yield "I4: it does not begin with Opened"
    if wrong := unpaired(project([*entries, Prompted(turn=99, content=GO_ON)])):
        yield f"I1: {wrong}"
    for entry in entries:
        if isinstance(entry, CallStarted) and not entry.verdict.source:
            yield f"I8: call {entry.call_id} was permitted by nobody"
    yield from _compactions(entries)


def _compactions(entries: Sequence[Entry]) -> Iterator[str]:
    """I5: pairs are whole by I1; the request at hand is still read; no more than two a turn."""
    count, last = 0, None
    for number, entry in enumerate(entries):
        if isinstance(entry, Prompted) and not entry.steered:
            count, last = 0, entry
        if isinstance(entry, Compacted):
            count += 1
            shown = encode(project(entries[: number + 1]))
            if last is not None and encode(last.content)[1:-1] not in shown:
                yield f"I5: compaction {entry.seq} has dropped the last prompt"
    if count > MOST_COMPACTIONS:
        yield f"I5: {count} compactions in one turn"


def still_readable(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[str]:
    """I4: what is left of a log is part of what it was."""
    known = {encode(entry) for entry in before}
    yield from (
        f"I4: entry {entry.seq} was never written" for entry in after if encode(entry) not in known
    )
    if after:
        yield from sound(after)


def unsaved(story: Story, ground: Ground, told: Told) -> Iterator[str]:
    """While the disk could not be written."""
    entries = entries_of(ground)
    yield from told.complaints
    yield from sound(entries)
    if not told.ended:
        yield "it did not come to its end"
    is_whole = bool(entries) and entries[-1].seq == told.ended
    said = [text for text in told.notices if "not being saved" in text or story.undoes]
    if not is_whole and not any(said):
        yield "nobody was told that the session is not saved"
    known, happened = outcomes(entries, *entries_below(ground).values()), marks_in(ground)
    for part in story.parts:
        ends = known.get(part.mark, [])
        if part.counts and part.mark in happened and all(end is NEVER_BEGUN for end in ends):
            yield f"effect {part.mark} happened and the log does not know"


def in_the_end(
    story: Story, ground: Ground, told: Told, kills: int, *, is_certain: bool = True
) -> Iterator[str]:
    """After it was gone on with: everything is done once, or said to be uncertain. Where a log may
    have lost its end, only that it is sound."""
    try:
        entries = entries_of(ground)
    except AssertionError as error:
        yield f"{error}; --continue: {told.not_found}"
        return
    yield from _lost(entries, told)
    yield from told.complaints
    if not told.ended:
        yield "it did not come to its end"
    if told.not_found and told.delivered and min(told.delivered) < 3 and not entries:
        yield f"--continue: {told.not_found}"
    below = entries_below(ground)
    for one in (entries, *below.values()):
        yield from sound(one)
    for one in _known(entries, below):
        yield from _unrepaired(one)
        yield from _unended(one)
    if is_certain:
        known = outcomes(entries, *below.values())
        yield from _effects(story, ground, known)
        yield from _files(story, ground, known)
        yield from _tasks(entries, known)
    if story.compacts and not any(isinstance(entry, Compacted) for entry in entries):
        yield "I5: nothing was told in short"
    ends = {entry.reason for entry in entries if isinstance(entry, TurnEnded)}
    if story.budget and is_certain:
        yield from _overspent(story, told, kills)
    if ends != {"budget_exceeded" if story.budget else "end_turn"}:
        yield f"I6: turns ended with {sorted(ends)}"


def _known(
    entries: Sequence[Entry], below: dict[str, Sequence[Entry]]
) -> Iterator[Sequence[Entry]]:
    """The log of the session, and those of all agents that one of these tells of: of who was set to
    work in a part that is lost nobody knows, and nobody goes on with it."""
    yield entries
    for agent in {entry.agent for entry in entries if isinstance(entry, AgentStarted)} & {*below}:
        yield from _known(below[agent], below)


def _unrepaired(entries: Sequence[Entry]) -> Iterator[str]:
    ended = [entry.call_id for entry in entries if isinstance(entry, CallEnded)]
    started = [entry.call_id for entry in entries if isinstance(entry, CallStarted)]
    for call in {*ended, *started}:
        if ended.count(call) > 1 or started.count(call) > 1:
            yield f"call {call} has {started.count(call)} beginnings and {ended.count(call)} ends"
        if call in started and call not in ended:
            yield f"call {call} has no end in the log"


def _unended(entries: Sequence[Entry]) -> Iterator[str]:
    """Each agent that began has an end; one that was done did not begin again."""
    records = fold(entries)
    yield from (
        f"agent {one.agent} has no end" for one in records.values() if one.state == "running"
    )
    done: set[str] = set()
    for entry in entries:
        if isinstance(entry, AgentStarted) and entry.agent in done:
            yield f"agent {entry.agent} was done and has begun again"
        if isinstance(entry, AgentEnded) and entry.state == "completed":
            done.add(entry.agent)


def _tasks(entries: Sequence[Entry], known: dict[str, list[Any]]) -> Iterator[str]:
    """What was said to be on the list is on it, once for each time."""
    subjects = {e.task.id: e.task.subject for e in entries if isinstance(e, TaskChanged)}
    listed = [mark for subject in subjects.values() for mark in MARK.findall(subject)]
    for mark in (mark for mark in known if mark.startswith("@t")):
        certain = sum(isinstance(end, Done) for end in known[mark])
        if not certain <= listed.count(mark) <= len(known[mark]):
            yield f"task {mark} is {listed.count(mark)} times on the list"


def outcomes(*logs: Sequence[Entry]) -> dict[str, list[Any]]:
    """How each part's calls ended, by its mark: None has begun and has no end, NEVER_BEGUN is what
    its name says."""
    found: dict[str, list[Any]] = {}
    for entries in logs:
        for mark, ends in _outcomes(entries).items():
            found.setdefault(mark, []).extend(ends)
    return found


def _outcomes(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    begun = {e.call_id: e.arguments for e in entries if isinstance(e, CallStarted)}
    asked = dict(begun)
    for entry in entries:
        if isinstance(entry, Replied):
            calls = (block for block in entry.content if isinstance(block, Call))
            asked |= {call.id: call.arguments for call in calls if call.id not in begun}
    ends = {e.call_id: e.outcome for e in entries if isinstance(e, CallEnded)}
    found: dict[str, list[Any]] = {}
    for call, arguments in asked.items():
        for mark in set(MARK.findall(arguments)):
            known = ends.get(call) if call in begun else NEVER_BEGUN
            found.setdefault(mark, []).append(known)
    return found


def marks_in(ground: Ground) -> list[str]:
    """The effects that have happened, as the world outside has counted them."""
    counter = Path(ground.place.counter)
    return MARK.findall(counter.read_text()) if counter.exists() else []


def _effects(story: Story, ground: Ground, known: dict[str, list[Any]]) -> Iterator[str]:
    done = marks_in(ground)
    for part in story.parts:
        if not part.counts:
            continue
        ends, times = known.get(part.mark, []), done.count(part.mark)
        if times > 1:
            yield f"effect {part.mark} happened {times} times"
        if times and all(end is NEVER_BEGUN for end in ends):
            yield f"effect {part.mark} happened and the log does not know"
        if not times and any(isinstance(end, Done) for end in ends) and not part.is_job:
            yield f"effect {part.mark} is said to be done, and is not"
        if not ends and not story.budget:
            yield f"effect {part.mark} was never tried"
    if os.path.exists(f"{ground.place.work}/forbidden"):
        yield "what was refused has happened"


def _files(story: Story, ground: Ground, known: dict[str, list[Any]]) -> Iterator[str]:
    """Each is as the calls that are said to be done have left it, with or without those that were
    interrupted; and there is nothing else."""
    work = Path(ground.place.work)
    names = {part.file for part in story.parts if part.file} | set(FILES)
    for path in sorted(work.rglob("*")):
        if path.is_file() and str(path.relative_to(work)) not in names:
            yield f"{path.relative_to(work)} was left behind"
    for name in sorted(names):
        parts = [part for part in story.parts if part.file == name]
        path = work / name
        text = path.read_text() if path.exists() else None
        if text not in _possible(FILES.get(name), parts, known):
            yield f"{name} holds {text!r}"


def _possible(text: str | None, parts: list[Part], known: dict[str, list[Any]]) -> list[Any]:
    found = [text]
    for part in parts:
        ends = known.get(part.mark, [])
        made = [new for old in found if (new := part.edit(old)) is not None]
        if any(isinstance(end, Done) for end in ends):
            found = made
        elif any(end is None or isinstance(end, Cut) for end in ends):
            found = found + made
    return found


def _overspent(story: Story, told: Told, kills: int) -> Iterator[str]:
    """No request is begun when the budget is spent; one that a kill cut off is not in the log."""
    each = story.turns[0].input + 20
    most = story.budget + each * (1 + kills)
    if told.tokens > most:
        yield f"I6: {told.tokens} tokens of {story.budget}"
