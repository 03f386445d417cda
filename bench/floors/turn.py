"""Shared by the Python floors: request bodies and the folding of one streamed answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

TYPE_CHECKING = False  # as in typing, which the blocking floor would load for this alone
if TYPE_CHECKING:
    from typing import Any

HOST, _, PORT = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://").partition(":")
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"name": "Bash", "description": "Run a command.", "input_schema": SCHEMA}]


def request(history: list[dict[str, Any]]) -> bytes:
    """The whole history is encoded anew for each step, as most agents do."""
    body = {"model": "bench", "max_tokens": 4096, "stream": True, "tools": TOOLS}
    payload = json.dumps({**body, "messages": history}).encode()
    head = (
        f"POST /v1/messages HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n"
        f"x-api-key: x\r\nanthropic-version: 2023-06-01\r\ncontent-length: {len(payload)}\r\n\r\n"
    )
    return head.encode() + payload


class Turn:
    """One answer. ``start`` is called as soon as a tool call is complete."""

    def __init__(self, start: Callable[[str, str], Any], write: Callable[[str], object]) -> None:
        self.start, self.write = start, write
        self.running: list[Any] = []
        self.content: list[dict[str, Any]] = []
        self.pending = b""
        self.parts: list[str] = []
        self.in_head = True
        self.ended = False

    def feed(self, received: bytes) -> None:
        """Take bytes from the socket; each complete HTTP chunk holds whole events."""
        if not received:
            raise ConnectionError("closed by the server")
        data = self.pending + received
        at = 0
        if self.in_head:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self.pending = data
                return
            self.in_head, at = False, end + 4
        while (line := data.find(b"\r\n", at)) >= 0:
            size = int(data[at:line], 16)
            if len(data) < line + 4 + size:
                break
            self.ended = size == 0
            self.events(data[line + 2 : line + 2 + size])
            at = line + 4 + size
        self.pending = data[at:]

    def events(self, chunk: bytes) -> None:
        for line in chunk.split(b"\n"):
            if line.startswith(b"data: "):
                self.event(json.loads(line[6:]))

    def event(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "text_delta":
                self.parts.append(delta["text"])
                self.write(delta["text"])
            else:
                self.parts.append(delta["partial_json"])
        elif kind == "content_block_start":
            self.content.append(event["content_block"])
            self.parts = []
        elif kind == "content_block_stop":
            block = self.content[-1]
            if block["type"] == "text":
                block["text"] = "".join(self.parts)
            else:
                block["input"] = json.loads("".join(self.parts))
                self.running.append(self.start(block["id"], block["input"]["command"]))


def result(ident: str, output: bytes) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": ident, "content": output.decode()}
