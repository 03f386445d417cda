"""Model answers as SSE events, one encoder per wire.

An answer is a list of blocks: a ``str`` is text (one event per list item), a ``Call`` is a tool
call. Everything is encoded before a run starts, so the server only copies bytes while it is timed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One tool call; ``pieces`` > 1 splits its arguments over that many events."""

    ident: str
    tool: str
    arguments: dict[str, str]
    pieces: int = 1

    def parts(self) -> list[str]:
        text = json.dumps(self.arguments)
        size = -(-len(text) // self.pieces)
        return [text[at : at + size] for at in range(0, len(text), size)]


Block = str | Call
# Usage stays small on purpose: an agent that compacts by reported usage must not do so in a run.
INPUT_TOKENS, OUTPUT_TOKENS = 100, 20


def data(payload: object) -> bytes:
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"


def named(payload: dict[str, object]) -> bytes:
    return f"event: {payload['type']}\n".encode() + data(payload)


def has_call(blocks: Sequence[Block]) -> bool:
    return any(isinstance(block, Call) for block in blocks)


def messages(blocks: Sequence[Block]) -> list[bytes]:
    """Anthropic Messages: consecutive texts share one content block."""
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": 1}
    head = {"id": "msg_bench", "type": "message", "role": "assistant", "model": "claude-bench"}
    start: dict[str, object] = {
        **head,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    out = [named({"type": "message_start", "message": start}), named({"type": "ping"})]
    index = -1
    open_text = False
    for block in blocks:
        if isinstance(block, Call) or not open_text:
            if open_text:
                out.append(named({"type": "content_block_stop", "index": index}))
            index += 1
            out.append(named(_block_start(index, block)))
        for delta in _deltas(block):
            out.append(named({"type": "content_block_delta", "index": index, "delta": delta}))
        open_text = isinstance(block, str)
        if not open_text:
            out.append(named({"type": "content_block_stop", "index": index}))
    if open_text:
        out.append(named({"type": "content_block_stop", "index": index}))
    stop = "tool_use" if has_call(blocks) else "end_turn"
    end = {"stop_reason": stop, "stop_sequence": None}
    tokens = {"output_tokens": OUTPUT_TOKENS}
    out.append(named({"type": "message_delta", "delta": end, "usage": tokens}))
    out.append(named({"type": "message_stop"}))
    return out


def _block_start(index: int, block: Block) -> dict[str, object]:
    content: dict[str, object] = {"type": "text", "text": ""}
    if isinstance(block, Call):
        content = {"type": "tool_use", "id": block.ident, "name": block.tool, "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": content}


def _deltas(block: Block) -> list[dict[str, str]]:
    if isinstance(block, str):
        return [{"type": "text_delta", "text": block}]
    return [{"type": "input_json_delta", "partial_json": part} for part in block.parts()]


def chat(blocks: Sequence[Block]) -> list[bytes]:
    """OpenAI Chat Completions with the usage chunk of ``stream_options.include_usage``."""

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return data({**head, "choices": [choice], "usage": None})

    head = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-bench",
    }
    out = [chunk({"role": "assistant", "content": ""})]
    calls = 0
    for block in blocks:
        if isinstance(block, str):
            out.append(chunk({"content": block}))
            continue
        name = {"name": block.tool, "arguments": ""}
        first = {"index": calls, "id": block.ident, "type": "function", "function": name}
        out.append(chunk({"tool_calls": [first]}))
        for part in block.parts():
            out.append(
                chunk({"tool_calls": [{"index": calls, "function": {"arguments": part}}]}),
            )
        calls += 1
    out.append(chunk({}, "tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS}
    total = {**usage, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
    out.append(data({**head, "choices": [], "usage": total}))
    out.append(b"data: [DONE]\n\n")
    return out


def responses(blocks: Sequence[Block]) -> list[bytes]:
    """OpenAI Responses, as far as Codex reads it."""
    out = [named({"type": "response.created", "response": {"id": "resp_bench"}})]
    text = "".join(block for block in blocks if isinstance(block, str))
    if text:
        item: dict[str, object] = {"type": "message", "role": "assistant", "id": "msg_bench"}
        added = {**item, "content": []}
        out.append(named({"type": "response.output_item.added", "output_index": 0, "item": added}))
        for block in blocks:
            if isinstance(block, str):
                out.append(named({"type": "response.output_text.delta", "delta": block}))
        done = {**item, "content": [{"type": "output_text", "text": text}]}
        out.append(named({"type": "response.output_item.done", "output_index": 0, "item": done}))
    for index, block in enumerate(blocks):
        if isinstance(block, Call):
            call = {"type": "function_call", "call_id": block.ident, "name": block.tool}
            full = {**call, "arguments": json.dumps(block.arguments)}
            done = {"type": "response.output_item.done", "output_index": index, "item": full}
            out.append(named(done))
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    total = {**usage, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
    end = {"id": "resp_bench", "status": "completed", "output": [], "usage": total}
    out.append(named({"type": "response.completed", "response": end}))
    return out


def gemini(blocks: Sequence[Block]) -> list[bytes]:
    """Google's streamGenerateContent with ``alt=sse``; calls arrive whole."""
    usage = {"promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS}
    out = []
    for number, block in enumerate(blocks, 1):
        part: dict[str, object] = {"text": block}
        if isinstance(block, Call):
            part = {"functionCall": {"name": block.tool, "args": block.arguments}}
        candidate: dict[str, object] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if number == len(blocks):
            candidate["finishReason"] = "STOP"
        out.append(data({"candidates": [candidate], "usageMetadata": usage}))
    return out


ENCODERS: dict[str, Callable[[Sequence[Block]], list[bytes]]] = {
    "messages": messages,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
}
PATH_ENDS = {
    "/messages": "messages",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":streamGenerateContent": "gemini",
}


def wire_of(path: str) -> str | None:
    """Which wire a request path speaks; None for everything else."""
    path = path.split("?", 1)[0]
    return next((wire for end, wire in PATH_ENDS.items() if path.endswith(end)), None)
