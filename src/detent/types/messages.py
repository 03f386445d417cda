"""What a model is asked and what it answers. Messages are projected from the log, never stored."""

from collections.abc import Sequence

from msgspec import Raw, Struct

from detent.types.content import AssistantBlock, Call, UserBlock
from detent.types.usage import Usage

USUAL_OUTPUT = 32_000
"""Tokens an answer may have at first, where nobody says otherwise."""


class User(Struct, frozen=True):
    content: tuple[UserBlock, ...]


class Assistant(Struct, frozen=True):
    content: tuple[AssistantBlock, ...]
    model: str = ""
    """Who wrote it: opaque blocks (signatures) go back only to the same model."""
    provider: str = ""


Message = User | Assistant


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it; neutral, each wire gives it its own shape."""

    name: str
    description: str
    schema: Raw


class Task(Struct, frozen=True):
    """What a model is told that it may take for all of its work, in tokens."""

    total: int
    remaining: int | None = None
    """Where what it took before can no longer be read."""


class Request(Struct, frozen=True):
    system: tuple[str, ...]
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    max_output: int = 0
    """Output token limit; 0 leaves the choice to the model's catalog entry."""
    form: Raw | None = None
    """The JSON schema the answer must have, for wires that can hold a model to one."""
    task: Task | None = None
    """For wires that know of it."""


class Reply(Struct, frozen=True):
    """One whole model answer."""

    content: tuple[AssistantBlock, ...]
    stop: str
    usage: Usage
    model: str
    message_id: str = ""
    provider: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(block for block in self.content if isinstance(block, Call))
