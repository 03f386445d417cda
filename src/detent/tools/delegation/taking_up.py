"""A plan that was cut off is taken up: what is done stays done, what was cut off goes on."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from detent.ports import BadArguments
from detent.ports.delegation import Agents
from detent.tools.delegation.arguments import DelegateAgentArgs
from detent.tools.delegation.conducting import Work
from detent.tools.delegation.graph import BadGraph, planned
from detent.types.agents import AgentRecord

MOST_TIMES = 100
"""How often a call may have been taken up before."""

Parse = Callable[[str], DelegateAgentArgs]


def new_work(args: DelegateAgentArgs, call: str) -> Work:
    """Raises BadGraph."""
    return Work(planned(args), call, args.include_parent_context)


def earlier_work(args: DelegateAgentArgs, agents: Agents, parse: Parse) -> Work:
    """Raises BadGraph."""
    work = begun_work(args.resume_group_id, agents.began_with, parse)
    records = records_of(work, agents.all())
    running = [record.name for record in records.values() if record.state == "running"]
    if running:
        names = ", ".join(f"`{name}`" for name in running)
        raise BadGraph(f"{args.resume_group_id} is still at work: {names}.")
    again = ("interrupted", "stopped", *(("failed",) if args.retry_failed else ()))
    return replace(
        work,
        settled={i: r for i, r in records.items() if r.state not in (*again, "skipped")},
        cut_off={i: r for i, r in records.items() if r.state in again},
    )


def begun_work(group: str, began_with: Callable[[str], tuple[str, str]], parse: Parse) -> Work:
    """By the id of a group or of the call that began it, or one that has taken it up since."""
    wanted = group
    for _ in range(MOST_TIMES):
        call, arguments = began_with(wanted.partition("/")[0])
        if not call:
            break
        try:
            args = parse(arguments)
        except BadArguments:
            break
        if args.resume_group_id:
            wanted = args.resume_group_id
        elif args.groups:
            return new_work(args, call)
        else:
            break
    raise BadGraph(f"there is no group {group} to go on with. Begin it again with `groups`.")


def records_of(work: Work, records: Sequence[AgentRecord]) -> Mapping[int, AgentRecord]:
    """Of each child the last one: a child that was skipped may have begun since."""
    ids = {work.group_id(number) for number in range(len(work.plan.groups))}
    own = [record for record in records if record.group_id in ids]
    return {record.child_index: record for record in own}
