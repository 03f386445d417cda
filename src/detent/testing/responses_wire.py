"""A reply as the OpenAI Responses API would send it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from detent.testing.script import Call, Foreign, RedactedThink, Reply, Say, Think
from detent.testing.sse import Event, named

# Scripts speak of stop reasons in Anthropic words; a word not listed is a reason of its own.
_COMPLETE = ("end_turn", "stop_sequence", "tool_use", "pause_turn")
_REASONS = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}

_Send = Callable[..., bytes]


def stream(reply: Reply, body: Mapping[str, Any], number: int) -> Iterator[Event]:
    """The events of a streamed answer, in wire order."""
    send = _numbered()
    begun = _response(reply, body, number) | {"status": "in_progress", "output": [], "usage": None}
    yield Event(send("response.created", response=begun))
    yield Event(send("response.in_progress", response=begun))
    for index in range(len(reply.blocks)):
        if "noise" in reply.quirks:
            yield Event(keep_alive())
            yield Event(send("response.event_from_the_future", anything=[index]))
        yield from _item_events(reply, index, number, send)
    if "no_done" not in reply.quirks:
        final = _response(reply, body, number)
        yield Event(send(f"response.{final['status']}", response=final), closing=True)


def whole(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The same answer when the client did not ask for a stream."""
    return _response(reply, body, number)


def error_body(
    status: int, message: str | None, number: int, kind: str | None = None
) -> dict[str, Any]:
    called = kind or ("server_error" if status >= 500 else "invalid_request_error")
    said = message or f"scripted error {status}"
    return {"error": {"message": said, "type": called, "param": None, "code": None}}


def error_event(kind: str, message: str) -> bytes:
    return named("error", code=kind, message=message, param=None, sequence_number=9999)


def garbage() -> bytes:
    return b'event: response.output_text.delta\ndata: {"type":"response.output_te\n\n'


def keep_alive() -> bytes:
    return b": keep-alive\n\n"


def _numbered() -> _Send:
    numbers = count()

    def send(name: str, /, **fields: Any) -> bytes:
        return named(name, sequence_number=next(numbers), **fields)

    return send


def _item_events(reply: Reply, index: int, number: int, send: _Send) -> Iterator[Event]:
    whole_item = _item(reply, index, number)
    begun = _begun(whole_item)
    yield Event(send("response.output_item.added", output_index=index, item=begun))
    at = {"item_id": whole_item.get("id"), "output_index": index}
    match reply.blocks[index]:
        case Say(text, pieces):
            yield from _text_events(at, text, pieces or (text,), send)
        case Think(text, _, pieces) if text:
            yield from _thought_events(at, text, pieces or (text,), send)
        case Call() as call:
            yield from _argument_events(at, call, send)
        case _:
            pass
    done = send("response.output_item.done", output_index=index, item=whole_item)
    yield Event(done, ends_block=True)


def _text_events(
    at: dict[str, Any], text: str, pieces: tuple[str, ...], send: _Send
) -> Iterator[Event]:
    at = {**at, "content_index": 0}
    yield Event(send("response.content_part.added", **at, part=_text_part("")))
    for piece in pieces:
        yield Event(send("response.output_text.delta", **at, delta=piece, logprobs=[]), delta=True)
    yield Event(send("response.output_text.done", **at, text=text, logprobs=[]))
    yield Event(send("response.content_part.done", **at, part=_text_part(text)))


def _thought_events(
    at: dict[str, Any], text: str, pieces: tuple[str, ...], send: _Send
) -> Iterator[Event]:
    at = {**at, "summary_index": 0}
    yield Event(send("response.reasoning_summary_part.added", **at, part=_summary("")))
    for piece in pieces:
        yield Event(send("response.reasoning_summary_text.delta", **at, delta=piece), delta=True)
    yield Event(send("response.reasoning_summary_text.done", **at, text=text))
    yield Event(send("response.reasoning_summary_part.done", **at, part=_summary(text)))


def _argument_events(at: dict[str, Any], call: Call, send: _Send) -> Iterator[Event]:
    for piece in call.fragments:
        event = send("response.function_call_arguments.delta", **at, delta=piece)
        yield Event(event, delta=True)
    done = {"name": call.name, "arguments": call.arguments}
    yield Event(send("response.function_call_arguments.done", **at, **done))


def _item(reply: Reply, index: int, number: int) -> dict[str, Any]:
    status = "completed" if _reason(reply) is None else "incomplete"
    match reply.blocks[index]:
        case Say(text):
            own = {"role": "assistant", "content": [_text_part(text)]}
            return {"id": f"msg_{number}_{index}", "type": "message", "status": status, **own}
        case Think(text, signature):
            summary = [_summary(text)] if text else []
            return _reasoning(f"rs_{number}_{index}", summary, signature)
        case RedactedThink(data):
            return _reasoning(f"rs_{number}_{index}", [], data)
        case Call(name) as call:
            return {
                "id": f"fc_{number}_{index}",
                "type": "function_call",
                "status": status,
                "call_id": reply.call_id(index, number),
                "name": name,
                "arguments": call.arguments,
            }
        case Foreign(data):
            return data


def _reasoning(called: str, summary: list[Any], sealed: str | None) -> dict[str, Any]:
    return {"id": called, "type": "reasoning", "summary": summary, "encrypted_content": sealed}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it stands before its deltas."""
    empty: dict[str, Any] = {"content": [], "summary": [], "arguments": ""}
    status = {"status": "in_progress"} if "status" in item else {}
    sealed = {"encrypted_content": None} if "encrypted_content" in item else {}
    return {**item, **{key: empty[key] for key in empty.keys() & item.keys()}, **status, **sealed}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, str]:
    return {"type": "summary_text", "text": text}


def _response(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    failed = reply.stop_reason == "failed"
    reason = None if failed else _reason(reply)
    status = "failed" if failed else "completed" if reason is None else "incomplete"
    error = reply.stop_details or {"code": "server_error", "message": "scripted failure"}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": error if failed else None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": reply.model or str(body.get("model", "scripted")),
        "output": [_item(reply, index, number) for index in range(len(reply.blocks))],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if "no_usage" in reply.quirks else _usage(reply),
    }


def _reason(reply: Reply) -> str | None:
    """Why the answer is not complete; None when it is."""
    stop = reply.stop_reason
    return None if stop in _COMPLETE else _REASONS.get(stop, stop)


def _usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": prompt + usage.output,
    }
