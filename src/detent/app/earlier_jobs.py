"""Background jobs of a session's earlier runs: their ids stay taken, and the model hears that they
are over. Read from the log when a session goes on or is forked."""

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from detent.ports import Job
from detent.tools.shell.jobs import NEWS, is_running, news, standing
from detent.types.effects import Runs
from detent.types.events import CallEnded, CallStarted, Entry, Reminded, Rewound
from detent.types.outcomes import Done

UNHEARD_OF = "is over: it was ended with the run before, unless it had ended by itself"
STILL = "[Still in the background:"
HEARD_OF = "ended in an earlier run of this session"

_TOLD = re.compile(rf"^{re.escape(NEWS)} (job_\d+) \(", re.MULTILINE)
"""What a job printed is quoted in the news, so no line of it looks like this."""


def earlier_jobs(entries: Sequence[Entry]) -> tuple[Job, ...]:
    history = _History()
    for entry in entries:
        history.add(entry)
    return history.jobs()


def news_of(jobs: Sequence[Job]) -> str:
    """What the model must be told of them; empty when it has heard of every end."""
    return "\n".join(filter(None, map(_news, jobs)))


def _news(job: Job) -> str:
    if job.past == UNHEARD_OF:
        return f"{NEWS} {standing(job)} Its output is in {job.path}.]"
    if not job.kept:
        return ""
    if is_running(job):
        return f"{STILL} {standing(job)} Its output goes to {job.path}.]"
    return news(job)


class _History:
    def __init__(self) -> None:
        self._commands: dict[str, str] = {}
        self._begun: dict[str, tuple[int, Job]] = {}
        """By the job's id: the number of the entry that says so, and the job."""
        self._told: dict[str, int] = {}
        """Jobs whose end the model knows, and the number of the entry that tells it."""

    def add(self, entry: Entry) -> None:
        match entry:
            case CallStarted(call_id=call_id, effects=effects):
                commands = (effect.command for effect in effects if isinstance(effect, Runs))
                self._commands[call_id] = next(commands, "")
            case CallEnded(outcome=Done(data=dict(data))):
                self._called(entry, data)
            case Reminded(source="background", text=text):
                self._told.update(dict.fromkeys(_TOLD.findall(text), entry.seq))
            case Rewound(to=to):
                self._told = {job: seq for job, seq in self._told.items() if seq <= to}
                unknown = [job for job, (seq, _) in self._begun.items() if seq > to]
                self._told.update(dict.fromkeys(unknown, 0))
            case _:
                pass

    def _called(self, ended: CallEnded, data: dict[str, Any]) -> None:
        match data:
            case {"backgroundTaskId": str(job)}:
                command = self._commands.get(ended.call_id, "")
                path = str(data.get("outputPath", ""))
                self._begun[job] = ended.seq, Job(job, command, path, 0.0, past=HEARD_OF)
                self._told.pop(job, None)
            case {"task_type": "local_bash", "task_id": str(job)}:
                if data.get("status") != "running":
                    self._told[job] = ended.seq
            case _:
                pass

    def jobs(self) -> tuple[Job, ...]:
        return tuple(
            job if name in self._told else replace(job, past=UNHEARD_OF)
            for name, (_, job) in self._begun.items()
        )
