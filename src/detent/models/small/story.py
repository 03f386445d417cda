"""A conversation read as a story: what was asked, and the steps taken since.

Everything the small profile decides, it decides from this, and this comes from the messages alone:
so a resumed session goes on as if it had never stopped.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from detent.types.codec import arguments_object
from detent.types.content import Call, Result, Text, UserBlock, plain_text
from detent.types.messages import Assistant, Message, User


class Asked(Struct, frozen=True):
    """Words of the user, or of the program on their behalf. The latest ones are the task."""

    text: str


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
        elif text := plain_text(_said_for_the_task(message)).strip():
            story.append(Asked(text))
    return tuple(story)


def _said_for_the_task(message: User) -> tuple[UserBlock, ...]:
    """Without the date and what git says: they would stand where the task is looked for."""
    return tuple(
        block
        for block in message.content
        if not (isinstance(block, Text) and block.text.startswith("<surroundings>"))
    )


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
