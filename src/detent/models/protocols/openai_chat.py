"""The OpenAI Chat Completions wire, and every server that speaks it more or less.

What a server does differently is a quirk: a name in the manner, set in the catalog; the names and
their reasons stand in `chat_writing.QUIRKS`.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from detent.models.assemble import Assembler, OpenBlock
from detent.models.protocols.caching import cache_mark, system_parts, with_marks
from detent.models.protocols.chat_writing import (
    assistant_wire,
    limit_name,
    thinking_wishes,
    tool_wire,
    user_wires,
)
from detent.models.protocols.forms import is_strict
from detent.models.protocols.stops import stop_of
from detent.models.protocols.wholeness import Wholeness
from detent.models.protocols.wire import (
    EncodedMessages,
    Manner,
    decoded,
    joined,
    with_extra,
)
from detent.types.codec import arguments_object
from detent.types.messages import Message, Request, User
from detent.types.usage import Usage


class _Function(Struct):
    name: str | None = None
    arguments: Raw = Raw()


class _ToolCall(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Raw = Raw()


class _Part(Struct):
    """Some servers send content in parts, thinking among them."""

    text: str | None = None
    thinking: "list[_Part] | str | None" = None


class _Delta(Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[_ToolCall] | None = None


class _Details(Struct):
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    completion_tokens_details: _Details | None = None
    reasoning_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None
    usage: _Usage | None = None


class _Chunk(Struct):
    id: str | None = None
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk).decode
_string = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    def __init__(self, manner: Manner = Manner()) -> None:
        self._manner = manner
        marked = manner.caching and "cache_control" in manner.quirks
        self._mark = cache_mark(manner) if marked else None
        self._tools: dict[str, Raw] = {}
        self._model = ""
        self._messages = EncodedMessages(self._encoded)
        self._begin(None)

    def _begin(self, into: Assembler | None) -> None:
        """An answer begins: nothing is left of the one before."""
        self._into = into
        self._details: list[dict[str, Any]] = []
        self._streamed: set[str] = set()
        """Kinds of content that came in pieces."""
        self._slots: dict[str, Slot] = {}
        """Of the calls, by their ids."""
        self._whole: dict[Slot, Wholeness] = {}
        self._withheld = None
        if self._tools and "text_calls" in self._manner.quirks:
            from detent.models.text_calls import Withheld  # loads what few sessions need

            self._withheld = Withheld(self._tools)

    def path(self, model: str) -> str:
        return "/chat/completions"

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        if model != self._model:  # sealed state belongs to one model: encode anew
            self._model = model
            self._messages = EncodedMessages(self._encoded)
        self._tools = {tool.name: tool.schema for tool in request.tools}
        head = {"model": model, "stream": True, **self._wishes(request, model, max_output)}
        messages = self._messages.of(request.messages)
        if self._mark is not None:
            messages = with_marks(messages, self._mark)
        head = with_extra(head, self._manner)
        return joined(_encode(head), [*self._system(request), *messages])

    def _wishes(self, request: Request, model: str, max_output: int) -> dict[str, Any]:
        """All of the request but its messages."""
        quirks = self._manner.quirks
        wishes: dict[str, Any] = {}
        if "no_stream_options" not in quirks:
            wishes["stream_options"] = {"include_usage": True}
        if max_output:
            wishes[limit_name(model, quirks)] = max_output
        wishes |= thinking_wishes(self._manner)
        if request.form is not None and "no_form" not in quirks:
            form = {"name": "answer", "schema": request.form, "strict": is_strict(request.form)}
            wishes["response_format"] = {"type": "json_schema", "json_schema": form}
        tools: list[Any] = [
            tool_wire(tool.name, tool.description, tool.schema) for tool in request.tools
        ]
        tools += self._manner.server_tools
        return {**wishes, "tools": tools} if tools else wishes

    def _system(self, request: Request) -> list[bytes]:
        text = "\n\n".join(request.system)
        if not text:
            return []
        content = text if self._mark is None else system_parts(request.system, self._mark)
        return [_encode({"role": "system", "content": content})]

    def _encoded(self, message: Message) -> bytes:
        if isinstance(message, User):
            wires = user_wires(message, self._manner.quirks, in_parts=self._mark is not None)
        else:
            wires = [assistant_wire(message, self._model, self._manner)]
        return b",".join(map(_encode, wires))

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return self._encoded(message)

    @property
    def marks(self) -> bool:
        return self._mark is not None

    def read(self, data: bytes, into: Assembler) -> None:
        if into is not self._into:
            self._begin(into)
        if data == b"[DONE]":
            self._conclude(into)
            into.end()
            return
        chunk = decoded(_chunk, data)
        if chunk.error:
            from detent.models.failures import failure_in_stream

            raise failure_in_stream(chunk.error)
        if chunk.id:
            into.message_id = chunk.id
        if chunk.usage is not None:
            into.usage(_usage(chunk.usage))
        for choice in chunk.choices or ():
            self._choice(choice, into)

    def finish(self, into: Assembler) -> None:
        """Some servers give a finish reason and never send `[DONE]`."""
        if into.stop_seen:
            self._conclude(into)
            into.end()

    def _choice(self, choice: _Choice, into: Assembler) -> None:
        if choice.usage is not None:
            into.usage(_usage(choice.usage))
        if choice.delta is not None:
            self._delta(choice.delta, into)
        elif choice.message is not None:
            self._delta(choice.message, into, whole=True)
        if choice.finish_reason:
            into.stop(stop_of(choice.finish_reason))
            self._conclude(into)
            into.close_all()

    def _delta(self, delta: _Delta, into: Assembler, *, whole: bool = False) -> None:
        """A piece of an answer, or a whole message, which at the end repeats what had come."""
        text, thinking = _texts(delta.content)
        text = text or delta.refusal or ""
        thinking += delta.reasoning_content or delta.reasoning or _text_in(delta.reasoning_details)
        if (thinking or delta.reasoning_details) and self._is_news("thinking", whole):
            into.piece("thinking", "thinking", thinking)
            self._keep(delta.reasoning_details or [], into)
        if text and self._is_news("text", whole):
            self._text(text, into)
        if delta.tool_calls and self._is_news("calls", whole):
            for call in delta.tool_calls:
                self._call(call, into)

    def _keep(self, details: list[dict[str, Any]], into: Assembler) -> None:
        into.hear(len(_encode(details)))
        add_details(self._details, details)

    def _is_news(self, kind: str, whole: bool) -> bool:
        if not whole:
            self._streamed.add(kind)
        return not whole or kind not in self._streamed

    def _text(self, text: str, into: Assembler) -> None:
        if self._withheld is not None:
            came, text = len(text), self._withheld.feed(text)
            into.hear(came - len(text))
        if text:
            into.piece("text", "text", text)

    def _conclude(self, into: Assembler) -> None:
        """No more pieces come: what was collected goes where it belongs, once."""
        thinking = into.find("thinking")
        if self._details and thinking is not None:
            thinking.signature = _encode(self._details).decode()
        if self._withheld is None:
            return
        rest, calls = self._withheld.end(search=not self._slots)
        if rest:
            into.piece("text", "text", rest)
        for number, (name, arguments) in enumerate(calls):
            key = ("call", 0, number)
            into.call(key, "", name)
            into.piece(key, "call", arguments)
            into.stop("tool_use")

    def _call(self, call: _ToolCall, into: Assembler) -> None:
        """Slots are keyed by index, else by id, else by arrival; a new id is always a new call."""
        into.hear()
        function = call.function or _Function()
        known = self._slots.get(call.id or "") if call.index is None else None
        key = known or _slot(call, function, into)
        block = into.find(key)
        if block is None:
            block = into.call(key, call.id or "", function.name or "")
            self._slots[block.id] = key
            self._whole[key] = Wholeness()
        if extra := _object_text(call.extra_content):
            block.signature = extra
        fragment = _arguments(function.arguments)
        if not fragment or block.closed:
            return
        if block.pieces == ["{}"]:
            block.pieces.clear()  # it was a placeholder, here come the arguments
            self._whole[key] = Wholeness()
        into.piece(key, "call", fragment)
        if self._whole[key].feed(fragment):
            into.close(key)


Slot = tuple[str, int, int]


def _slot(call: _ToolCall, function: _Function, into: Assembler) -> Slot:
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
        return decoded(_string, data)
    return data.decode(errors="replace")


def _usage(counts: _Usage) -> Usage:
    """Servers have several names for what came from the cache; it is part of the prompt's count."""
    details = counts.prompt_tokens_details or _Details()
    read = details.cached_tokens or counts.prompt_cache_hit_tokens or counts.cached_tokens or 0
    written = details.cache_write_tokens or details.cache_creation_input_tokens or 0
    fresh = max(0, (counts.prompt_tokens or 0) - read - written)
    spoken = counts.completion_tokens_details or _Details()
    thought = spoken.reasoning_tokens or counts.reasoning_tokens or 0
    return Usage(fresh, counts.completion_tokens or 0, read, written, reasoning=thought)


def add_details(details: list[dict[str, Any]], pieces: Iterable[dict[str, Any]]) -> None:
    """Pieces of one detail have its type and index: its texts grow, its other fields are set.

    What is encrypted comes whole.
    """
    for piece in pieces:
        key = piece.get("type"), piece.get("index")
        last = next((one for one in details if (one.get("type"), one.get("index")) == key), None)
        if last is None or "data" in piece:
            details.append(dict(piece))
            continue
        for name, value in piece.items():
            begun = last.get(name)
            if name in ("text", "summary") and isinstance(begun, str) and isinstance(value, str):
                last[name] = begun + value
            elif value is not None:
                last[name] = value


def _text_in(details: list[dict[str, Any]] | None) -> str:
    """What a person may read of details that come without a plain text beside them."""
    texts = [one.get("text") or one.get("summary") for one in details or ()]
    return "".join(text for text in texts if isinstance(text, str))


def _texts(content: str | list[_Part] | None) -> tuple[str, str]:
    """Text, and thinking among it."""
    if content is None or isinstance(content, str):
        return content or "", ""
    thought = [_texts(part.thinking)[0] for part in content]
    return "".join(part.text or "" for part in content), "".join(thought)


def _object_text(raw: Raw) -> str:
    """A JSON object as the text it came in; nothing if it is none."""
    text = bytes(raw).decode(errors="replace")
    return text if text and arguments_object(text) else ""
