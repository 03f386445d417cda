"""The repeat guard: small models do the same thing again and again. Here it is not done again."""

from collections.abc import Sequence
from typing import Any

from detent.models.small.edits import editable, shown_files
from detent.models.small.story import Step, Story, steps_of, task_of
from detent.models.small.telling import failed_command, result_text, shortened

LONGEST_REMINDER = 400
MOST_LOOKS = 3


def repeated(story: Story, tool: str, arguments: dict[str, Any]) -> str | None:
    """What an identical call came to, if nothing that matters has changed since. Else None."""
    for step in reversed(steps_of(story)):
        if step.same_as(tool, arguments):
            return shortened(result_text(step), LONGEST_REMINDER)
        if tool not in ("Edit", "Write") and _matters(step, tool):
            return None
    return None


def _matters(step: Step, tool: str) -> bool:
    """A changed file makes every look new; a command does, but for another command.

    The same change is never made twice: it would go to and fro between two mistakes.
    """
    return step.changed_a_file or (step.tool == "Bash" and tool != "Bash")


def note(result: str) -> str:
    return f"You already did this. Its result was:\n{result}\n\nDo something else, or answer."


def without_hasty_answer(shorts: Sequence[str], story: Story) -> list[str]:
    """No claim yet: while a failure was not looked into, and before a change has been checked."""
    hasty = _not_looked_into(story) or _not_checked(story)
    others = [short for short in shorts if short != "answer"]
    return others if hasty and others else list(shorts)


def _not_checked(story: Story) -> bool:
    steps = steps_of(story)
    return bool(failed_command(story)) and steps[-1].changed_a_file


def _not_looked_into(story: Story) -> bool:
    """A command has just failed and no program was read. Perhaps there is none to be found."""
    if not failed_command(story) or editable(shown_files(story), task_of(story)):
        return False
    recent = steps_of(story)[-MOST_LOOKS:]
    return any(step.tool == "Bash" and step.failed for step in recent)
