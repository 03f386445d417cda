"""Chat Completions, our side: how messages, tools and wishes are written, quirk by quirk."""

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Raw

from detent.models.protocols.wire import Manner, document_text, parsed_arguments
from detent.types.codec import arguments_object
from detent.types.content import Call, Document, Result, ResultBlock, Text, Thinking
from detent.types.messages import Assistant, User

QUIRKS: Mapping[str, str] = {
    "bridge": "refuses a user message right behind results (Mistral): an answer is put between",
    "cache_control": "caches only what is marked (OpenRouter for some models, DashScope)",
    "enable_thinking": "thinking is switched by `enable_thinking`, `thinking_budget` (DashScope)",
    "foreign_calls": "refuses calls without its signature, but knows a word for others' (Gemini)",
    "max_completion_tokens": "refuses `max_tokens` (OpenAI's reasoning models)",
    "no_form": "refuses `response_format` with a schema",
    "no_stream_options": "refuses `stream_options`; usage comes unasked or not at all",
    "reasoning_back": "messages with calls must have `reasoning_content`, even empty (DeepSeek)",
    "reasoning_field": "its thinking goes back as `reasoning` (Groq, newer vLLM)",
    "reasoning_object": "effort and budget are fields of `reasoning` (OpenRouter)",
    "short_ids": "call ids must be nine letters or digits (Mistral)",
    "text_calls": "calls may come as text in the model's own notation (local servers)",
    "text_only": "refuses images and files",
    "thinking_type": "thinking is switched by `thinking: {type}` (DeepSeek, GLM, Kimi)",
}
"""Every quirk, and why it is there."""
NOT_SIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Gemini's word for a call that another model made."""


def limit_name(model: str, quirks: frozenset[str]) -> str:
    """A model nobody described may still be known by its name."""
    newer = model.rpartition("/")[2].startswith(("gpt-5", "gpt-6", "o1", "o3", "o4"))
    return "max_completion_tokens" if newer or "max_completion_tokens" in quirks else "max_tokens"


def thinking_wishes(manner: Manner) -> dict[str, Any]:
    """How much to think: nothing is said unless the user said something.

    The wire itself knows only effort; a budget needs a server that has a field for it.
    """
    budget, effort = manner.thinking_budget, manner.effort
    if not effort and budget is None:
        return {}
    if "reasoning_object" in manner.quirks:
        if budget is None:
            return {"reasoning": {"effort": effort}}
        return {"reasoning": {"max_tokens": budget} if budget else {"enabled": False}}
    if "enable_thinking" in manner.quirks:
        sized = {"thinking_budget": budget} if budget else {}
        return {"enable_thinking": budget != 0, **sized}
    wishes: dict[str, Any] = {"reasoning_effort": effort} if effort else {}
    if "thinking_type" in manner.quirks:
        wishes["thinking"] = {"type": "disabled" if budget == 0 else "enabled"}
    return wishes


def tool_wire(name: str, description: str, schema: Raw) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def assistant_wire(message: Assistant, model: str, manner: Manner) -> dict[str, Any]:
    text = "".join(block.text for block in message.content if isinstance(block, Text))
    own = manner.wrote(message, model)
    calls = [_tool_call(b, own, manner.quirks) for b in message.content if isinstance(b, Call)]
    wire: dict[str, Any] = {"role": "assistant", "content": text or None}
    wire |= _thinking(message, model, manner)
    if calls:
        wire["tool_calls"] = calls
    elif not text:
        wire["content"] = "(thinking)"
    return wire


def _thinking(message: Assistant, model: str, manner: Manner) -> dict[str, Any]:
    """Its own thinking for the model that thought it; for others at most an empty place."""
    field = "reasoning" if "reasoning_field" in manner.quirks else "reasoning_content"
    thoughts = [block for block in message.content if isinstance(block, Thinking)]
    if manner.replays(message, model):
        details = [detail for thought in thoughts for detail in _signed(thought.signature)]
        if details:
            return {"reasoning_details": details}
        if text := "".join(thought.text for thought in thoughts):
            return {field: text}
    has_calls = any(isinstance(block, Call) for block in message.content)
    return {field: ""} if has_calls and "reasoning_back" in manner.quirks else {}


def _signed(signature: str) -> list[Any]:
    """Reasoning details as they were collected, if this is what it is."""
    try:
        return msgspec.json.decode(signature, type=list[Any])
    except (ValueError, RecursionError):
        return []


def _tool_call(call: Call, own: bool, quirks: frozenset[str]) -> dict[str, Any]:
    arguments = bytes(parsed_arguments(call.arguments)).decode()
    wire: dict[str, Any] = {
        "id": _id(call.id, quirks),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
    if own and arguments_object(call.signature):
        wire["extra_content"] = Raw(call.signature.encode())
    elif "foreign_calls" in quirks and not own:
        wire["extra_content"] = NOT_SIGNED
    return wire


def _id(call_id: str, quirks: frozenset[str]) -> str:
    """The same id becomes the same one in a call and in its result."""
    fits = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
    return call_id if fits or "short_ids" not in quirks else f"{crc32(call_id.encode()):09x}"


def user_wires(message: User, quirks: frozenset[str], *, in_parts: bool) -> list[dict[str, Any]]:
    """Results are messages of their own here; what is left goes into one user message."""
    wires: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, Result):
            text = "".join(part.text for part in block.content if isinstance(part, Text))
            files = [_part(part, quirks) for part in block.content if not isinstance(part, Text)]
            note = text or ("(the file follows)" if files else "(no output)")
            tool = {"role": "tool", "tool_call_id": _id(block.call_id, quirks)}
            wires.append({**tool, "content": _content([_text_part(note)], in_parts)})
            rest += files
        else:
            rest.append(_part(block, quirks))
    if rest and wires and "bridge" in quirks:
        wires.append({"role": "assistant", "content": "(results seen)"})
    if rest:
        wires.append({"role": "user", "content": _content(rest, in_parts)})
    return wires


def _content(parts: list[dict[str, Any]], in_parts: bool) -> str | list[dict[str, Any]]:
    """Only text is sent as a string, which every server takes; marks need parts."""
    if in_parts or any(part["type"] != "text" for part in parts):
        return parts
    return "\n\n".join(part["text"] for part in parts)


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _part(block: ResultBlock, quirks: frozenset[str]) -> dict[str, Any]:
    if isinstance(block, Text):
        return _text_part(block.text)
    if isinstance(block, Document) and (text := document_text(block)) is not None:
        return _text_part(text)
    if "text_only" in quirks:
        return _text_part(f"({block.media_type} left out: this model reads text only)")
    url = f"data:{block.media_type};base64,{block.data}"
    if isinstance(block, Document):
        file = {"filename": block.name or "document", "file_data": url}
        return {"type": "file", "file": file}
    return {"type": "image_url", "image_url": {"url": url}}
