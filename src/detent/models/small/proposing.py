"""The step between "I want to edit" and an edit: the model is asked for code, not for a quotation.

A fresh, tiny conversation: the task, what went wrong, the file as it is now. It is what a small
model was trained on, and it keeps the tool notation out of its way.
"""

from detent.models.small.edits import SHORT_ENOUGH, Shown
from detent.models.small.story import Step, Story, task_of
from detent.models.small.telling import (
    LONGEST_FILE,
    LONGEST_RESULT,
    LONGEST_TASK,
    failed_command,
    shortened,
)
from detent.types.content import Text
from detent.types.messages import Message, User

SYSTEM = ("You are a careful programmer.",)
MEND = "Write {path} again without the mistake, in one code block."
CHANGE = "Write {path} again with the change that the task asks for, in one code block."
PICK = 'Which line must change? Answer with JSON: {"why": "…", "old": "the line", "new": "…"}'


def can_rewrite(shown: Shown) -> bool:
    size = sum(map(len, shown.lines))
    return shown.whole and len(shown.lines) <= SHORT_ENOUGH and size <= LONGEST_FILE


def rewrite_request(story: Story, shown: Shown) -> list[Message]:
    wish = MEND if failed_command(story) else CHANGE
    return [_asked(story, shown, wish.format(path=shown.path))]


def line_request(story: Story, shown: Shown) -> list[Message]:
    return [_asked(story, shown, PICK)]


def _asked(story: Story, shown: Shown, wish: str) -> Message:
    parts = [shortened(task_of(story), LONGEST_TASK)]
    if command := failed_command(story):
        parts.append(f"`{command}` printed:\n{shortened(_printed(story), LONGEST_RESULT)}")
    parts.append(f"{shown.path} is:\n{shortened(chr(10).join(shown.lines), LONGEST_FILE)}")
    return User((Text("\n\n".join([*parts, wish])),))


def _printed(story: Story) -> str:
    """Of the last command: what failed last is what has to be mended."""
    commands = [one for one in story if isinstance(one, Step) and one.tool == "Bash"]
    return commands[-1].result if commands else ""
