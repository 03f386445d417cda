"""`--include-partial-messages`: deltas as the raw stream events of the Messages API."""

from typing import Any

from detent.surfaces.headless.result import wire_usage
from detent.types.events import (
    CallDelta,
    Discarded,
    Event,
    Replied,
    TextDelta,
    ThinkingDelta,
)
from detent.types.usage import Usage


class Partials:
    """Our deltas carry an index; begin and end of messages and blocks follow from it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._open: dict[int, tuple[int, bool]] = {}
        """Our index of each open block: the index it was begun with, and whether it is a call."""
        self._begun = 0
        self._started = False

    def of(self, event: Event) -> list[dict[str, Any]]:
        match event:
            case TextDelta(index=index, text=text):
                block = {"type": "text", "text": ""}
                return self._delta(index, block, {"type": "text_delta", "text": text})
            case ThinkingDelta(index=index, text=text):
                block = {"type": "thinking", "thinking": "", "signature": ""}
                return self._delta(index, block, {"type": "thinking_delta", "thinking": text})
            case CallDelta(index=index, id=call_id, name=name, fragment=fragment):
                call: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name}
                delta = {"type": "input_json_delta", "partial_json": fragment}
                return self._delta(index, {**call, "input": {}}, delta)
            case Replied():
                return self._end(event)
            case Discarded():
                self._started = False
                return []
            case _:
                return []

    def _delta(
        self, index: int, block: dict[str, Any], delta: dict[str, Any]
    ) -> list[dict[str, Any]]:
        frames: list[dict[str, Any]] = [] if self._started else [self._start()]
        if index not in self._open:
            # Pieces of several calls may alternate, so calls stay open until the message ends.
            frames += self._close(calls_too=False)
            self._open[index] = self._begun, block["type"] == "tool_use"
            start = {"type": "content_block_start", "index": self._begun, "content_block": block}
            frames.append(start)
            self._begun += 1
        told, _ = self._open[index]
        frames.append({"type": "content_block_delta", "index": told, "delta": delta})
        return frames

    def _start(self) -> dict[str, Any]:
        self._started = True
        self._open, self._begun = {}, 0
        message: dict[str, Any] = {
            "id": "msg_partial",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": wire_usage(Usage()),
        }
        return {"type": "message_start", "message": message}

    def _close(self, *, calls_too: bool) -> list[dict[str, Any]]:
        ended = {i: told for i, (told, is_call) in self._open.items() if calls_too or not is_call}
        for index in ended:
            del self._open[index]
        return [{"type": "content_block_stop", "index": told} for told in ended.values()]

    def _end(self, reply: Replied) -> list[dict[str, Any]]:
        if not self._started:
            return []
        frames = self._close(calls_too=True)
        self._started = False
        delta = {"stop_reason": reply.stop, "stop_sequence": None}
        usage = wire_usage(reply.usage)
        frames.append({"type": "message_delta", "delta": delta, "usage": usage})
        frames.append({"type": "message_stop"})
        return frames
