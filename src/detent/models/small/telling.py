"""The story as a small model reads it: short results, the task said again after each.

The messages only grow: what was sent once is sent again as it was, so that the server's prefix
cache holds. Only when the window is full are the oldest steps left out, and then many at once.
"""

import os
import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

from detent.models.small.actions import ANSWER, as_action
from detent.models.small.edits import editable, read_text, shown_files
from detent.models.small.story import Asked, Said, Step, Story, task_of
from detent.types.codec import encode
from detent.types.content import Text
from detent.types.messages import Assistant, Message, User

LONGEST_RESULT = 1_600
LONGEST_FILE = 5_000
LONGEST_TASK = 600
LONGEST_NOTES = 1_000
MOST_NOTES = 4
LONGEST_SETTING = 600
CHARS_PER_TOKEN = 3
"""Code has shorter tokens than prose; an estimate that is too low only leaves room unused."""
READ_PROGRAM = "Read the program that is tested, not the test."
_FOLDER = re.compile(r"^- Working folder: (/.*)$", re.MULTILINE)
_IMPORTED = re.compile(r"^ *\d+\tfrom (\w+) import", re.MULTILINE)
GO_ON = "Go on."
LEFT_OUT = "(Earlier steps are left out.)"


@cache
def prompt() -> str:
    with open(os.path.join(os.path.dirname(__file__), "prompt.md"), encoding="utf-8") as file:
        return file.read().strip()


def folder_of(system: Sequence[str]) -> str:
    """Where the session works, as the long prompt tells it."""
    found = _FOLDER.search(system[-1]) if system else None
    return found[1] if found else ""


def system_of(system: Sequence[str]) -> tuple[str, ...]:
    """Our own short prompt; of the long one only the last part, which belongs to the session."""
    setting = shortened(system[-1], LONGEST_SETTING) if system else ""
    return (prompt(), setting) if setting else (prompt(),)


def messages_of(story: Story, room: int) -> list[Message]:
    """`room` is in tokens. The first message and the last are always there."""
    told = _told(story)
    first, rest = told[:1], told[1:]
    dropped = _dropped([_size(message) for message in rest], room * CHARS_PER_TOKEN)
    if not dropped:
        return told
    dropped += isinstance(rest[dropped], User) if dropped < len(rest) else 0  # roles alternate
    noted = [User((*message.content, Text(LEFT_OUT))) for message in first]
    return [*noted, *rest[dropped:]]


def _dropped(sizes: list[int], most: int) -> int:
    """How many of the oldest are left out: each time it gets too much, down to half of the room.

    Computed as if the conversation were growing again, so that it is the same in every request.
    """
    sums = [0, *accumulate(sizes)]
    dropped = 0
    for upto in range(1, len(sums)):
        while dropped < upto - 1 and sums[upto] - sums[dropped] > most:
            goal = sums[upto] - most // 2
            dropped = min(upto - 1, next(i for i, total in enumerate(sums) if total >= goal))
    return dropped


def _size(message: Message) -> int:
    return sum(len(block.text) for block in message.content if isinstance(block, Text))


def _told(story: Story) -> list[Message]:
    messages: list[Message] = []
    heard: list[str] = []
    task = ""
    for number, one in enumerate(story):
        match one:
            case Asked(text=text):
                task = shortened(text, LONGEST_TASK)
                heard.append(f"{_noted(one.notes)}Task: {shortened(text, LONGEST_FILE)}")
            case Said(text=text):
                _say(messages, heard, encode({"tool": ANSWER, "text": text}).decode())
                heard = []
            case Step():
                _say(messages, heard, action_text(one))
                heard = [result_text(one), f"Task: {task}\n{hint(story[: number + 1])}"]
    if len(heard) > 2:  # a new task came with the result: the old one is not said again
        del heard[1]
    return [*messages, _user(heard or [GO_ON])]


def _noted(notes: Sequence[str]) -> str:
    """The beginning of those nearest to the work, which come last: a small model follows a few
    lines, and loses the task in many."""
    if not notes:
        return ""
    nearest = notes[-MOST_NOTES:]
    share = LONGEST_NOTES // len(nearest)
    return "Notes:\n" + "\n".join(note[:share] for note in nearest) + "\n\n"


def _say(messages: list[Message], heard: list[str], text: str) -> None:
    if len(heard) > 2:
        del heard[1]
    messages.append(_user(heard or [GO_ON]))
    messages.append(Assistant((Text(text),)))


def _user(parts: list[str]) -> User:
    return User((Text("\n\n".join(parts)),))


def action_text(step: Step) -> str:
    """As the model wrote it. What it wrote into a file it will see in the file."""
    action = as_action(step.tool, step.arguments)
    return encode(
        {
            name: shortened(value, LONGEST_RESULT) if isinstance(value, str) else value
            for name, value in action.items()
        }
    ).decode()


def result_text(step: Step) -> str:
    match step.tool:
        case "Read" if not step.failed:
            text = read_text(step) or step.result
            return f"{step.path}:\n```\n{shortened(text, LONGEST_FILE)}\n```"
        case "Bash":
            outcome = "It failed." if step.failed else "It succeeded."
            return f"{shortened(step.result, LONGEST_RESULT)}\n{outcome}"
        case _:
            return shortened(step.result, LONGEST_RESULT)


def hint(story: Story) -> str:
    """What usually comes next: a small model does not plan."""
    steps = [one for one in story if isinstance(one, Step)]
    last, unmended = steps[-1], failed_command(story)
    if last.changed_a_file and unmended:
        return f"The file is changed. Run `{unmended}` again to see whether that was right."
    if last.changed_a_file:
        return "If it should be run or tested, do that now. If the task is done, answer."
    if last.tool == "Bash" and last.failed:
        known = editable(shown_files(story), task_of(story))
        return "Find the mistake and edit the program." if known else READ_PROGRAM
    if last.tool == "Read" and not last.failed and unmended:
        tested = last.path in editable(shown_files(story), task_of(story))
        return "If the mistake is in this file, edit it." if tested else _read_instead(last)
    if last.failed:
        return "That did not work. Try something else."
    return "If the task is done, answer. If not, take the next step."


def _read_instead(step: Step) -> str:
    """A test names what it tests."""
    imported = _IMPORTED.search(step.result)
    return f"{READ_PROGRAM} It may be {imported[1]}.py." if imported else READ_PROGRAM


def failed_command(story: Story) -> str:
    """The last command that failed and has not succeeded since; empty when all is well."""
    for one in reversed(story):
        if isinstance(one, Step) and one.tool == "Bash":
            return str(one.arguments.get("command", "")) if one.failed else ""
    return ""


def shortened(text: str, most: int) -> str:
    """Head and tail: a command's last lines say most, but its first ones say what it was."""
    if len(text) <= most:
        return text
    head = most // 3
    return f"{text[:head]}\n(… {len(text) - most} characters left out …)\n{text[head - most :]}"
