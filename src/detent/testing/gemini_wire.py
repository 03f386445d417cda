"""A reply as the Gemini API would send it: every event is a whole answer of its own."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from detent.testing.script import Block, Call, Foreign, RedactedThink, Reply, Say, Think
from detent.testing.sse import Event, around, compact
from detent.testing.sse import unnamed as _data

# Scripts speak of stop reasons in Anthropic words; a word not listed is sent as it is.
_FINISH = {
    "end_turn": "STOP",
    "stop_sequence": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "refusal": "SAFETY",
}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}


def stream(reply: Reply, body: Mapping[str, Any], number: int) -> Iterator[Event]:
    """The events of a streamed answer, in wire order."""
    if reply.stop_reason == "blocked":
        yield Event(_data(_blocked(reply, body, number)), closing=True)
        return
    for index, signature in _signed(reply.blocks):
        if "noise" in reply.quirks:
            yield Event(keep_alive())
        yield from _events(reply, body, number, index, signature)
    last = _answer(reply, body, number, [{"text": ""}], _finish(reply))
    yield Event(_data(last), closing=True)


def whole(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The same answer when the client did not ask for a stream."""
    if reply.stop_reason == "blocked":
        return _blocked(reply, body, number)
    parts = [
        _part(reply, index, number) | _signature(signature)
        for index, signature in _signed(reply.blocks)
    ]
    return _answer(reply, body, number, parts, _finish(reply))


def error_body(
    status: int, message: str | None, number: int, kind: str | None = None
) -> dict[str, Any]:
    named = kind or _STATUSES.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message or f"scripted {named}", "status": named}}


def error_event(kind: str, message: str) -> bytes:
    status = 503 if "overloaded" in kind else 500
    return _data(error_body(status, message, 0))


def garbage() -> bytes:
    return b'data: {"candidates": [{"content": {"par\n\n'


def keep_alive() -> bytes:
    return b": keep-alive\n\n"


def _signed(blocks: tuple[Block, ...]) -> Iterator[tuple[int, str | None]]:
    """Each block with its signature: a thought is signed on what follows it."""
    pending: str | None = None
    for index, block in enumerate(blocks):
        if isinstance(block, Think) and index + 1 < len(blocks):
            yield index, None
            pending = block.signature
        else:
            yield index, block.signature if isinstance(block, Think) else pending
            pending = None


def _events(
    reply: Reply, body: Mapping[str, Any], number: int, index: int, signature: str | None
) -> Iterator[Event]:
    block = reply.blocks[index]
    pieces: tuple[str, ...] = ()
    if isinstance(block, Say | Think) and block.text:
        pieces = block.pieces or (block.text,)
    if not pieces:
        part = _part(reply, index, number) | _signature(signature)
        yield Event(_data(_answer(reply, body, number, [part])), delta=True, ends_block=True)
        return
    shape = _answer(reply, body, number, [{**_part(reply, index, number), "text": "\0"}])
    before, after = around(_data(shape))
    for piece in pieces[:-1]:
        yield Event(before + compact(piece) + after, delta=True)
    last = {**_part(reply, index, number), "text": pieces[-1], **_signature(signature)}
    yield Event(_data(_answer(reply, body, number, [last])), delta=True, ends_block=True)


def _part(reply: Reply, index: int, number: int) -> dict[str, Any]:
    match reply.blocks[index]:
        case Say(text):
            return {"text": text}
        case Think(text):
            return {"text": text, "thought": True}
        case RedactedThink(data):
            return {"text": "", **_signature(data)}
        case Foreign(data):
            return data
        case Call(name) as call:
            named = {} if "missing_id" in reply.quirks else {"id": reply.call_id(index, number)}
            given = call.arguments if call.parsed is None else call.parsed
            return {"functionCall": {**named, "name": name, "args": given}}


def _signature(signature: str | None) -> dict[str, str]:
    """This wire's signatures are bytes."""
    if not signature:
        return {}
    return {"thoughtSignature": base64.b64encode(signature.encode()).decode()}


def _answer(
    reply: Reply,
    body: Mapping[str, Any],
    number: int,
    parts: list[dict[str, Any]],
    finish: str | None = None,
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **_envelope(reply, body, number, final=finish is not None)}


def _blocked(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    feedback = {"promptFeedback": reply.stop_details or {"blockReason": "SAFETY"}}
    return feedback | _envelope(reply, body, number, final=True)


def _envelope(reply: Reply, body: Mapping[str, Any], number: int, final: bool) -> dict[str, Any]:
    named = {} if "missing_id" in reply.quirks else {"responseId": f"response-{number}"}
    counted = {} if "no_usage" in reply.quirks else {"usageMetadata": _usage(reply, final)}
    return {**counted, "modelVersion": reply.model or str(body.get("model", "scripted")), **named}


def _usage(reply: Reply, final: bool) -> dict[str, int]:
    """Every event counts; only the last one counts the output."""
    usage = reply.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    counts = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    if final:
        counts["candidatesTokenCount"] = usage.output - usage.reasoning
        counts["totalTokenCount"] = prompt + usage.output
    if final and usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return counts


def _finish(reply: Reply) -> str:
    return _FINISH.get(reply.stop_reason, reply.stop_reason)
