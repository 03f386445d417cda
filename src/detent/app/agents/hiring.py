"""Whether a subagent may begin, as what, and the engine that it works with."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.app.agents.child import ChildEngine, Post, engine_of
from detent.app.agents.crew import Crew
from detent.app.agents.files.sharing import apart_of
from detent.app.agents.kinds.record import GENERAL, AgentKind
from detent.app.agents.logs import journal_of
from detent.app.agents.permitting import why_not_started
from detent.app.engine import Engine
from detent.gate.child import stricter
from detent.gate.terms import parse_mode
from detent.ports.delegation import Assignment, CannotDelegate
from detent.tools.files.texts import counted
from detent.types.agents import AgentRecord, AgentStarted, Lineage
from detent.types.budget import Spent
from detent.types.errors import BadInput, NoModel

if TYPE_CHECKING:
    from detent.app.agents.files.worktrees import Worktree


GO_ON = "Go on with your task."
FRAMES = 4
"""On the stack, for each level of agents."""


class Hire(Struct, frozen=True):
    """Somebody who may begin."""

    kind: AgentKind
    lineage: Lineage
    assignment: Assignment

    @property
    def agent(self) -> str:
        return self.lineage.agent


def hire(
    crew: Crew,
    above: Engine,
    lineage: Lineage,
    assignment: Assignment,
    known: AgentRecord | None,
    *,
    is_judged: bool = True,
) -> Hire:
    """`known` is the one that is to go on; `is_judged` tells whether the call was looked at as one
    that starts an agent of this kind. Raises CannotDelegate."""
    wanted = assignment.kind or (known.kind if known is not None else GENERAL)
    kind = crew.kinds.find(wanted)
    if kind is None:
        raise CannotDelegate(f"There is no agent {wanted!r}. Known agents: {crew.kinds.names()}.")
    if reason := why_not_started(above.gate, kind, assignment.kind if is_judged else None):
        raise CannotDelegate(f"No agent was started: {reason}")
    for chief in _chiefs(crew, above.journal.lineage):
        if not chief.may_begin(kind):
            allowed = ", ".join(chief.may_start or ()) or "none"
            raise CannotDelegate(f"{chief.name} may not start {kind.name}, only: {allowed}.")
    if crew.deepest and lineage.depth > crew.deepest:
        raise CannotDelegate(
            f"No agent was started: you work {counted(lineage.depth - 1, 'level')} below the "
            f"session, and {crew.deepest} are the most (setting maxAgentDepth). Do it yourself."
        )
    if lineage.depth > sys.getrecursionlimit() // FRAMES:  # whoever is below asks all above
        raise CannotDelegate("No agent was started: it would be too deep. Do it yourself.")
    if (lacking := above.kit.account.take(Spent(delegations=1))) is not None:
        raise CannotDelegate(f"No agent was started: {lacking.message}")
    if known is not None:
        assignment = _going_on(assignment, known)
    assignment = replace(assignment, name=crew.free_name(assignment.name))
    return Hire(kind, replace(lineage, kind=kind.name), assignment)


def _going_on(assignment: Assignment, known: AgentRecord) -> Assignment:
    """What it was told to keep to, it keeps to."""
    try:
        modes = [parse_mode(mode) for mode in (assignment.mode, known.mode) if mode]
    except BadInput as error:
        raise CannotDelegate(f"No agent was started: {error}") from None
    turns = [most for most in (assignment.max_turns, known.max_turns) if most]
    return replace(
        assignment,
        prompt="\n\n".join((*known.unread, assignment.prompt or GO_ON)),
        model=assignment.model or known.wanted_model,
        effort=assignment.effort or known.effort,
        at_end=assignment.at_end or known.at_end,
        resume=known.agent,
        name=assignment.name or known.name,
        description=assignment.description or known.description,
        isolation="worktree" if known.worktree else assignment.isolation,
        mode=stricter(*modes) if modes else "",
        max_turns=min(turns, default=0),
    )


def _chiefs(crew: Crew, lineage: Lineage | None) -> Iterator[AgentKind]:
    """All on the way up: what one may not start nobody starts for it."""
    while lineage is not None:
        if (kind := crew.kinds.find(lineage.kind)) is not None:
            yield kind
        above = crew.at_work.get(lineage.parent)
        lineage = above.work.engine.journal.lineage if above is not None else None


def equip(crew: Crew, above: Engine, one: Hire, worktree: "Worktree | None" = None) -> ChildEngine:
    """Raises CannotDelegate."""
    folder, top = (above.cwd, "") if worktree is None else (worktree.folder, worktree.top)
    copy_of = "" if worktree is None else worktree.repository.top
    post = Post(crew.root, above, one.kind, one.lineage, one.assignment, folder, top, copy_of)
    journal = journal_of(crew, above, one.assignment, one.lineage)
    try:
        engine = engine_of(post, journal)
        crew.sharing.equip(engine, one.agent, post.name, top or apart_of(above))
        return engine
    except (BadInput, NoModel) as error:
        journal.close()
        raise CannotDelegate(f"No agent was started: {error}") from None


def started(
    lineage: Lineage,
    task: Assignment,
    *,
    model: str = "",
    background: bool = False,
    goes_on: bool = False,
    worktree: str = "",
) -> AgentStarted:
    return AgentStarted(
        agent=lineage.agent,
        kind=lineage.kind,
        call_id=lineage.call,
        description=task.description,
        name=task.name,
        parent=lineage.parent,
        group=lineage.group,
        index=lineage.index,
        depth=lineage.depth,
        model=model,
        background=background,
        goes_on=goes_on,
        worktree=worktree,
        mode=task.mode,
        max_turns=task.max_turns,
        effort=task.effort,
        wanted_model=task.model,
        at_end=task.at_end,
    )
