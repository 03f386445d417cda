"""The Anthropic Messages wire.

What the provider alone understands (searches it ran itself, blocks of later versions) is kept as it
came and goes back to the same model of the same provider in its place; so does signed thinking.
"""

import re
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Raw, Struct

from detent.models.assemble import Assembler
from detent.models.protocols.caching import cache_mark, system_parts, with_marks
from detent.models.protocols.stops import stop_of
from detent.models.protocols.wire import (
    EncodedMessages,
    Manner,
    decoded,
    document_text,
    joined,
    parsed_arguments,
    with_extra,
)
from detent.types.codec import arguments_object
from detent.types.content import (
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
    UserBlock,
)
from detent.types.messages import Assistant, Message, Request, Task, User
from detent.types.usage import Usage

UNKNOWN_LIMIT = 8_192
"""This wire demands a limit, also for a model of which nothing is known."""
LEAST_THINKING = 1_024
"""The smallest budget the provider takes; as much is left for the answer itself."""
_ID = re.compile(r"[a-zA-Z0-9_-]+")


class _Details(Struct):
    ephemeral_1h_input_tokens: int | None = None
    thinking_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: _Details | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: _Details | None = None


class _Kind(Struct):
    type: str = ""


class _Block(Struct):
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
    content: str | None = None
    encrypted_content: str | None = None
    stop_reason: str | None = None


class _Message(Struct):
    id: str = ""
    usage: _Usage | None = None


class _Event(Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: Raw = Raw()
    message: _Message | None = None
    usage: _Usage | None = None
    error: Any = None


_event = msgspec.json.Decoder(_Event).decode
_kind = msgspec.json.Decoder(_Kind | None).decode
_block = msgspec.json.Decoder(_Block).decode
_encode = msgspec.json.Encoder().encode


class AnthropicMessages:
    def __init__(self, manner: Manner = Manner()) -> None:
        self._manner = manner
        self._mark = cache_mark(manner) if manner.caching else None
        self._model = ""
        self._messages = EncodedMessages(self._encoded)
        self._begin()

    def _begin(self) -> None:
        """An answer begins: nothing is known of it, nothing is left of the one before."""
        self._usage = Usage()
        self._grown: dict[int, dict[str, list[str]]] = {}
        """Pieces for the fields of opaque blocks that still stream."""

    def path(self, model: str) -> str:
        return "/v1/messages"

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        if model != self._model:  # signatures belong to one model: encode anew
            self._model = model
            self._messages = EncodedMessages(self._encoded)
        limit, thinking = thinking_within(max_output or UNKNOWN_LIMIT, self._manner)
        head: dict[str, Any] = {"model": model, "max_tokens": limit, "stream": True}
        if thinking:
            head["thinking"] = thinking
        if output := _output_config(request, self._manner):
            head["output_config"] = output
        if request.system:
            head["system"] = system_parts(request.system, self._mark)
        if tools := self._tools(request):
            head["tools"] = tools
        messages = self._messages.of(request.messages)
        if self._mark is not None:
            messages = with_marks(messages, self._mark)
        return joined(_encode(with_extra(head, self._manner)), messages)

    def _tools(self, request: Request) -> list[Any]:
        """Ours first: the provider's own differ from session to session, so the mark is before
        them."""
        tools: list[Any] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in request.tools
        ]
        if tools and self._mark is not None:
            tools[-1]["cache_control"] = self._mark
        return [*tools, *self._manner.server_tools]

    def _encoded(self, message: Message) -> bytes:
        return _encode(_message(message, self._model, self._manner))

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return self._encoded(message)

    @property
    def marks(self) -> bool:
        return self._mark is not None

    def read(self, data: bytes, into: Assembler) -> None:
        event = decoded(_event, data)
        match event.type:
            case "content_block_delta":
                if event.delta is not None:
                    self._delta(event.index, event.delta, into)
            case "content_block_start":
                self._start(event.index, bytes(event.content_block) or b"null", into)
            case "content_block_stop":
                self._stop(event.index, into)
            case "message_start":
                self._begin()
                if event.message is not None:
                    into.message_id = event.message.id
                    self._count(event.message.usage, into)
            case "message_delta":
                self._count(event.usage, into)
                if event.delta is not None and event.delta.stop_reason:
                    into.stop(stop_of(event.delta.stop_reason))
            case "message_stop":
                for index in list(self._grown):
                    self._stop(index, into)
                into.end()
            case "error":
                from detent.models.failures import failure_in_stream

                raise failure_in_stream(event.error or "error")
            case _:
                pass  # pings, and whatever later versions invent

    def finish(self, into: Assembler) -> None:
        """Only `message_stop` ends an answer here: an early end of the stream is a fault."""

    def _start(self, index: int, data: bytes, into: Assembler) -> None:
        kind = decoded(_kind, data)
        if kind is None:
            return
        if kind.type not in ("tool_use", "text", "thinking", "redacted_thinking"):
            into.opaque(index, decoded(_readable, data))
            return
        block = decoded(_block, data)
        match kind.type:
            case "tool_use":
                into.call(index, block.id, block.name)
                if block.input:
                    into.piece(index, "call", _encode(block.input).decode())
            case "text":
                into.piece(index, "text", block.text)
            case "thinking":
                into.piece(index, "thinking", block.thinking)
                into.sign(index, block.signature)
            case _:
                into.redacted(index, block.data)

    def _delta(self, index: int, delta: _Delta, into: Assembler) -> None:
        block = into.find(index)
        if block is not None and block.kind == "opaque":
            self._grow(index, delta, into)
            return
        match delta.type:
            case "text_delta":
                into.piece(index, "text", delta.text)
            case "input_json_delta":
                if block is not None:
                    into.piece(index, "call", delta.partial_json)
            case "thinking_delta":
                into.piece(index, "thinking", delta.thinking)
            case "signature_delta":
                into.sign(index, delta.signature)
            case _:
                pass

    def _grow(self, index: int, delta: _Delta, into: Assembler) -> None:
        """A piece of an opaque block adds to the field of its name."""
        fields = self._grown.setdefault(index, {})
        for name in _GROWING:
            if piece := getattr(delta, name):
                into.hear(len(piece))
                fields.setdefault(name, []).append(piece)

    def _stop(self, index: int, into: Assembler) -> None:
        pieces, block = self._grown.pop(index, None), into.find(index)
        if pieces and block is not None:
            block.pieces = [_grown_up("".join(block.pieces), pieces)]
        into.close(index)

    def _count(self, counts: _Usage | None, into: Assembler) -> None:
        """Counts are cumulative and may come in parts: a later part replaces, absence keeps."""
        if counts is None:
            return
        old = self._usage
        written = _or(counts.cache_creation_input_tokens, old.cache_write)
        # Who does not tell how long it keeps what, keeps it as long as our marks say.
        hour = written if self._manner.cache_ttl == "1h" else old.cache_write_1h
        if counts.cache_creation is not None:
            hour = counts.cache_creation.ephemeral_1h_input_tokens or 0
        thought = old.reasoning
        if counts.output_tokens_details is not None:
            thought = _or(counts.output_tokens_details.thinking_tokens, thought)
        self._usage = Usage(
            _or(counts.input_tokens, old.input),
            _or(counts.output_tokens, old.output),
            _or(counts.cache_read_input_tokens, old.cache_read),
            written,
            hour,
            thought,
        )
        into.usage(self._usage)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


_GROWING = ("partial_json", "text", "thinking", "signature", "content", "encrypted_content")


def _readable(data: bytes) -> str:
    """A block as the text it came in, once it is sure that it can be read again."""
    msgspec.json.decode(data)
    return data.decode()


def _grown_up(data: str, pieces: dict[str, list[str]]) -> str:
    """An opaque block with all that was streamed for it. Its input is JSON in pieces."""
    block = arguments_object(data) or {}
    for name, parts in pieces.items():
        text = "".join(parts)
        if name == "partial_json":
            block["input"] = parsed_arguments(text)
        else:
            begun = block.get(name)
            block[name] = (begun if isinstance(begun, str) else "") + text
    return _encode(block).decode()


def thinking_within(limit: int, manner: Manner) -> tuple[int, dict[str, Any] | None]:
    """The output limit, and how to think within it; None leaves thinking to the provider.

    Nothing is said unless the user said something: what is right without a word changes from model
    to model. A budget must leave room for the answer, and a tiny limit grows for the smallest one.
    """
    wanted = manner.thinking_budget
    if manner.thinks not in ("adaptive", "budget") or (wanted is None and not manner.effort):
        return limit, None
    if wanted == 0:
        return limit, {"type": "disabled"}
    if manner.thinks == "adaptive":
        return limit, {"type": "adaptive", "display": "summarized"}
    if wanted is None:
        return limit, None
    budget = max(LEAST_THINKING, min(wanted, limit - LEAST_THINKING))
    limit = max(limit, budget + LEAST_THINKING)
    return limit, {"type": "enabled", "budget_tokens": budget}


def _output_config(request: Request, manner: Manner) -> dict[str, Any]:
    config: dict[str, Any] = {"effort": manner.effort} if manner.effort else {}
    if request.form is not None:
        config["format"] = {"type": "json_schema", "schema": request.form}
    if request.task is not None and manner.task_budget:
        config["task_budget"] = _task_budget(request.task)
    return config


def _task_budget(task: Task) -> dict[str, Any]:
    """What remains is said only when the provider cannot count it from the messages."""
    remains = {} if task.remaining is None else {"remaining": task.remaining}
    return {"type": "tokens", "total": task.total, **remains}


def _message(message: Message, model: str, manner: Manner) -> dict[str, Any]:
    if isinstance(message, User):
        return {"role": "user", "content": [_user_block(block) for block in message.content]}
    return {"role": "assistant", "content": _assistant_blocks(message, model, manner)}


def _assistant_blocks(message: Assistant, model: str, manner: Manner) -> list[Any]:
    """What is sealed goes back only to the model that sealed it, in its place."""
    own, thinks = manner.wrote(message, model), manner.replays(message, model)
    blocks: list[Any] = []
    for block in message.content:
        match block:
            case Text(text=text):
                blocks.append({"type": "text", "text": text})
            case Call(id=call_id, name=name, arguments=arguments):
                given = parsed_arguments(arguments)
                call = {"type": "tool_use", "id": _id(call_id), "name": name, "input": given}
                blocks.append(call)
            case Thinking(text=text, signature=signature) if signature and thinks:
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case Redacted(data=data) if thinks:
                blocks.append({"type": "redacted_thinking", "data": data})
            case Opaque(data=data) if own and arguments_object(data):
                blocks.append(Raw(data.encode()))
            case _:
                pass
    return blocks or [{"type": "text", "text": "(thinking)"}]


def _user_block(block: UserBlock) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image():
            return {"type": "image", "source": _source(block)}
        case Document(name=name):
            titled = {"title": name} if name else {}
            return {"type": "document", "source": _source(block), **titled}
        case Result(call_id=call_id, content=content, is_error=is_error):
            result = {
                "type": "tool_result",
                "tool_use_id": _id(call_id),
                "content": [_user_block(part) for part in content],
            }
            return {**result, "is_error": True} if is_error else result


def _source(block: Image | Document) -> dict[str, str]:
    """A document of plain text is sent as text: as base64 only PDFs are taken."""
    text = document_text(block) if isinstance(block, Document) else None
    if text is not None:
        return {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "base64", "media_type": block.media_type, "data": block.data}


def _id(call_id: str) -> str:
    """Other providers make ids that this one refuses: they get one it takes, always the same."""
    return call_id if _ID.fullmatch(call_id) else f"call_{crc32(call_id.encode()):08x}"
