"""A request as the scripted server received it, and what tests want to know of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

_SCENARIO = re.compile(r"(?:PARITY_)?SCENARIO:([A-Za-z0-9_.-]+)")


class ToolResult(NamedTuple):
    id: str
    text: str
    is_error: bool


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
    def messages(self) -> list[dict[str, Any]]:
        found = self.json.get("messages")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    @property
    def turn(self) -> int:
        """How many assistant messages the conversation holds already."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    @property
    def user_texts(self) -> list[str]:
        """The text of every user message that has any."""
        users = (each for each in self.messages if each.get("role") == "user")
        return [text for text in (_text_of(each.get("content")) for each in users) if text]

    @property
    def tool_results(self) -> list[ToolResult]:
        """The tool results since the last assistant message, on either wire."""
        latest: list[ToolResult] = []
        for message in self.messages:
            if message.get("role") == "assistant":
                latest = []
            latest += _results_of(message)
        return latest

    @property
    def scenario(self) -> str | None:
        """The scenario named in the last user text, else in the first."""
        texts = self.user_texts
        for text in texts[-1:] + texts[:1]:
            names = _SCENARIO.findall(text)
            if names:
                return str(names[-1])
        return None


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (each for each in content if isinstance(each, dict) and each.get("type") == "text")
    return "\n".join(str(part.get("text", "")) for part in parts)


def _results_of(message: dict[str, Any]) -> list[ToolResult]:
    content = message.get("content")
    if message.get("role") == "tool":
        return [ToolResult(str(message.get("tool_call_id", "")), _text_of(content), False)]
    if message.get("role") != "user" or not isinstance(content, list):
        return []
    return [
        ToolResult(
            str(block.get("tool_use_id", "")),
            _text_of(block.get("content")),
            bool(block.get("is_error")),
        )
        for block in content
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]
