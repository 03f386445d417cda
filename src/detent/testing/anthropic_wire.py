"""A reply as the Anthropic Messages API would send it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from detent.testing.script import Block, Call, Foreign, RedactedThink, Reply, Say, Think
from detent.testing.sse import Event, around, compact, named

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def stream(reply: Reply, body: Mapping[str, Any], number: int) -> Iterator[Event]:
    """The events of a streamed answer, in wire order."""
    head = _message(reply, body, number) | {"content": [], "stop_reason": None}
    if "usage" in head:
        head["usage"] |= {"output_tokens": min(1, reply.usage.output)}
    yield Event(named("message_start", message=head))
    noisy = "noise" in reply.quirks
    for index, block in enumerate(reply.blocks):
        if noisy:
            yield Event(keep_alive())
            yield Event(named("event_from_the_future", anything=[index]))
        start = _block(reply, index, number, empty=True)
        yield Event(named("content_block_start", index=index, content_block=start))
        yield from _deltas(block, index)
        yield Event(named("content_block_stop", index=index), ends_block=True)
    yield from _closing(reply)


def whole(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The same answer when the client did not ask for a stream."""
    return _message(reply, body, number)


def error_body(
    status: int, message: str | None, number: int, kind: str | None = None
) -> dict[str, Any]:
    fallback = "api_error" if status >= 500 else "invalid_request_error"
    called = kind or _ERROR_TYPES.get(status, fallback)
    return {
        "type": "error",
        "error": {"type": called, "message": message or f"scripted {called}"},
        "request_id": f"req_{number}",
    }


def error_event(kind: str, message: str) -> bytes:
    return named("error", error={"type": kind, "message": message})


def garbage() -> bytes:
    return b'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n'


def keep_alive() -> bytes:
    return named("ping")


def _message(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or str(body.get("model", "scripted")),
        "content": [_block(reply, index, number) for index in range(len(reply.blocks))],
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
    }
    return message if "no_usage" in reply.quirks else message | {"usage": _usage(reply)}


def _block(reply: Reply, index: int, number: int, empty: bool = False) -> dict[str, Any]:
    """The block whole, or `empty` as it stands before its deltas."""
    match reply.blocks[index]:
        case Say(text, _, citations):
            cited = {"citations": [] if empty else list(citations)} if citations else {}
            return {"type": "text", "text": "" if empty else text, **cited}
        case Think(text, signature):
            filled = {"thinking": text, "signature": signature or ""}
            return {"type": "thinking", **(dict.fromkeys(filled, "") if empty else filled)}
        case RedactedThink(data):
            return {"type": "redacted_thinking", "data": data}
        case Call(name) as call:
            given = {} if empty else call.parsed or {}
            called = reply.call_id(index, number)
            return {"type": "tool_use", "id": called, "name": name, "input": given}
        case Foreign(data):
            return data


def _deltas(block: Block, index: int) -> Iterator[Event]:
    match block:
        case Say(text, pieces, citations):
            for citation in citations:
                delta = {"type": "citations_delta", "citation": citation}
                yield Event(named("content_block_delta", index=index, delta=delta))
            yield from _pieces(index, "text_delta", "text", pieces or _once(text))
        case Think(text, signature, pieces):
            yield from _pieces(index, "thinking_delta", "thinking", pieces or _once(text))
            yield from _pieces(index, "signature_delta", "signature", _once(signature))
        case Call():
            yield from _pieces(index, "input_json_delta", "partial_json", block.fragments)
        case RedactedThink() | Foreign():
            pass


def _once(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def _pieces(index: int, kind: str, key: str, pieces: tuple[str, ...]) -> Iterator[Event]:
    event = named("content_block_delta", index=index, delta={"type": kind, key: "\0"})
    before, after = around(event)
    for piece in pieces:
        yield Event(before + compact(piece) + after, delta=True)


def _closing(reply: Reply) -> Iterator[Event]:
    delta: dict[str, Any] = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    if reply.stop_details is not None:
        delta["stop_details"] = reply.stop_details
    elif reply.stop_reason == "refusal":
        delta["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    usage = {} if "no_usage" in reply.quirks else {"usage": _usage(reply)}
    yield Event(named("message_delta", delta=delta, **usage), closing=True)
    if "no_done" not in reply.quirks:
        yield Event(named("message_stop"), closing=True)


def _usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    thought = {"output_tokens_details": {"thinking_tokens": usage.reasoning}}
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        **(thought if usage.reasoning else {}),
    }
