"""The Anthropic Messages wire."""

from typing import Any

import msgspec
from msgspec import Struct

from detent.models.assemble import Assembler
from detent.models.failures import is_too_long
from detent.models.protocols.wire import EncodedMessages, joined, parsed_arguments
from detent.types.content import Call, Image, Redacted, Result, Text, Thinking
from detent.types.errors import FailureKind, ModelFailure
from detent.types.messages import Assistant, Message, Request, User
from detent.types.usage import Usage

UNKNOWN_LIMIT = 8_192
"""This wire demands a limit, also for a model of which nothing is known."""
_CACHE = {"type": "ephemeral"}


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Block(Struct):
    type: str = ""
    id: str = ""
    name: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    input: dict[str, Any] | None = None


class _Delta(Struct):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    thinking: str = ""
    signature: str = ""
    stop_reason: str | None = None


class _Message(Struct):
    id: str = ""
    usage: _Usage | None = None


class _Error(Struct):
    type: str = ""
    message: str = ""


class _Event(Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: _Usage | None = None
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Event).decode
_encode = msgspec.json.Encoder().encode


class AnthropicMessages:
    path = "/v1/messages"

    def __init__(self, *, caching: bool = True) -> None:
        self._caching = caching
        self._model = ""
        self._messages = EncodedMessages(self._encoded)
        self._usage = Usage()

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        if model != self._model:  # signatures belong to one model: encode anew
            self._model = model
            self._messages = EncodedMessages(self._encoded)
        head: dict[str, Any] = {
            "model": model,
            "max_tokens": max_output or UNKNOWN_LIMIT,
            "stream": True,
        }
        if request.system:
            head["system"] = [{"type": "text", "text": part} for part in request.system]
            if self._caching:
                head["system"][-1]["cache_control"] = _CACHE
        if request.tools:
            head["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        *earlier, last = request.messages
        final = _encode(_message(last, model, mark=self._caching))
        return joined(_encode(head), [*self._messages.of(earlier), final])

    def _encoded(self, message: Message) -> bytes:
        return _encode(_message(message, self._model))

    def read(self, data: bytes, into: Assembler) -> None:
        try:
            event = _decode(data)
        except msgspec.MsgspecError as error:
            raise ModelFailure("invalid_response", f"unreadable event: {error}") from None
        match event.type:
            case "content_block_delta":
                if event.delta is not None:
                    self._delta(event.index, event.delta, into)
            case "content_block_start":
                if event.content_block is not None:
                    self._start(event.index, event.content_block, into)
            case "content_block_stop":
                into.close(event.index)
            case "message_start":
                self._usage = Usage()
                if event.message is not None:
                    into.message_id = event.message.id
                    self._count(event.message.usage, into)
            case "message_delta":
                self._count(event.usage, into)
                if event.delta is not None and event.delta.stop_reason:
                    into.stop(event.delta.stop_reason)
            case "message_stop":
                into.end()
            case "error":
                raise failure_of(event.error or _Error())
            case _:
                pass  # pings, and whatever later versions invent

    def finish(self, into: Assembler) -> None:
        """Only `message_stop` ends an answer here: an early end of the stream is a fault."""

    def _start(self, index: int, block: _Block, into: Assembler) -> None:
        match block.type:
            case "tool_use":
                into.call(index, block.id, block.name)
                if block.input:
                    into.piece(index, "call", _encode(block.input).decode())
            case "text":
                into.piece(index, "text", block.text)
            case "thinking":
                into.piece(index, "thinking", block.thinking)
                into.sign(index, block.signature)
            case "redacted_thinking":
                into.redacted(index, block.data)
            case _:
                pass

    def _delta(self, index: int, delta: _Delta, into: Assembler) -> None:
        match delta.type:
            case "text_delta":
                into.piece(index, "text", delta.text)
            case "input_json_delta":
                if into.find(index) is not None:
                    into.piece(index, "call", delta.partial_json)
            case "thinking_delta":
                into.piece(index, "thinking", delta.thinking)
            case "signature_delta":
                into.sign(index, delta.signature)
            case _:
                pass

    def _count(self, counts: _Usage | None, into: Assembler) -> None:
        """Counts are cumulative and may come in parts: a later part replaces, absence keeps."""
        if counts is None:
            return
        old = self._usage
        self._usage = Usage(
            _or(counts.input_tokens, old.input),
            _or(counts.output_tokens, old.output),
            _or(counts.cache_read_input_tokens, old.cache_read),
            _or(counts.cache_creation_input_tokens, old.cache_write),
        )
        into.usage(self._usage)


def failure_of(error: _Error) -> ModelFailure:
    """An error that came inside a stream which had begun with status 200."""
    kinds: dict[str, FailureKind] = {
        "overloaded_error": "overloaded",
        "rate_limit_error": "rate_limit",
        "api_error": "server",
        "timeout_error": "timeout",
        "authentication_error": "auth",
        "permission_error": "auth",
        "not_found_error": "not_found",
        "invalid_request_error": "invalid_request",
    }
    kind = kinds.get(error.type, "server")
    if kind == "invalid_request" and is_too_long(error.message):
        kind = "prompt_too_long"
    return ModelFailure(kind, error.message or error.type or "error")


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _message(message: Message, model: str, *, mark: bool = False) -> dict[str, Any]:
    if isinstance(message, User):
        content = [_user_block(block) for block in message.content]
        role = "user"
    else:
        content = _assistant_blocks(message, model)
        role = "assistant"
    if mark and content:
        content[-1] = {**content[-1], "cache_control": _CACHE}
    return {"role": role, "content": content}


def _assistant_blocks(message: Assistant, model: str) -> list[dict[str, Any]]:
    """Thinking goes back only to the model that signed it, in its place."""
    blocks: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case Text(text=text):
                blocks.append({"type": "text", "text": text})
            case Call(id=call_id, name=name, arguments=arguments):
                given = parsed_arguments(arguments)
                blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
            case Thinking(text=text, signature=signature) if signature and message.model == model:
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case Redacted(data=data) if message.model == model:
                blocks.append({"type": "redacted_thinking", "data": data})
            case _:
                pass
    return blocks or [{"type": "text", "text": "(thinking)"}]


def _user_block(block: Text | Image | Result) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(media_type=media_type, data=data):
            source = {"type": "base64", "media_type": media_type, "data": data}
            return {"type": "image", "source": source}
        case Result(call_id=call_id, content=content, is_error=is_error):
            result = {
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": [_user_block(part) for part in content],
            }
            return {**result, "is_error": True} if is_error else result
