"""The Gemini wire (`generateContent`): messages are lists of parts, and parts are signed."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from detent.models.assemble import Assembler, Kind
from detent.models.failures import failure_in_stream
from detent.models.protocols.stops import stop_of
from detent.models.protocols.wire import (
    EncodedMessages,
    Manner,
    decoded,
    joined,
    parsed_arguments,
    with_extra,
)
from detent.types.codec import arguments_object
from detent.types.content import Call, Document, Image, Opaque, Result, Text, Thinking
from detent.types.errors import ModelFailure
from detent.types.messages import Assistant, Message, Request, User
from detent.types.usage import Usage

UNSIGNED = "skip_thought_signature_validator"
"""What the documentation wants in place of a signature on calls the model did not make itself."""

_encode = msgspec.json.Encoder().encode


# Requests


class Gemini:
    def __init__(self, manner: Manner = Manner()) -> None:
        self._manner = manner
        self._model = ""
        self._contents = EncodedMessages(self._encoded)
        self._calls: dict[int, dict[str, str]] = {}
        """By the identity of a user message: the names of the calls it may answer."""
        self._answer: _Answer | None = None

    def path(self, model: str) -> str:
        return f"/models/{model.removeprefix('models/')}:streamGenerateContent?alt=sse"

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        if model != self._model:  # signatures belong to one model: encode anew
            self._model = model
            self._contents = EncodedMessages(self._encoded)
        head = with_extra(_head(request, model, max_output, self._manner), self._manner)
        self._calls = _calls_before(request.messages)
        return joined(_encode(head), self._contents.of(request.messages) or [b""], b"contents")

    def _encoded(self, message: Message) -> bytes:
        if isinstance(message, User):
            parts, role = _user_parts(message, self._calls.get(id(message), {})), "user"
        else:
            parts, role = _model_parts(message, self._model, self._manner), "model"
        return _encode({"role": role, "parts": parts}) if parts else b""

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        self._calls = _calls_before((before, message) if before else (message,))
        return self._encoded(message)

    def read(self, data: bytes, into: Assembler) -> None:
        if data == b"[DONE]":  # not of this protocol, but some proxies send it
            return
        if self._answer is None or self._answer.into is not into:
            self._answer = _Answer(into)
        decoded(self._answer.take, data)

    def finish(self, into: Assembler) -> None:
        """Nothing but the end of the stream says that there is no more."""
        if into.stop_seen:
            into.end()


def _head(request: Request, model: str, max_output: int, manner: Manner) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if request.system:
        head["systemInstruction"] = {"parts": [{"text": text} for text in request.system]}
    tools: list[Any] = list(manner.server_tools)
    if request.tools:
        functions = [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.schema,
            }
            for tool in request.tools
        ]
        tools.insert(0, {"functionDeclarations": functions})
    if tools:
        head["tools"] = tools
    head["generationConfig"] = _config(request, model, max_output, manner)
    return head


def _config(request: Request, model: str, max_output: int, manner: Manner) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if max_output:
        config["maxOutputTokens"] = max_output
    if manner.thinks:
        config["thinkingConfig"] = _thinking(model, manner)
    # Before the third generation a model that has tools refuses to be held to a schema.
    if request.form is not None and (not request.tools or _checks_signatures(model)):
        config |= {"responseMimeType": "application/json", "responseJsonSchema": request.form}
    return config


_LEVELS = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "HIGH", "max": "HIGH"}


def _thinking(model: str, manner: Manner) -> dict[str, Any]:
    """Tokens for older models, levels for newer ones; the larger cannot do without any."""
    none = manner.thinking_budget == 0
    config: dict[str, Any] = {"includeThoughts": not none}
    if manner.thinks == "effort":
        least = "LOW" if "pro" in model else "MINIMAL"
        level = least if none else _LEVELS.get(manner.effort)
        return {**config, "thinkingLevel": level} if level else config
    if manner.thinking_budget is not None:
        config["thinkingBudget"] = _within(manner.thinking_budget, model)
    return config


_BUDGETS = {
    "gemini-2.5-pro": (128, 128, 32_768),
    "gemini-2.5-flash-lite": (0, 512, 24_576),
    "gemini-2.5-flash": (0, 1, 24_576),
}
"""What stands for no thinking at all, and the bounds of a budget; others are refused."""


def _within(budget: int, model: str) -> int:
    bare = model.rpartition("/")[2]
    for name, (none, least, most) in _BUDGETS.items():
        if bare.startswith(name):
            return max(least, min(budget, most)) if budget else none
    return budget


def _checks_signatures(model: str) -> bool:
    """From the third generation on; names without a number stand for the latest."""
    bare = model.rpartition("/")[2]
    return bare.startswith("gemini-") and not bare.startswith(("gemini-1", "gemini-2"))


def _calls_before(messages: Iterable[Message]) -> dict[int, dict[str, str]]:
    """A result does not know the name of its call, but this wire wants it."""
    before: dict[int, dict[str, str]] = {}
    calls: dict[str, str] = {}
    for message in messages:
        if isinstance(message, Assistant):
            calls = {block.id: block.name for block in message.content if isinstance(block, Call)}
        else:
            before[id(message)] = calls
    return before


def _model_parts(message: Assistant, model: str, manner: Manner) -> list[Any]:
    """What is signed goes back only to the model that signed it, on the part it came with."""
    own, keep = manner.wrote(message, model), manner.replays(message, model)
    parts: list[Any] = []
    missing = UNSIGNED if _checks_signatures(model) else ""
    for block in message.content:
        match block:
            case Text(text=text) if text:
                parts.append({"text": text})
            case Thinking(text=text, signature=signature) if keep and signature:
                thought = {"text": text, "thought": True} if text else {"text": ""}
                parts.append({**thought, "thoughtSignature": signature})
            case Opaque(data=data) if own and arguments_object(data):
                parts.append(Raw(data.encode()))
            case Call(signature=signature):
                sign = (signature if own else "") or missing
                parts.append(_signed(_call_part(block), sign))
                missing = ""  # of calls made together only the first is signed
            case _:
                pass
    return parts


def _signed(part: dict[str, Any], signature: str) -> dict[str, Any]:
    return {**part, "thoughtSignature": signature} if signature else part


def _call_part(call: Call) -> dict[str, Any]:
    given = {"name": call.name, "args": parsed_arguments(call.arguments)}
    return {"functionCall": {**_id(call.id), **given}}


def _id(call_id: str) -> dict[str, str]:
    """An id the assembler made up (`call_3`) is none that the model would know."""
    return {} if re.fullmatch(r"call_\d+", call_id, re.ASCII) else {"id": call_id}


def _user_parts(message: User, calls: dict[str, str]) -> list[dict[str, Any]]:
    """Results first, for they answer the message before; their images follow them."""
    results: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case Result():
                results.append(_result_part(block, calls.get(block.call_id, "unknown")))
                rest += [_data_part(part) for part in block.content if not isinstance(part, Text)]
            case Text(text=text):
                rest += [{"text": text}] if text else []
            case _:
                rest.append(_data_part(block))
    return results + rest


def _result_part(result: Result, name: str) -> dict[str, Any]:
    text = "".join(part.text for part in result.content if isinstance(part, Text))
    has_data = any(not isinstance(part, Text) for part in result.content)
    said = text or ("(the content follows)" if has_data else "(no output)")
    response = {"error" if result.is_error else "output": said}
    return {"functionResponse": {**_id(result.call_id), "name": name, "response": response}}


def _data_part(block: Image | Document) -> dict[str, Any]:
    return {"inlineData": {"mimeType": block.media_type, "data": block.data}}


# Streams


class _FunctionCall(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw()


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _FunctionCall | None = None


class _Content(Struct):
    parts: list[Raw] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _Chunk(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    response_id: str | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk).decode
_part = msgspec.json.Decoder(_Part).decode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode

_BARE = {"text", "thought", "thoughtSignature"}
"""A part with other fields, and neither text nor call, is something only its provider knows."""

_SPOILT = {
    "MALFORMED_FUNCTION_CALL": "the model wrote a call that cannot be read",
    "UNEXPECTED_TOOL_CALL": "the model called a tool where none was allowed",
    "TOO_MANY_TOOL_CALLS": "the model called too many tools",
    "MALFORMED_RESPONSE": "the model wrote an answer that cannot be read",
}


class _Answer:
    """The answer that is being read: parts of one kind that follow each other are one block."""

    def __init__(self, into: Assembler) -> None:
        self.into = into
        self._count = 0
        self._called = False

    def take(self, data: bytes) -> None:
        chunk = _chunk(data)
        if chunk.error:
            raise failure_in_stream(chunk.error)
        self.into.message_id = chunk.response_id or self.into.message_id
        if chunk.usage_metadata is not None:
            self.into.usage(_usage(chunk.usage_metadata))
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self.into.stop("refusal")
        for candidate in (chunk.candidates or ())[:1]:
            for raw in (candidate.content or _Content()).parts or ():
                self._take_part(raw)
            if candidate.finish_reason:
                self._finish(candidate.finish_reason, candidate.finish_message or "")

    def _take_part(self, raw: Raw) -> None:
        part = _part(raw)
        signature = part.thought_signature or ""
        if part.function_call is not None:
            self._call(part.function_call, signature)
        elif part.text is None and not _BARE.issuperset(_fields(raw)):
            self.into.opaque(self._next(), bytes(raw).decode())
        elif part.thought:
            self._say("thinking", part.text or "", signature)
        else:
            self._say("text", part.text or "")
            if signature:  # a text has no place for it, so it gets a block of its own
                self._open("thinking", "", signature)

    def _say(self, kind: Kind, text: str, signature: str = "") -> None:
        """A signature ends its block: what follows is another part."""
        if not text and not signature:
            return
        last = self.into.find(self._count - 1)
        if last is None or last.kind != kind or last.signature:
            self._open(kind, text, signature)
        else:
            self.into.piece(self._count - 1, kind, text)
            self.into.sign(self._count - 1, signature)

    def _open(self, kind: Kind, text: str, signature: str) -> None:
        key = self._next()
        self.into.piece(key, kind, text)
        self.into.sign(key, signature)

    def _call(self, call: _FunctionCall, signature: str) -> None:
        """A call comes whole."""
        self._called = True
        key = self._next()
        self.into.call(key, call.id or "", call.name or "")
        arguments = bytes(call.args).decode()
        self.into.piece(key, "call", arguments if arguments not in ("", "null") else "{}")
        self.into.sign(key, signature)
        self.into.close(key)

    def _finish(self, reason: str, message: str) -> None:
        if reason in _SPOILT:
            raise ModelFailure("invalid_response", message or _SPOILT[reason])
        stop = stop_of(reason)
        self.into.stop("tool_use" if stop == "end_turn" and self._called else stop)

    def _next(self) -> int:
        self._count += 1
        return self._count - 1


def _usage(counts: _Usage) -> Usage:
    """Thinking is counted beside the answer, what was cached within the prompt."""
    cached = counts.cached_content_token_count or 0
    prompt = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
    thought = counts.thoughts_token_count or 0
    output = (counts.candidates_token_count or 0) + thought
    return Usage(max(0, prompt - cached), output, cached, 0, reasoning=thought)
