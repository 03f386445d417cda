"""The conversation that a request carries, read the same from every wire."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant"]
_Object: TypeAlias = dict[str, Any]
_SCENARIO = re.compile(r"(?:PARITY_)?SCENARIO:([A-Za-z0-9_.-]+)")


class ToolResult(NamedTuple):
    id: str
    text: str
    is_error: bool


class Said(NamedTuple):
    """One message: its text, the calls it makes and the results it brings.

    Where a wire has no ids, a call and its result are known by their place.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()


def scenario_in(texts: Sequence[str]) -> str | None:
    """The scenario that the last text of the user names, else the first."""
    for text in (*texts[-1:], *texts[:1]):
        names = _SCENARIO.findall(text)
        if names:
            return str(names[-1])
    return None


def talk_of(body: _Object) -> list[Said]:
    if "contents" in body:
        return [*_instructed(body.get("systemInstruction")), *_gemini(_objects(body["contents"]))]
    if "input" in body:
        return [*_instructed(body.get("instructions")), *_responses(body["input"])]
    return [*_instructed(body.get("system")), *map(_message, _objects(body.get("messages")))]


def _instructed(found: object) -> list[Said]:
    text = _text_of(found["parts"] if isinstance(found, dict) and "parts" in found else found)
    return [Said("system", text)] if text else []


def _message(message: _Object) -> Said:
    """Anthropic Messages and Chat Completions differ where a message holds more than text."""
    content, role = message.get("content"), message.get("role")
    if role == "tool":
        result = ToolResult(str(message.get("tool_call_id", "")), _text_of(content), False)
        return Said("user", results=(result,))
    blocks = _objects(content)
    calls = [*_of_type(blocks, "tool_use"), *_objects(message.get("tool_calls"))]
    results = (
        ToolResult(
            str(block.get("tool_use_id", "")),
            _text_of(block.get("content")),
            bool(block.get("is_error")),
        )
        for block in _of_type(blocks, "tool_result")
    )
    ids = tuple(str(call.get("id", "")) for call in calls)
    return Said(_role(role), _text_of(content), ids, tuple(results))


def _responses(found: object) -> Iterator[Said]:
    """Items that follow each other on the same side make one message."""
    items = [{"role": "user", "content": found}] if isinstance(found, str) else _objects(found)
    for role, run in groupby(items, _side):
        group = list(run)
        calls = (str(item.get("call_id", "")) for item in _of_type(group, "function_call"))
        results = (
            ToolResult(str(item.get("call_id", "")), _text_of(item.get("output")), False)
            for item in _of_type(group, "function_call_output")
        )
        text = _lines(_text_of(item.get("content")) for item in group if "role" in item)
        yield Said(role, text, tuple(calls), tuple(results))


def _side(item: _Object) -> Role:
    if "role" in item:
        return _role(item["role"])
    return "user" if str(item.get("type", "")).endswith("_output") else "assistant"


def _gemini(contents: list[_Object]) -> Iterator[Said]:
    made = ""
    for number, content in enumerate(contents):
        role: Role = "assistant" if content.get("role") == "model" else "user"
        made = str(number) if role == "assistant" else made
        parts = _objects(content.get("parts"))
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        ids = (_placed(call, made, place) for place, call in enumerate(calls))
        results = (
            ToolResult(_placed(answer, made, place), *_answer(answer.get("response")))
            for place, answer in enumerate(answers)
        )
        shown = [part for part in parts if not part.get("thought")]
        yield Said(role, _text_of(shown), tuple(ids), tuple(results))


def _placed(found: _Object, made: str, place: int) -> str:
    return str(found.get("id") or f"{found.get('name')}-{made}-{place}")


def _answer(response: object) -> tuple[str, bool]:
    fields = response if isinstance(response, dict) else {}
    for key in ("output", "result", "error"):
        if key in fields:
            value = fields[key]
            return (value if isinstance(value, str) else json.dumps(value)), key == "error"
    return json.dumps(response), False


def _role(found: object) -> Role:
    match found:
        case "system" | "developer":
            return "system"
        case "assistant":
            return "assistant"
        case _:
            return "user"


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    return _lines(str(part["text"]) for part in _objects(content) if _is_text(part))


def _is_text(part: _Object) -> bool:
    return "text" in part and part.get("type", "text").endswith("text")


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)


def _objects(found: object) -> list[_Object]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _of_type(found: Iterable[_Object], kind: str) -> list[_Object]:
    return [each for each in found if each.get("type") == kind]
