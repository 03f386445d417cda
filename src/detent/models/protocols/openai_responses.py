"""The OpenAI Responses wire: a conversation is a list of items, and none is kept at the server."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from detent.models.assemble import Assembler
from detent.models.failures import failure_in_stream
from detent.models.protocols.responses_writing import assistant_items, head_of, user_items
from detent.models.protocols.stops import stop_of
from detent.models.protocols.wire import (
    EncodedMessages,
    Manner,
    decoded,
    joined,
    with_extra,
)
from detent.types.messages import Message, Request, User
from detent.types.usage import Usage

_encode = msgspec.json.Encoder().encode


class OpenAIResponses:
    def __init__(self, manner: Manner = Manner()) -> None:
        self._manner = manner
        self._model = ""
        self._items = EncodedMessages(self._encoded)
        self._answer: _Answer | None = None

    def path(self, model: str) -> str:
        return "/responses"

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        if model != self._model:  # reasoning belongs to one model: encode anew
            self._model = model
            self._items = EncodedMessages(self._encoded)
        head = with_extra(head_of(request, model, max_output, self._manner), self._manner)
        return joined(_encode(head), self._items.of(request.messages) or [b""], b"input")

    def _encoded(self, message: Message) -> bytes:
        if isinstance(message, User):
            items = user_items(message)
        else:
            items = assistant_items(message, keep=self._manner.replays(message, self._model))
        return b",".join(map(_encode, items))

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return self._encoded(message)

    def read(self, data: bytes, into: Assembler) -> None:
        if data == b"[DONE]":  # not of this protocol, but some servers send it
            return
        if self._answer is None or self._answer.into is not into:
            self._answer = _Answer(into)
        decoded(self._answer.take, data)

    def finish(self, into: Assembler) -> None:
        """Only the final response ends an answer here: an early end of the stream is a fault."""


class _Details(Struct):
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    id: str | None = None
    status: str | None = None
    output: list[Raw] | None = None
    usage: _Usage | None = None
    incomplete_details: _Incomplete | None = None
    error: Any = None


class _Kind(Struct):
    type: str = ""


class _Event(Struct):
    """The events we know; each has some of these fields."""

    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: Raw = Raw()
    item: Raw = Raw()
    response: _Response | None = None


class _Item(Struct):
    type: str = ""
    id: str | None = None


class _Part(Struct):
    text: str | None = None
    refusal: str | None = None


class _MessageItem(Struct):
    content: list[_Part] | None = None


class _CallItem(Struct):
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Raw = Raw()


class _ReasoningItem(Struct):
    summary: list[_Part] | None = None
    content: list[_Part] | None = None
    encrypted_content: str | None = None


_kind = msgspec.json.Decoder(_Kind).decode
_event = msgspec.json.Decoder(_Event).decode
_item = msgspec.json.Decoder(_Item).decode
_as_message = msgspec.json.Decoder(_MessageItem).decode
_as_call = msgspec.json.Decoder(_CallItem).decode
_as_reasoning = msgspec.json.Decoder(_ReasoningItem).decode


_KNOWN = frozenset(
    f"response.{name}"
    for name in (
        *("created", "in_progress", "completed", "incomplete", "failed", "done"),
        *("output_item.added", "output_item.done", "output_text.delta", "output_text.done"),
        *("refusal.delta", "refusal.done", "reasoning_text.delta", "reasoning_text.done"),
        *("reasoning_summary_text.delta", "reasoning_summary_text.done"),
        *("function_call_arguments.delta", "function_call_arguments.done"),
    )
)


class _Answer:
    """The answer that is being read: which events belong together, and what is still to come.

    A text may come in pieces, whole, or both ways; what is whole counts only without pieces.
    """

    def __init__(self, into: Assembler) -> None:
        self.into = into
        self._slots: dict[tuple[int | None, str], int] = {}
        self._count = 0
        self._begun: set[int] = set()
        self._parts: set[tuple[int, bool, int]] = set()
        self._early: dict[int, list[str]] = {}
        """Arguments that came before their call was named."""
        self._heard = False
        self._called = False

    def take(self, data: bytes) -> None:
        """One event. Its kind is read first: of those we do not know, nothing else is."""
        kind = _kind(data).type
        if kind == "error":
            raise failure_in_stream(msgspec.json.decode(data))
        event = _event(data) if kind in _KNOWN else _Event()
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self.text(event, event.delta)
            case "response.output_text.done" | "response.refusal.done":
                self.text(event, event.text or event.refusal, whole=True)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self.thinking(event, event.delta)
            case "response.reasoning_summary_text.done" | "response.reasoning_text.done":
                self.thinking(event, event.text, whole=True)
            case "response.function_call_arguments.delta":
                self.arguments(event, event.delta or "")
            case "response.function_call_arguments.done":
                self.arguments(event, _fragment(event.arguments), whole=True)
            case "response.output_item.added":
                self.item(event)
            case "response.output_item.done":
                self.item(event, whole=True)
            case "response.created" | "response.in_progress":
                self.about(event.response or _Response())
            case "response.completed" | "response.incomplete" | "response.failed" | "response.done":
                self.end(event.response or _Response(), kind)
            case _:
                pass

    def text(self, event: _Event, text: str | None, *, whole: bool = False) -> None:
        key = (self._slot(event), "text", event.content_index or 0)
        if text and not (whole and self.into.find(key)):
            self.into.piece(key, "text", text)

    def thinking(self, event: _Event, text: str | None, *, whole: bool = False) -> None:
        """The parts of a summary are paragraphs."""
        slot = self._slot(event)
        is_summary = event.summary_index is not None
        part = (slot, is_summary, event.summary_index or event.content_index or 0)
        if not text or (whole and part in self._parts):
            return
        block = self.into.find((slot, "thinking"))
        if part not in self._parts and block is not None:
            text = f"\n\n{text}"
        self._parts.add(part)
        self.into.piece((slot, "thinking"), "thinking", text)

    def arguments(self, event: _Event, fragment: str, *, whole: bool = False) -> None:
        slot = self._slot(event)
        block = self.into.find((slot, "call"))
        known = self._early.setdefault(slot, []) if block is None else block.pieces
        if fragment and not (whole and known):
            self._argue(slot, fragment)
        if whole and known:
            self.into.close((slot, "call"))

    def item(self, event: _Event, *, whole: bool = False) -> None:
        item = _item(event.item or b"{}")
        named = msgspec.structs.replace(event, item_id=event.item_id or item.id)
        slot = self._slot(named, begins=not whole)
        match item.type:
            case "function_call":
                self._call(slot, _as_call(event.item), whole=whole)
            case "message" if whole:
                self._message(slot, _as_message(event.item))
            case "reasoning" if whole:
                self._reasoning(slot, event.item)
            case "" | "message" | "reasoning":
                pass
            case _ if whole:
                self.into.opaque((slot, "item"), bytes(event.item).decode())

    def about(self, response: _Response) -> None:
        self.into.message_id = response.id or self.into.message_id
        if response.usage is not None:
            self.into.usage(_usage(response.usage))

    def end(self, response: _Response, kind: str) -> None:
        self.about(response)
        if kind == "response.failed" or response.status in ("failed", "cancelled"):
            said = f"the response has {response.status or 'failed'}"
            raise failure_in_stream(response.error or said)
        if not self._heard:  # a server that does not really stream
            for index, item in enumerate(response.output or ()):
                self.item(_Event(output_index=index, item=item), whole=True)
        self.into.stop(self._stop(response, kind))
        self.into.end()

    def _stop(self, response: _Response, kind: str) -> str:
        reason = (response.incomplete_details or _Incomplete()).reason
        if reason or kind == "response.incomplete" or response.status == "incomplete":
            return stop_of(reason or "", "max_tokens")  # cut, whatever cut it
        return "tool_use" if self._called else "end_turn"

    def _call(self, slot: int, call: _CallItem, *, whole: bool) -> None:
        block = self.into.find((slot, "call"))
        if block is None:
            self._called = True
            name, call_id = call.name or "", call.call_id or call.id or ""
            block = self.into.call((slot, "call"), call_id, name)
            for fragment in self._early.pop(slot, ()):
                self._argue(slot, fragment)
        if whole:
            if not block.pieces and (arguments := _fragment(call.arguments)):
                self._argue(slot, arguments)
            self.into.close((slot, "call"))

    def _argue(self, slot: int, fragment: str) -> None:
        block = self.into.find((slot, "call"))
        if block is None:
            self.into.hear(len(fragment))
            self._early.setdefault(slot, []).append(fragment)
        elif not block.closed:
            self.into.piece((slot, "call"), "call", fragment)

    def _message(self, slot: int, message: _MessageItem) -> None:
        parts = [part.text or part.refusal or "" for part in message.content or ()]
        keys = [(slot, "text", index) for index in range(len(parts))]
        if any(self.into.find(key) for key in keys):
            return
        for key, text in zip(keys, parts, strict=True):
            if text:
                self.into.piece(key, "text", text)

    def _reasoning(self, slot: int, raw: Raw) -> None:
        """The whole item is the signature: it goes back as it came."""
        item, key = _as_reasoning(raw), (slot, "thinking")
        parts = [part.text or "" for part in item.summary or item.content or ()]
        block, text = self.into.find(key), "\n\n".join(filter(None, parts))
        if block is None and (text or item.encrypted_content):
            self.into.piece(key, "thinking", text)
        if item.encrypted_content and not (block and block.signature):
            self.into.sign(key, bytes(raw).decode())

    def _slot(self, event: _Event, *, begins: bool = False) -> int:
        """The item an event belongs to: by place and name, else by place, else by name.

        Some servers change the name with every event, some number every item 0, some leave out
        the one or the other; an event that tells neither belongs to the item before it.
        """
        self._heard = self._heard or not begins
        place, name = event.output_index, event.item_id or ""
        slot = same = self._slots.get((place, name))
        if slot is None and place is not None:
            slot = self._slots.get((place, ""))
        is_another = begins and slot in self._begun and (same is None or not name)
        if slot is None or is_another:
            slot, self._count = self._count, self._count + 1
        if begins:
            self._begun.add(slot)
        for alias in ((place, name), (place, ""), (None, name), (None, "")):
            self._slots[alias] = slot
        return slot


def _fragment(raw: Raw) -> str:
    """Arguments are a string as a rule, an object from some servers."""
    data = bytes(raw)
    if not data or data == b"null":
        return ""
    return str(msgspec.json.decode(data, type=str)) if data.startswith(b'"') else data.decode()


def _usage(counts: _Usage) -> Usage:
    details = counts.input_tokens_details or _Details()
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    fresh = max(0, (counts.input_tokens or 0) - read - written)
    thought = (counts.output_tokens_details or _Details()).reasoning_tokens or 0
    return Usage(fresh, counts.output_tokens or 0, read, written, reasoning=thought)
