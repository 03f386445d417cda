"""The log of a subagent: a new one, its own from before, or one that begins with what others
know."""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from detent.app.agents.crew import Crew
from detent.app.engine import Engine
from detent.app.journal import Journal, go_on, opening
from detent.context.project import not_rewound
from detent.ports.delegation import Assignment, CannotDelegate
from detent.session.log import FileLog, MemoryLog
from detent.session.store import Store
from detent.types.agents import Lineage
from detent.types.content import Call
from detent.types.errors import BadInput
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Entry,
    Learned,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Trimmed,
    TurnEnded,
    Withheld,
)

SPOKEN = (
    Prompted, Reminded, Replied, CallStarted, CallEnded, Compacted, Trimmed, Restored, Learned,
    Withheld, Rewound, TurnEnded,
)  # fmt: skip
"""Of what a model reads, directly or not; what else a log tells is another agent's affair."""


def journal_of(crew: Crew, above: Engine, assignment: Assignment, lineage: Lineage) -> Journal:
    """Raises CannotDelegate."""
    if assignment.resume:
        return _resumed(crew, above, assignment.resume, lineage)
    past = known_to(above.journal.log.entries) if assignment.with_context else ()
    return _begun(crew, above, lineage, past)


def _begun(crew: Crew, above: Engine, lineage: Lineage, past: Sequence[Entry]) -> Journal:
    now, home = crew.root.grounds.clock.now, crew.root.grounds.home
    path = crew.log_of(lineage.agent)
    log = FileLog(path, now, home=home) if path else MemoryLog(now)
    if not path:
        crew.unsaved[lineage.agent] = log
    journal = Journal(lineage.agent, log, not past, ())
    journal.lineage = lineage
    if past:
        opened = opening(lineage.agent, above.cwd, lineage)
        parent, last = above.journal.session, past[-1].seq
        with log.copying():
            log.adopt(replace(opened, seq=1, at=now(), parent=parent, forked_at=last))
            for entry in past:
                log.adopt(entry)
    return journal


def _resumed(crew: Crew, above: Engine, wanted: str, lineage: Lineage) -> Journal:
    """An agent of this session goes on in its own log; of any other session there is a copy."""
    try:
        if wanted == lineage.agent:
            return _own(crew, above, lineage)
        from detent.session.reading import read_log

        if (path := _session_here(crew, wanted)) is None:
            raise CannotDelegate(f"There is no agent or session {wanted} to go on from.")
        reading = read_log(path)
        entries = reading.entries[: reading.understood]
    except (BadInput, OSError) as error:
        raise CannotDelegate(f"{wanted} cannot go on: {error}") from None
    return _begun(crew, above, lineage, known_to(entries))


def _session_here(crew: Crew, wanted: str) -> str | None:
    """By its whole id, and of this folder: what was said elsewhere is not for this model to read,
    and no name leads out of the folder of the logs."""
    grounds = crew.root.grounds
    logs = Store(grounds.home).files_of(grounds.cwd)
    return next((log for log in logs if os.path.basename(log) == f"{wanted}.jsonl"), None)


def _own(crew: Crew, above: Engine, lineage: Lineage) -> Journal:
    """Where the session is a copy, its agents' logs lie with the first one, and are copied too."""
    from detent.app.agents.mending import entries_of, folders_of

    grounds, path = crew.root.grounds, crew.log_of(lineage.agent)
    unsaved = crew.unsaved.get(lineage.agent)
    saved = entries_of(folders_of(crew.root), lineage.agent)
    entries = saved if unsaved is None else unsaved.entries
    if not any(isinstance(entry, Prompted) for entry in entries):
        raise CannotDelegate(
            f"{lineage.agent} has nothing to go on from: give its task to a new agent."
        )
    if unsaved is not None:
        journal = Journal(lineage.agent, unsaved, False, ())
    elif path and os.path.exists(path):
        journal = go_on(path, grounds.home, grounds.clock.now)
    else:
        return _begun(crew, above, lineage, known_to(entries))
    journal.lineage = lineage
    return journal


def known_to(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """What a model was told and has said, but for an answer whose calls still run, or that it is
    still giving: calls begin before an answer is whole."""
    still = [entry for entry in not_rewound(entries) if isinstance(entry, SPOKEN)]
    ended = {entry.call_id for entry in still if isinstance(entry, CallEnded)}
    last = _last(Replied, still)
    if last >= 0 and not _calls_of(still[last]) <= ended:
        still = still[:last]
    told = set[str]().union(*map(_calls_of, still))
    asked = max(_last(Prompted, still), _last(Replied, still))
    return tuple(
        entry
        for number, entry in enumerate(still)
        if not (isinstance(entry, CallStarted | CallEnded) and number > asked)
        or entry.call_id in told
    )


def own(entries: Sequence[Entry]) -> list[Entry]:
    """Without what others knew when it began."""
    opened = next((entry for entry in entries if isinstance(entry, Opened)), None)
    since = opened.forked_at if opened is not None else 0
    return [entry for entry in entries if entry.seq > since]


def _last(kind: type[Entry], entries: Sequence[Entry]) -> int:
    return max((n for n, entry in enumerate(entries) if isinstance(entry, kind)), default=-1)


def _calls_of(reply: Entry) -> set[str]:
    content = reply.content if isinstance(reply, Replied) else ()
    return {block.id for block in content if isinstance(block, Call)}
