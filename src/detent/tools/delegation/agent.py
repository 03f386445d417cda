"""Agent: a subagent does a piece of work, and what it says last is the result."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.ports.delegation import Agents, Assignment, CannotDelegate
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.delegation.telling import came_to, data_of, told
from detent.types.agents import AgentRecord
from detent.types.effects import Effect, Spawns
from detent.types.outcomes import Cut, Failed, Outcome, done

GENERAL = "general-purpose"


class AgentArgs(Struct, frozen=True):
    description: Annotated[str, Meta(description="The task in three to five words.")]
    prompt: Annotated[str, Meta(description="All that the agent has to know.", min_length=1)]
    subagent_type: Annotated[
        str, Meta(description="Which agent; general-purpose unless given.")
    ] = ""
    model: Annotated[str, Meta(description="Another model than yours.")] = ""
    run_in_background: Annotated[
        bool, Meta(description="Go on at once; you are told when it has ended.")
    ] = False
    name: Annotated[str, Meta(description="What SendMessage and others call it.")] = ""
    isolation: Annotated[
        Literal["", "worktree"],
        Meta(description="worktree: it works in a copy, merged when it is done."),
    ] = ""
    resume: Annotated[str, Meta(description="The id of an agent that goes on.")] = ""
    at_end: Annotated[
        Literal["", "merge", "keep", "discard"],
        Meta(description="What becomes of the worktree: merge unless given."),
    ] = ""
    mode: Annotated[str, UNADVERTISED] = ""
    effort: Annotated[str, UNADVERTISED] = ""
    max_turns: Annotated[int, UNADVERTISED] = 0


class Agent(TypedTool[AgentArgs]):
    name = "Agent"
    aliases = ("Task", "TaskTool", "AgentTool", "task")
    renames = (("agent", "subagent_type"), ("agent_type", "subagent_type"))
    timeout = None  # it has the budget's
    args = AgentArgs

    def effects(self, args: AgentArgs, cwd: str) -> tuple[Effect, ...]:
        return (Spawns(args.subagent_type or GENERAL),)

    async def act(self, args: AgentArgs, desk: Desk) -> Outcome:
        assignment = Assignment(
            prompt=args.prompt,
            kind=args.subagent_type,
            description=args.description,
            name=args.name,
            model=args.model,
            mode=args.mode,
            effort=args.effort,
            isolation=args.isolation,
            at_end=args.at_end,
            max_turns=args.max_turns,
            resume=args.resume,
        )
        agents = desk.shop.agents
        try:
            if args.run_in_background or agents.goes_aside(args.subagent_type):
                return _launched(await agents.start(assignment, desk.call_id))
            desk.cut_short(lambda: _so_far(agents, desk.call_id))
            with desk.leaving(lambda: agents.leave(desk.call_id)):
                record = await agents.run(assignment, desk.call_id, desk.progress)
            return _left(record) if record.background else outcome_of(record)
        except CannotDelegate as error:
            return Failed(f"Agent: {error}")


TOOL = Agent


def outcome_of(record: AgentRecord) -> Outcome:
    text = f"{came_to(record)}\n\n[agent {record.agent}: {told(record)}]"
    if record.state == "completed":
        return done(text, data_of(record))
    if record.state == "stopped":
        return Cut("the agent was stopped", text)
    return Failed(text, data_of(record))


def _so_far(agents: Agents, call_id: str) -> str:
    """Of one that was stopped with the call: what it came to, and how it goes on."""
    records = [one for one in agents.all() if one.call_id == call_id]
    if not records:
        return ""
    last = records[-1]
    return f"{came_to(last)}\n\n[{goes_on(last.agent)}]"


def goes_on(agent: str) -> str:
    return f"Agent with `resume` {agent} lets it go on."


def _launched(record: AgentRecord) -> Outcome:
    return _in_background(record, f"The agent {record.agent} works in the background.")


def _left(record: AgentRecord) -> Outcome:
    where = f"The user has sent the agent {record.agent} to the background, where it works on."
    return _in_background(record, where)


def _in_background(record: AgentRecord, where: str) -> Outcome:
    text = (
        f"{where} You are told when it has ended; SendMessage reaches it, TaskOutput waits for it, "
        "TaskStop ends it."
    )
    return done(text, {**data_of(record), "status": "async_launched", "isAsync": True})
