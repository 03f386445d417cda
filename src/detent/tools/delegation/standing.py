"""How far a plan has come that was cut off, and how to go on with it."""

from collections.abc import Mapping

from detent.tools.delegation.conducting import Work
from detent.tools.delegation.sharing import within
from detent.types.agents import AgentRecord

GIST = 300
"""Characters of an answer."""


def standing(work: Work, records: Mapping[int, AgentRecord]) -> str:
    """A line for each child."""
    lines = (
        f"- {child.name}: {_of_child(records.get(child.index))}" for child in work.plan.children
    )
    return "\n".join(lines)


def how_to_go_on(work: Work) -> str:
    return (
        f'delegate_agent with "resume_group_id": "{work.call}" goes on: what is completed is not '
        "done again."
    )


def _of_child(record: AgentRecord | None) -> str:
    if record is None:
        return "not begun"
    match record.state:
        case "completed":
            gist = " ".join(record.answer.split())
            return f"completed: {within(gist, GIST)}" if gist else "completed"
        case "skipped":
            return f"skipped: {record.stop_reason}"
        case "running":  # of a run that is over
            return f"interrupted ({record.agent})"
        case state:
            error = f": {record.error}" if record.error else ""
            return f"{state} ({record.agent}){error}"
