"""What a child of a plan is told to do: its task, and the answers of those that it depends on."""

from collections.abc import Iterable, Mapping

from detent.ports.delegation import Assignment
from detent.tools.delegation.graph import Plan, PlannedChild
from detent.tools.delegation.sharing import shares, within
from detent.types.agents import AgentRecord

MOST_ANSWERS = 16_000
"""Characters of answers that a child is given beside its task."""
ANSWERS = "Answers of the agents whose work yours depends on:"
GO_ON = (
    "You were cut off. Look at what you have done already, and go on from there. "
    "This is your task, as it was given:"
)


def assignment_of(
    plan: Plan,
    child: PlannedChild,
    group_id: str,
    answers: Mapping[int, AgentRecord],
    with_context: bool,
    past: AgentRecord | None = None,
) -> Assignment:
    """`past` is what it came to in an earlier run, where it goes on from there."""
    wish = child.wish
    prompt = _with_answers(wish.prompt, plan, child, answers)
    return Assignment(
        prompt=prompt if past is None else f"{GO_ON}\n\n{prompt}",
        kind=wish.subagent_type,
        description=wish.description or child.name,
        name=child.name,
        model=wish.model,
        mode=wish.mode,
        effort=wish.effort,
        isolation=wish.isolation,
        at_end=wish.at_end,
        max_turns=wish.max_turns,
        resume=wish.resume_session_id if past is None else past.agent,
        with_context=wish.include_parent_context or with_context,
        group=group_id,
        index=child.index,
        siblings=len(plan.children),
    )


def _with_answers(
    prompt: str, plan: Plan, child: PlannedChild, answers: Mapping[int, AgentRecord]
) -> str:
    given = [
        (plan.children[index].name, answers[index].answer.strip())
        for index in _leads(plan, child)
        if index in answers and answers[index].state == "completed"
    ]
    if not given:
        return prompt
    rooms = shares([len(answer) for _, answer in given], MOST_ANSWERS)
    texts = zip(given, rooms, strict=True)
    told = (f"## {name}\n{within(answer, room)}" for (name, answer), room in texts)
    return "\n\n".join((prompt, ANSWERS, *told))


def _leads(plan: Plan, child: PlannedChild) -> Iterable[int]:
    """All that it waits for, in the order in which they were given."""
    after = () if child.after is None else (child.after,)
    grouped = (index for group in child.needs_groups for index in plan.groups[group].children)
    return sorted({*child.needs, *after, *grouped})
