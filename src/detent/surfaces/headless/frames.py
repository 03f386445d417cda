"""Events → stream-json frames, the ones SDK clients read."""

import os
from collections.abc import Callable
from typing import Any

from detent.surfaces.headless.result import input_object, wire_usage
from detent.types.codec import arguments_object, encode
from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Opaque,
    Redacted,
    ResultBlock,
    Text,
    Thinking,
)
from detent.types.events import (
    CallEnded,
    Compacted,
    Compacting,
    Event,
    Notice,
    Replied,
    Retrying,
    Switched,
    TurnEnded,
)
from detent.types.outcomes import Cut, content_of, is_error
from detent.types.uuids import uuid_of
from detent.types.version import VERSION

LONGEST_LINE = 1_000_000
"""Clients refuse a line of 1,048,576 characters; this leaves room."""

FEWEST_ITEMS = 64

CLIENT_VERSION = "2.1.325"
"""The protocol level we speak, as clients check it; our own version stands beside it."""


def frame_line(frame: dict[str, Any]) -> bytes:
    line = encode(frame)
    most = LONGEST_LINE // 4
    while len(line) > LONGEST_LINE and most > 100:
        line = encode(_shortened(frame, most))
        most //= 4
    return line + b"\n"


def _shortened(value: Any, most: int) -> Any:
    if isinstance(value, str) and len(value) > most:
        half = most // 2
        note = f"\n[… {len(value) - 2 * half:,} characters left out …]\n"
        return value[:half] + note + value[-half:]
    # Many small things are as long as one big one; no frame of ours has so many of its own.
    items = max(FEWEST_ITEMS, most // 50)
    if isinstance(value, dict):
        kept = list(value.items())[:items]
        return {key: _shortened(item, most) for key, item in kept}
    if isinstance(value, list | tuple):
        left_out = len(value) - items
        notes = [f"[… {left_out:,} items left out …]"] if left_out > 0 else []
        return [*(_shortened(item, most) for item in value[:items]), *notes]
    return value


class Frames:
    """Makes frames; results of parallel calls are held so that they come in call order."""

    def __init__(self, session: str, new_id: Callable[[], str], parent: str | None = None) -> None:
        """`parent` is the call that a subagent works for; None is the session itself."""
        self._session = session
        self._new_id = new_id
        self._parent = parent
        self._order: list[str] = []
        self._finished: dict[str, CallEnded] = {}

    def stamped(self, frame: dict[str, Any], seq: int = 0, uuid: str = "") -> dict[str, Any]:
        """What tells of an entry is always called the same: a client may come back to it. To what
        subagents did, nobody does."""
        is_own = seq and self._parent is None
        uuid = uuid or (uuid_of(self._session, seq) if is_own else self._new_id())
        return {**frame, "session_id": self._session, "uuid": uuid}

    def init(
        self,
        *,
        cwd: str,
        tools: tuple[str, ...],
        model: str,
        mode: str,
        commands: tuple[str, ...] = (),
        agents: tuple[str, ...] = (),
        style: str = "default",
    ) -> dict[str, Any]:
        return self.stamped(
            {
                "type": "system",
                "subtype": "init",
                "cwd": cwd,
                "tools": list(tools),
                "mcp_servers": [],
                "model": model,
                "permissionMode": mode,
                "slash_commands": list(commands),
                "apiKeySource": "environment" if os.environ.get("ANTHROPIC_API_KEY") else "none",
                "claude_code_version": CLIENT_VERSION,
                "detent_version": VERSION,
                "output_style": style,
                "agents": list(agents),
                "skills": [],
                "plugins": [],
                "capabilities": ["interrupt_receipt_v1"],
            }
        )

    def of(self, event: Event) -> list[dict[str, Any]]:
        match event:
            case Replied():
                self._order += [block.id for block in event.content if isinstance(block, Call)]
                return [self._assistant(event), *self._results()]
            case CallEnded():
                self._finished[event.call_id] = event
                return self._results()
            case TurnEnded():
                return self._rest()
            case Retrying(attempt=attempt, of=most, delay=delay, error=error, status=status):
                fields = {
                    "attempt": attempt,
                    "max_retries": most,
                    "retry_delay_ms": round(delay * 1000),
                    "error_status": status,
                    "error": error,
                }
                return [self.stamped({"type": "system", "subtype": "api_retry", **fields})]
            case Notice(text=text, level=level):
                frame = {"type": "system", "subtype": "informational", "content": text}
                return [self.stamped({**frame, "level": level})]
            case Switched(mode=mode) if mode:
                fields = {"status": None, "permissionMode": mode}
                return [self.stamped({"type": "system", "subtype": "status", **fields})]
            case Compacting(is_over=is_over):
                fields = {"status": None if is_over else "compacting"}
                return [self.stamped({"type": "system", "subtype": "status", **fields})]
            case Compacted():
                frame = {"type": "system", "subtype": "compact_boundary"}
                return [self.stamped({**frame, "compact_metadata": _metadata(event)})]
            case _:
                return []

    def _assistant(self, reply: Replied) -> dict[str, Any]:
        message = {
            "id": reply.message_id or f"msg_{reply.seq}",
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": [_block(block) for block in reply.content],
            "stop_reason": reply.stop,
            "stop_sequence": None,
            "usage": wire_usage(reply.usage),
        }
        frame = {"type": "assistant", "message": message, "parent_tool_use_id": self._parent}
        return self.stamped(frame, reply.seq)

    def _results(self) -> list[dict[str, Any]]:
        frames = []
        while self._order and self._order[0] in self._finished:
            frames.append(self._user(self._finished.pop(self._order.pop(0))))
        return frames

    def _rest(self) -> list[dict[str, Any]]:
        """Calls that never ran get a result all the same, and the next turn starts afresh."""
        frames = []
        for call_id in self._order:
            ended = self._finished.get(call_id)
            cut = CallEnded(call_id=call_id, name="", outcome=Cut("interrupted before it ran"))
            frames.append(self._user(ended or cut))
        self._order, self._finished = [], {}
        return frames

    def _user(self, ended: CallEnded) -> dict[str, Any]:
        parts = [_part(part) for part in content_of(ended.outcome)]
        only_text = len(parts) == 1 and parts[0]["type"] == "text"
        result = {
            "type": "tool_result",
            "tool_use_id": ended.call_id,
            "content": parts[0]["text"] if only_text else parts,
            "is_error": is_error(ended.outcome),
        }
        frame: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": [result]},
            "parent_tool_use_id": self._parent,
        }
        data = getattr(ended.outcome, "data", None)
        if data is not None:
            frame["tool_use_result"] = data
        return self.stamped(frame, ended.seq)


def _metadata(compacted: Compacted) -> dict[str, Any]:
    """Clients know two triggers; that the provider had refused a prompt is ours to tell."""
    is_manual, is_reactive = (compacted.trigger == one for one in ("manual", "reactive"))
    return {
        "trigger": "manual" if is_manual else "auto",
        "pre_tokens": compacted.before_tokens,
        "post_tokens": compacted.after_tokens,
        "duration_ms": compacted.ms,
        **({"is_reactive": True} if is_reactive else {}),
    }


def _block(block: AssistantBlock) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(text=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Redacted(data=data):
            return {"type": "redacted_thinking", "data": data}
        case Opaque(data=data):
            return arguments_object(data) or {"type": "opaque", "data": data}
        case Call(id=call_id, name=name, arguments=arguments):
            given = input_object(arguments)
            return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def _part(part: ResultBlock) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    if isinstance(part, Document):
        titled = {"title": part.name} if part.name else {}
        return {"type": "document", "source": source, **titled}
    return {"type": "image", "source": source}
