"""A conversation read as a story: what was asked, and the steps taken since.

Everything the small profile decides, it decides from this, and this comes from the messages alone:
so a resumed session goes on as if it had never stopped.
"""

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from detent.types.codec import arguments_object
from detent.types.content import Call, Result, Text, plain_text
from detent.types.messages import Assistant, Message, User

_TAGGED = re.compile(r"(?:This file has changed\.[^\n]*\n)?<(?:surroundings>|memory file=)")
_MEMORY = re.compile(r"<memory file=[^\n]*\n\([^\n]*\)\n(.*)\n</memory>", re.DOTALL)
"""As the prompt speaks of them; a file that is gone has no line about whose it is."""


class Asked(Struct, frozen=True):
    """Words of the user, or of the program on their behalf. The latest ones are the task."""

    text: str
    notes: tuple[str, ...] = ()
    """Memory files that came with them."""


class Said(Struct, frozen=True):
    text: str


class Step(Struct, frozen=True):
    """A call and what came of it."""

    tool: str
    arguments: dict[str, Any]
    result: str
    failed: bool

    def same_as(self, tool: str, arguments: dict[str, Any]) -> bool:
        return self.tool == tool and self.arguments == arguments

    @property
    def path(self) -> str:
        return str(self.arguments.get("file_path", ""))

    @property
    def changed_a_file(self) -> bool:
        return self.tool in ("Edit", "Write") and not self.failed


Happening = Asked | Said | Step
Story = tuple[Happening, ...]


def story_of(messages: Sequence[Message], folder: str = "") -> Story:
    """Paths inside `folder` are told from there: shorter, and what a small model gets right."""
    results = {
        block.call_id: block
        for message in messages
        if isinstance(message, User)
        for block in message.content
        if isinstance(block, Result)
    }
    story: list[Happening] = []
    for message in messages:
        if isinstance(message, Assistant):
            story += _told(message, results, f"{folder}/" if folder else "")
        elif asked := _asked(message):
            story.append(asked)
    return tuple(story)


def _asked(message: User) -> Asked | None:
    """Without the date and what git says: they would stand where the task is looked for. So would
    memory, and what of it is met on the way comes with no task at all."""
    texts = [block.text for block in message.content if isinstance(block, Text)]
    told = [text for text in texts if _TAGGED.match(text)]
    words = [text for text in texts if not _TAGGED.match(text)]
    if told and len(told) == len(message.content):  # then the prompt itself looks like that
        words = [told.pop()]
    task = "".join(words).strip()
    return Asked(task, tuple(filter(None, map(_note_in, told)))) if task else None


def _note_in(text: str) -> str:
    """What a memory file says; empty for what is none, or counts no longer."""
    found = _MEMORY.search(text)
    return found[1].strip() if found else ""


def steps_of(story: Story) -> list[Step]:
    return [one for one in story if isinstance(one, Step)]


def task_of(story: Story) -> str:
    return next((one.text for one in reversed(story) if isinstance(one, Asked)), "")


def _told(message: Assistant, results: dict[str, Result], folder: str) -> list[Happening]:
    """Words first: the results of the calls come after everything that was said."""
    words = plain_text(message.content).strip()
    told: list[Happening] = [Said(words)] if words else []
    for block in message.content:
        if isinstance(block, Call):
            result = results.get(block.id)
            text = plain_text(result.content) if result else ""
            failed = result is None or result.is_error
            arguments = arguments_object(block.arguments) or {}
            told.append(Step(block.name, _inside(arguments, folder), _short(text, folder), failed))
    return told


def _inside(arguments: dict[str, Any], folder: str) -> dict[str, Any]:
    path = arguments.get("file_path")
    return (
        {**arguments, "file_path": path.removeprefix(folder)}
        if isinstance(path, str)
        else arguments
    )


def _short(text: str, folder: str) -> str:
    return text.replace(folder, "") if folder else text
