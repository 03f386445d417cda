"""delegate_agent: a graph of subtasks. Each child begins when what it depends on is done."""

import asyncio
from typing import Any

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.tools.delegation.agent import GENERAL
from detent.tools.delegation.arguments import DelegateAgentArgs, in_groups
from detent.tools.delegation.conducting import Conductor, Work
from detent.tools.delegation.graph import BadGraph
from detent.tools.delegation.report import Report, report_of
from detent.tools.delegation.standing import how_to_go_on, standing
from detent.tools.delegation.taking_up import earlier_work, new_work, records_of
from detent.tools.shell.spill import Spill
from detent.types.effects import Effect, Spawns
from detent.types.outcomes import Failed, Outcome, done

_at_work: set[tuple[int, str]] = set()
"""Whose agents, and the calls that began what they do now."""
NOT_LOOKED_AT = "What was given beside `resume_group_id` was not looked at: the first call counts"


class DelegateAgent(TypedTool[DelegateAgentArgs]):
    name = "delegate_agent"
    aliases = ("DelegateAgent", "delegate_agents", "delegate")
    renames = (("group_id", "resume_group_id"), ("resume", "resume_group_id"))
    timeout = None  # as long as its children take
    args = DelegateAgentArgs

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        return super().adapt(in_groups(given))

    def effects(self, args: DelegateAgentArgs, cwd: str) -> tuple[Effect, ...]:
        """Of a call that is taken up, all kinds were judged when it began."""
        kinds = (child.subagent_type for group in args.groups for child in group.children)
        named = dict.fromkeys(kind or GENERAL for kind in kinds)
        return tuple(Spawns(kind) for kind in named or (GENERAL,))

    async def act(self, args: DelegateAgentArgs, desk: Desk) -> Outcome:
        try:
            if args.resume_group_id:
                work = earlier_work(args, desk.shop.agents, self.parse)
            else:
                work = new_work(args, desk.call_id)
        except BadGraph as error:
            return Failed(f"{self.name}: {error}")
        mine = id(desk.shop.agents), work.call
        if mine in _at_work:  # of two calls in one answer that take up the same
            return Failed(f"{self.name}: {work.call} is still at work. Wait for its end.")
        _at_work.add(mine)
        try:
            return await self._conducted(args, work, desk)
        finally:
            _at_work.discard(mine)

    async def _conducted(self, args: DelegateAgentArgs, work: Work, desk: Desk) -> Outcome:
        desk.cut_short(lambda: _so_far(work, desk))
        conductor = Conductor(work, desk)
        await conductor.run()
        report = report_of(work, conductor.records, conductor.groups)
        text = await asyncio.to_thread(_fitted, report, desk)
        if args.resume_group_id and args.groups:
            text = f"{text}\n\n[{NOT_LOOKED_AT}]"
        if any(record.state == "completed" for record in conductor.records.values()):
            return done(text, report.data)
        return Failed(text, report.data)


TOOL = DelegateAgent


def _so_far(work: Work, desk: Desk) -> str:
    records = records_of(work, desk.shop.agents.all())
    return f"{standing(work, records)}\n{how_to_go_on(work)}"


def _fitted(report: Report, desk: Desk) -> str:
    """What is cut in the answers lies whole in a file."""
    if report.text == report.whole:
        return report.text
    whole = report.whole.encode("utf-8", "replace")
    spill = Spill(lambda: desk.shop.outputs.create(f"delegate_agent-{desk.call_id}"))
    spill.feed(whole)
    spill.close()
    return f"{report.text}\n\n[{spill.where(len(whole))}]"
