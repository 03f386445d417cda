"""TaskStop: ends a background job or an agent."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.shell.jobs import is_running, standing
from detent.types.effects import Effect
from detent.types.outcomes import Failed, Outcome, done


class TaskStopArgs(Struct, frozen=True):
    task_id: Annotated[str, Meta(description="The job, as Bash named it; or an agent.")]


class TaskStop(TypedTool[TaskStopArgs]):
    name = "TaskStop"
    aliases = ("KillShell", "KillBash")
    renames = (("shell_id", "task_id"), ("bash_id", "task_id"))
    args = TaskStopArgs

    def effects(self, args: TaskStopArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskStopArgs, desk: Desk) -> Outcome:
        job = desk.shop.jobs.find(args.task_id)
        if job is None:
            return await _stop_agent(args.task_id, desk)
        was = "Stopped: " if is_running(job) else "It had ended already: "
        job = await desk.shop.jobs.stop(args.task_id)
        text = f"{was}{standing(job)} Its output is in {job.path or 'no file'}."
        return done(text, {"message": text, "task_id": job.id, "task_type": "local_bash"})


TOOL = TaskStop


async def _stop_agent(task: str, desk: Desk) -> Outcome:
    from detent.tools.delegation.agent_tasks import agent_stopped, unknown_task

    agent = desk.shop.agents.find(task)
    if agent is None:
        return Failed(f"TaskStop: {unknown_task(task, desk)}")
    return agent_stopped(agent, await desk.shop.agents.stop(agent.agent))
