"""A reply as OpenAI Chat Completions, or one of its many imitations, would send it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from detent.testing.script import Call, Foreign, RedactedThink, Reply, Say, Think
from detent.testing.sse import Event, around, compact
from detent.testing.sse import unnamed as _data

# Scripts speak of stop reasons in Anthropic words; a word not listed is sent as it is.
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}

_Chunk = Callable[..., bytes]


def stream(reply: Reply, body: Mapping[str, Any], number: int) -> Iterator[Event]:
    """The events of a streamed answer, in wire order."""
    chunk = _chunker(reply, body, number)
    yield Event(chunk({"role": "assistant", "content": ""}))
    noisy = "noise" in reply.quirks
    for parts in _block_streams(reply, chunk, number):
        if noisy:
            yield Event(keep_alive())
        yield from parts
    yield Event(chunk({}, finish=_finish(reply)), closing=True)
    options = body.get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage")
    if asked and "no_usage" not in reply.quirks:
        yield Event(chunk(None, usage=_usage(reply)), closing=True)
    if "no_done" not in reply.quirks:
        yield Event(b"data: [DONE]\n\n", closing=True)


def whole(reply: Reply, body: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The same answer when the client did not ask for a stream."""
    text = "".join(block.text for block in reply.blocks if isinstance(block, Say))
    thought = "".join(block.text for block in reply.blocks if isinstance(block, Think))
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if thought:
        message |= dict.fromkeys(_reasoning_keys(reply), thought)
    calls = [_whole_call(reply, index, number) for index in _call_indices(reply)]
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    answer = _envelope(reply, body, number, "chat.completion") | {"choices": [choice]}
    return answer if "no_usage" in reply.quirks else answer | {"usage": _usage(reply)}


def error_body(
    status: int, message: str | None, number: int, kind: str | None = None
) -> dict[str, Any]:
    named = kind or ("server_error" if status >= 500 else "invalid_request_error")
    said = message or f"scripted error {status}"
    return {"error": {"message": said, "type": named, "param": None, "code": None}}


def error_event(kind: str, message: str) -> bytes:
    return _data({"error": {"message": message, "type": kind, "param": None, "code": None}})


def garbage() -> bytes:
    return b'data: {"object":"chat.completion.chunk","choi\n\n'


def keep_alive() -> bytes:
    return b": keep-alive\n\n"


def _chunker(reply: Reply, body: Mapping[str, Any], number: int) -> _Chunk:
    """A function that wraps a delta (None: no choice at all) into an encoded chunk."""
    envelope = _envelope(reply, body, number, "chat.completion.chunk")
    if "usage_every_chunk" in reply.quirks:
        envelope["usage"] = _usage(reply)

    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **extra: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({**envelope, "choices": [] if delta is None else [choice], **extra})

    return chunk


def _envelope(reply: Reply, body: Mapping[str, Any], number: int, kind: str) -> dict[str, Any]:
    named = {} if "missing_id" in reply.quirks else {"id": f"chatcmpl-{number}"}
    model = reply.model or str(body.get("model", "scripted"))
    return {**named, "object": kind, "created": 0, "model": model}


def _block_streams(reply: Reply, chunk: _Chunk, number: int) -> Iterator[Iterator[Event]]:
    """One stream of events per block, or one for all calls when they interleave."""
    interleave = "interleave" in reply.quirks
    calls = [_call_events(reply, index, chunk, number) for index in _call_indices(reply)]
    slots = iter(calls)
    for block in reply.blocks:
        match block:
            case Say(text, pieces):
                yield _text_events(chunk, ("content",), pieces or (text,))
            case Think() if "reasoning_details" in reply.quirks:
                yield _detail_events(chunk, block)
            case Think(text, _, pieces):
                yield _text_events(chunk, _reasoning_keys(reply), pieces or (text,))
            case Foreign(data):
                yield iter([Event(chunk(data), ends_block=True)])
            case Call() if not interleave:
                yield next(slots)
            case Call() | RedactedThink():
                pass
    if interleave and calls:
        yield _alternating(calls)


def _alternating(streams: list[Iterator[Event]]) -> Iterator[Event]:
    for row in zip_longest(*streams):
        yield from (event for event in row if event is not None)


def _text_events(chunk: _Chunk, keys: tuple[str, ...], pieces: tuple[str, ...]) -> Iterator[Event]:
    if not keys:  # Plain Chat Completions does not show thinking.
        return
    parts = around(chunk(dict.fromkeys(keys, "\0")))
    for left, piece in enumerate(pieces, 1 - len(pieces)):
        yield Event(compact(piece).join(parts), delta=True, ends_block=left == 0)


def _detail_events(chunk: _Chunk, thought: Think) -> Iterator[Event]:
    """As routers send it: fragments of one entry, the last with the signature."""
    entry = {"type": "reasoning.text", "index": 0, "format": "unknown"}
    for piece in thought.pieces or (thought.text,):
        yield Event(chunk({"reasoning_details": [{**entry, "text": piece}]}), delta=True)
    signed = {**entry, "text": "", "signature": thought.signature}
    yield Event(chunk({"reasoning_details": [signed]}), ends_block=True)


def _call_events(reply: Reply, index: int, chunk: _Chunk, number: int) -> Iterator[Event]:
    """First id and name, then the argument text; nothing on this wire ends a call."""
    head = _whole_call(reply, index, number)
    slot = _slot(reply, index)
    content = {"content": None} if "null_content" in reply.quirks else {}
    if "object_arguments" in reply.quirks:
        delta = {**content, "tool_calls": [{**slot, **head}]}
        yield Event(chunk(delta), delta=True, ends_block=True)
        return
    head["function"]["arguments"] = ""
    block = reply.blocks[index]
    fragments = block.fragments if isinstance(block, Call) else ()
    opening = {**content, "tool_calls": [{**slot, **head}]}
    yield Event(chunk(opening), ends_block=not fragments)
    for left, piece in enumerate(fragments, 1 - len(fragments)):
        delta = {**content, "tool_calls": [{**slot, "function": {"arguments": piece}}]}
        yield Event(chunk(delta), delta=True, ends_block=left == 0)


def _whole_call(reply: Reply, index: int, number: int) -> dict[str, Any]:
    block = reply.blocks[index]
    assert isinstance(block, Call)
    given: object = block.arguments
    if "object_arguments" in reply.quirks and block.parsed is not None:
        given = block.parsed
    named = {} if "missing_id" in reply.quirks else {"id": reply.call_id(index, number)}
    signed = {"extra_content": {"google": {"thought_signature": f"thought-{number}-{index}"}}}
    return {
        **named,
        "type": "function",
        "function": {"name": block.name, "arguments": given},
        **(signed if "thought_signature" in reply.quirks else {}),
    }


def _slot(reply: Reply, index: int) -> dict[str, int]:
    if "no_index" in reply.quirks:
        return {}
    return {"index": 0 if "index_zero" in reply.quirks else _call_indices(reply).index(index)}


def _call_indices(reply: Reply) -> list[int]:
    return [index for index, block in enumerate(reply.blocks) if isinstance(block, Call)]


def _reasoning_keys(reply: Reply) -> tuple[str, ...]:
    return tuple(key for key in ("reasoning_content", "reasoning") if key in reply.quirks)


def _finish(reply: Reply) -> str:
    if "finish_stop" in reply.quirks:
        return "stop"
    return _FINISH.get(reply.stop_reason, reply.stop_reason)


def _usage(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    prompt = usage.input + usage.cache_read + usage.cache_write
    thought = {"completion_tokens_details": {"reasoning_tokens": usage.reasoning}}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        **(thought if usage.reasoning else {}),
    }
