"""A request as the scripted server received it, and what tests want to know of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from detent.testing.talk import Said, ToolResult, scenario_in, talk_of

__all__ = ["Request", "Said", "ToolResult"]

_GEMINI = re.compile(r"/models/([^/:]+):(stream)?generateContent", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """A request as it came in. `number` counts model requests from 1; others have 0."""

    number: int
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    at: float
    method: str = "POST"

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body as an object; ValueError when it is none."""
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError("the request body is not a JSON object")
        return value

    @property
    def model(self) -> str:
        """In the body, but on one wire it is in the path."""
        named = _GEMINI.search(self.path)
        return named[1] if named else str(self.json.get("model", "scripted"))

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted as a stream."""
        named = _GEMINI.search(self.path)
        return bool(named[2]) if named else self.json.get("stream") is True

    @property
    def messages(self) -> list[dict[str, Any]]:
        """As they came, on the two wires that call them so; `talk` is the same on all."""
        found = self.json.get("messages")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    @cached_property
    def talk(self) -> list[Said]:
        """The conversation, on any wire; the system prompt comes first."""
        return talk_of(self.json)

    @property
    def system(self) -> str:
        return "\n".join(said.text for said in self.talk if said.role == "system")

    @property
    def turn(self) -> int:
        """How many assistant messages the conversation holds already."""
        return sum(said.role == "assistant" for said in self.talk)

    @property
    def user_texts(self) -> list[str]:
        """The text of every user message that has any."""
        return [said.text for said in self.talk if said.role == "user" and said.text]

    @property
    def tool_results(self) -> list[ToolResult]:
        """The tool results since the last assistant message."""
        latest: list[ToolResult] = []
        for said in self.talk:
            latest = [] if said.role == "assistant" else [*latest, *said.results]
        return latest

    @property
    def scenario(self) -> str | None:
        """The scenario named in the last user text, else in the first."""
        return scenario_in(self.user_texts)
