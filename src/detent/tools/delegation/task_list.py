"""TaskList: the shared tasks, and the agents that may be at them."""

from typing import Any

from msgspec import Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.delegation.task_shapes import data_of, line_of, tasks_of
from detent.tools.delegation.telling import told
from detent.types.agents import AgentRecord, Task
from detent.types.effects import Effect
from detent.types.outcomes import Outcome, done


class TaskListArgs(Struct, frozen=True):
    pass


class TaskList(TypedTool[TaskListArgs]):
    name = "TaskList"
    aliases = ("task_list",)
    args = TaskListArgs

    def effects(self, args: TaskListArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskListArgs, desk: Desk) -> Outcome:
        tasks, agents = tasks_of(desk), desk.shop.agents.all()
        lines = [line_of(task, tasks, _owner(task, agents)) for task in tasks.values()]
        lines = lines or ["There are no tasks."]
        if agents:
            lines += ["", "Your subagents:", *map(_agent_line, agents)]
        data = {
            "tasks": [data_of(task, tasks) for task in tasks.values()],
            "agents": [_agent(one) for one in agents],
        }
        return done("\n".join(lines), data)


TOOL = TaskList


def _owner(task: Task, agents: tuple[AgentRecord, ...]) -> str:
    """An agent that no longer runs will not go on with what it has claimed."""
    for one in agents:
        is_gone = one.state != "running" and task.status == "in_progress"
        if is_gone and task.owner in (one.agent, one.name):
            return f"{task.owner}, which is {one.state}"
    return task.owner


def _agent_line(one: AgentRecord) -> str:
    about = f": {one.description}" if one.description else ""
    came_to = "" if one.state == "running" else f" ({told(one)})"
    return f"{one.name or one.agent} [{one.kind}, {one.state}]{about}{came_to}"


def _agent(one: AgentRecord) -> dict[str, Any]:
    return {
        "agentId": one.agent,
        "name": one.name,
        "agentType": one.kind,
        "status": one.state,
        "description": one.description,
    }
