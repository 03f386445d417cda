"""A session goes on that was cut off: each call without an end gets one, with what can be found out
of it. Nothing is ever repeated by itself."""

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from detent.app.desk import KeptFiles
from detent.context.unfinished import unfinished
from detent.host.notes import Line, read_notes
from detent.host.partials import sweep_partials
from detent.tools.shell.endings import ending
from detent.types.agents import AgentStarted
from detent.types.codec import arguments_object
from detent.types.effects import Writes, only_looks, only_spawns
from detent.types.events import CallEnded, CallStarted, Entry, Notice, Prompted, Reminded
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import INTERRUPTED, Cut, Outcome

if TYPE_CHECKING:
    from detent.app.engine import Engine

CUT_OFF = "interrupted: the agent ended before the result was kept."
ENDED_WITH_US = "The command was running and was ended with the agent"
HALF_UNDONE = (
    "[The user has begun to put files back, but an undo of your changes was cut off: some may be "
    "back, some not. Read a file again before you edit it.]"
)
UNDO_CUT_OFF = "An undo was cut off in the run before; `detent undo` or /undo finishes it."
BASH = "Bash"
"""The one tool whose commands are noted."""
PATIENCE = 2.0
"""Seconds for a command of an agent that was killed just now to be ended."""
LOOK = 0.05


async def mend(engine: "Engine") -> None:
    """On the first write of a session that goes on."""
    if _is_half_undone(engine.journal.log.entries):
        await engine.recorder.emit(Reminded(text=HALF_UNDONE, source="undo"))
        await engine.recorder.emit(Notice(UNDO_CUT_OFF, "warning"))
    if any(isinstance(entry, AgentStarted) for entry in engine.journal.log.entries):
        from detent.app.agents.mending import end_those_left

        await end_those_left(engine)
    calls = unfinished(engine.journal.log.entries)
    if not calls:
        return
    notes = await _ends(calls, _folders(engine))
    await asyncio.to_thread(_sweep, calls)
    for started in calls:
        outcome = _of_agents(engine, started)
        if outcome is None:
            outcome = await asyncio.to_thread(outcome_of, started, notes, _folders(engine))
        changed = await _changed_by(engine, started)
        await engine.recorder.emit(
            CallEnded(
                call_id=started.call_id,
                name=started.name,
                outcome=outcome,
                changed=changed,
                late=bool(changed),
            )
        )
        if isinstance(outcome, Cut):
            text = f"{started.name} was cut off in the run before: {outcome.reason}"
            await engine.recorder.emit(Notice(text, "warning"))


def _is_half_undone(entries: Sequence[Entry]) -> bool:
    """Whether the last thing that happened was the beginning of an undo, and nobody has told of it
    yet."""
    for entry in reversed(entries):
        if isinstance(entry, Undone):
            return entry.begun
        if isinstance(entry, Prompted) or (isinstance(entry, Reminded) and entry.source == "undo"):
            return False
    return False


def _of_agents(engine: "Engine", started: CallStarted) -> Outcome | None:
    """Of a call that had others at work."""
    if not only_spawns(started.effects):
        return None
    from detent.app.agents.cut_off import outcome_of as outcome_of_agents

    return outcome_of_agents(started, engine.journal.log.entries)


async def _changed_by(engine: "Engine", started: CallStarted) -> tuple[Change, ...]:
    """As far as it can be told by now: for undoing it."""
    kept = engine.kit.checkpoints
    if only_looks(started.effects) or not isinstance(kept, KeptFiles):
        return ()
    return await kept.left_by(started)


def _sweep(calls: list[CallStarted]) -> None:
    """A file that was being written is whole or as it was; what was not yet in its place goes."""
    effects = (effect for started in calls for effect in started.effects)
    places = (os.path.realpath(effect.path) for effect in effects if isinstance(effect, Writes))
    for folder in {os.path.dirname(place) for place in places}:
        sweep_partials(folder)


def outcome_of(started: CallStarted, notes: dict[str, Line], folders: list[str]) -> Outcome:
    """What can be said of it now."""
    if job := _job(started, folders):
        return job
    if only_looks(started.effects):
        return Cut(f"{CUT_OFF} It changes nothing: repeat it if you still need it.")
    found = [*_of_files(started), *_of_command(started, notes, folders)]
    return Cut(" ".join((CUT_OFF, *found))) if found else Cut(INTERRUPTED)


def _job(started: CallStarted, folders: list[str]) -> Outcome | None:
    """It has started a job that stays: then it had come to its end, but for the record."""
    if started.name != BASH:
        return None
    from detent.app.kept_jobs import job_of_call
    from detent.tools.shell.bash import started_in_background

    jobs = (job_of_call(folder, started.call_id) for folder in folders)
    job = next(filter(None, jobs), None)
    return None if job is None else started_in_background(job)


def _of_files(started: CallStarted) -> list[str]:
    """What became of the files that it was to write."""
    changed, same = list[str](), list[str]()
    for path, before in started.kept.items():
        (same if _is_as_before(path, before) else changed).append(path)
    if not started.kept:
        return []
    if not changed:
        verb = "is" if len(same) == 1 else "are"
        return [f"{_named(same)} {verb} unchanged: it did not take effect."]
    verb = "has" if len(changed) == 1 else "have"
    told = f"{_named(changed)} {verb} changed since: it has probably taken effect."
    rest = f" {_named(same)}: unchanged." if same else ""
    return [f"{told}{rest} Read before you go on."]


def _is_as_before(path: str, before: FileState) -> bool:
    from detent.app.undo.present import state_of

    try:
        now = state_of(path)
    except OSError:
        return False
    if before.kind == "file" and not before.digest:  # too large to be kept: all that is known
        return now.kind == "file" and now.size == before.size and now.mode == before.mode
    return now == before


def _of_command(started: CallStarted, notes: dict[str, Line], folders: list[str]) -> list[str]:
    if started.name != BASH:
        return []
    if (arguments_object(started.arguments) or {}).get("run_in_background"):
        return ["Its job, if it had begun, was ended with the agent."]
    known = notes.get(started.call_id, Line())
    said = [_how(known, is_noted=bool(notes) or _has_notes(folders))]
    if path := _spilled(started.call_id, folders):
        said.append(f"What it had printed is in {path}.")
    return said


def _how(known: Line, *, is_noted: bool) -> str:
    how = ending(known.code).rstrip(".")
    match known.ended:
        case "itself":
            because = f" {known.note}" if known.note else ""
            return f"The command had come to its end ({how}); its output is lost.{because}"
        case "asked":
            return f"The command was being ended ({how}); it may have run in part."
        case "gone":
            return f"{ENDED_WITH_US} ({how})."
        case "failed":
            return "The command could not be started."
    if known.began and known.sandbox == "bwrap":
        return f"{ENDED_WITH_US}."
    if known.began:
        return "The command had been started; how it ended is not known."
    if is_noted:
        return "There is no sign that the command was started. Check before you repeat it."
    return "The command may have run, in part or to its end. Check before you repeat it."


async def _ends(calls: list[CallStarted], folders: list[str]) -> dict[str, Line]:
    """What the keepers have noted. One whose agent was killed a moment ago may still be at it."""
    ids = [one.call_id for one in calls]
    notes = _notes(ids, folders)
    until = asyncio.get_running_loop().time() + PATIENCE
    while any(line.sandbox != "bwrap" and not line.ended for line in notes.values()):
        if asyncio.get_running_loop().time() > until:
            break
        await asyncio.sleep(LOOK)
        notes = _notes(ids, folders)
    return notes


def _notes(calls: list[str], folders: list[str]) -> dict[str, Line]:
    from detent.app.workshop import NOTES

    found: dict[str, Line] = {}
    for folder in folders:
        found |= read_notes(os.path.join(folder, NOTES), calls)
    return found


def _has_notes(folders: list[str]) -> bool:
    from detent.app.workshop import NOTES

    return any(os.path.exists(os.path.join(folder, NOTES)) for folder in folders)


def _spilled(call: str, folders: list[str]) -> str:
    """The file that took what was too long for the model."""
    from detent.app.outputs import fitting

    for folder in folders:
        path = os.path.join(folder, f"{fitting(f'Bash-{call}')}.txt")
        if os.path.exists(path):
            return path
    return ""


def _folders(engine: "Engine") -> list[str]:
    """Beside the log, and beside the one that it was copied from; of a subagent, also beside that
    of its session: there the commands of all are noted."""
    journal = engine.journal
    logs = dict.fromkeys(path for path in (journal.path, journal.earlier) if path)
    folders = [path.removesuffix(".jsonl") for path in logs]
    if journal.lineage is not None and journal.path:
        folders.append(os.path.dirname(os.path.dirname(journal.path)))
    return folders


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more
