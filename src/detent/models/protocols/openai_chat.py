"""The OpenAI Chat Completions wire, and every server that speaks it more or less."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from detent.models.assemble import Assembler, OpenBlock
from detent.models.failures import kind_in_stream
from detent.models.protocols.wire import EncodedMessages, joined, parsed_arguments
from detent.types.content import Call, Image, Result, Text
from detent.types.errors import ModelFailure
from detent.types.messages import Assistant, Message, Request, User
from detent.types.usage import Usage

MOST_PROBED = 64 * 1024
"""Arguments longer than this are not tested for completeness before the stream says so."""


class _Function(Struct):
    name: str | None = None
    arguments: Raw = Raw()


class _ToolCall(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Details(Struct):
    cached_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Chunk(Struct):
    id: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Raw = Raw()


_decode = msgspec.json.Decoder(_Chunk).decode
_encode = msgspec.json.Encoder().encode

_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


class OpenAIChat:
    path = "/chat/completions"

    def __init__(self) -> None:
        self._messages = EncodedMessages(lambda message: b",".join(map(_encode, _wire(message))))

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        head: dict[str, Any] = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if max_output:
            head[_limit_name(model)] = max_output
        if request.tools:
            head["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.schema,
                    },
                }
                for tool in request.tools
            ]
        system = "\n\n".join(request.system)
        opening = [_encode({"role": "system", "content": system})] if system else []
        return joined(_encode(head), [*opening, *self._messages.of(request.messages)])

    def read(self, data: bytes, into: Assembler) -> None:
        if data == b"[DONE]":
            into.end()
            return
        try:
            chunk = _decode(data)
        except msgspec.MsgspecError as error:
            raise ModelFailure("invalid_response", f"unreadable event: {error}") from None
        if chunk.error and bytes(chunk.error) != b"null":
            raise _failure(bytes(chunk.error))
        if chunk.id:
            into.message_id = chunk.id
        if chunk.usage is not None:
            into.usage(_usage(chunk.usage))
        for choice in chunk.choices or ():
            if choice.delta is not None:
                self._delta(choice.delta, into)
            if choice.finish_reason:
                into.stop(_STOPS.get(choice.finish_reason, choice.finish_reason))
                into.close_all()

    def finish(self, into: Assembler) -> None:
        """Some servers give a finish reason and never send `[DONE]`."""
        if into.stop_seen:
            into.end()

    def _delta(self, delta: _Delta, into: Assembler) -> None:
        thinking = delta.reasoning_content or delta.reasoning
        if thinking:
            into.piece("thinking", "thinking", thinking)
        text = delta.content or delta.refusal
        if text:
            into.piece("text", "text", text)
        for call in delta.tool_calls or ():
            self._call(call, into)

    def _call(self, call: _ToolCall, into: Assembler) -> None:
        """Slots are keyed by index, else by id, else by arrival; a new id is always a new call."""
        function = call.function or _Function()
        key = _slot(call, function, into)
        block = into.find(key)
        if block is None:
            block = into.call(key, call.id or "", function.name or "")
        fragment = _arguments(function.arguments)
        if not fragment or block.closed:
            return
        if block.pieces == ["{}"]:
            block.pieces.clear()  # it was a placeholder, here come the arguments
        into.piece(key, "call", fragment)
        if fragment.rstrip().endswith("}") and _is_complete(block.pieces):
            into.close(key)


def _slot(call: _ToolCall, function: _Function, into: Assembler) -> tuple[str, int, int]:
    """Some servers number every call 0, some not at all: calls of one number queue up behind it."""
    number, place = call.index or 0, 0
    latest: OpenBlock | None = None
    while (block := into.find(("call", number, place))) is not None:
        if call.id and block.id == call.id:
            return ("call", number, place)
        latest, place = block, place + 1
    # A piece that names no call of its own belongs to the one that began last.
    is_piece = latest is not None and not _begins_another(call, function, latest)
    return ("call", number, place - 1 if is_piece else place)


def _begins_another(call: _ToolCall, function: _Function, latest: OpenBlock) -> bool:
    if call.id:
        return True
    return bool(function.name) and (latest.closed or latest.name not in ("", function.name))


def _arguments(raw: Raw) -> str:
    """A string fragment as a rule; an object at once from some servers."""
    data = bytes(raw)
    if not data or data == b"null":
        return ""
    if data.startswith(b'"'):
        return str(msgspec.json.decode(data, type=str))
    return data.decode()


def _is_complete(pieces: list[str]) -> bool:
    """A whole JSON object cannot grow into another one, so the call may start now.

    An empty one may be a placeholder: some servers send `{}` first and the arguments afterwards.
    """
    text = "".join(pieces)
    if len(text) > MOST_PROBED:
        return False
    try:
        return bool(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return False


def _usage(counts: _Usage) -> Usage:
    cached = (counts.prompt_tokens_details or _Details()).cached_tokens or 0
    prompt = counts.prompt_tokens or 0
    return Usage(max(0, prompt - cached), counts.completion_tokens or 0, cached, 0)


def _failure(raw: bytes) -> ModelFailure:
    try:
        error = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        error = raw.decode(errors="replace")
    fields = error if isinstance(error, dict) else {"message": str(error)}
    message = str(fields.get("message") or error)
    kind = kind_in_stream(f"{fields.get('type')} {fields.get('code')} {message}")
    return ModelFailure(kind, f"the server reported an error: {message}")


def _limit_name(model: str) -> str:
    """OpenAI's reasoning models refuse `max_tokens`."""
    newer = model.rpartition("/")[2].startswith(("gpt-5", "gpt-6", "o1", "o3", "o4"))
    return "max_completion_tokens" if newer else "max_tokens"


def _wire(message: Message) -> list[dict[str, Any]]:
    return _user(message) if isinstance(message, User) else [_assistant(message)]


def _assistant(message: Assistant) -> dict[str, Any]:
    text = "".join(block.text for block in message.content if isinstance(block, Text))
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {
                "name": block.name,
                "arguments": bytes(parsed_arguments(block.arguments)).decode(),
            },
        }
        for block in message.content
        if isinstance(block, Call)
    ]
    wire: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        wire["tool_calls"] = calls
    elif not text:
        wire["content"] = "(thinking)"
    return wire


def _user(message: User) -> list[dict[str, Any]]:
    """Results are messages of their own here; what is left goes into one user message."""
    wires: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case Result(call_id=call_id, content=content):
                text = "".join(part.text for part in content if isinstance(part, Text))
                images = [part for part in content if isinstance(part, Image)]
                note = text or ("(the image follows)" if images else "(no output)")
                wires.append({"role": "tool", "tool_call_id": call_id, "content": note})
                rest += [_image(image) for image in images]
            case Text(text=text):
                rest.append({"type": "text", "text": text})
            case Image():
                rest.append(_image(block))
    if rest:
        only_text = all(part["type"] == "text" for part in rest)
        joined = "\n\n".join(part["text"] for part in rest) if only_text else rest
        wires.append({"role": "user", "content": joined})
    return wires


def _image(image: Image) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}
