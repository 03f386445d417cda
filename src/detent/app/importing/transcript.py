"""The lines of a Claude Code transcript, and which of them are the conversation.

Lines form a tree by `parentUuid`; going back and answering anew makes branches. The conversation is
the way from the newest leaf to the root, with the results of calls that ran side by side, which
hang on branches of their own. A compaction begins a new tree that names the line before it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

from msgspec import MsgspecError

from detent.types.codec import decode_any

LONGEST_LINE = 64 * 1024 * 1024
SPOKEN = ("user", "assistant")
TALK = (*SPOKEN, "system", "attachment", "progress")
Line = dict[str, Any]
NEEDED = frozenset({
    "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "message", "isMeta",
    "isCompactSummary", "compactMetadata", "attachment", "sessionId", "cwd", "version",
})  # fmt: skip
"""The rest is often the larger half: results are told twice."""


class Transcript:
    def __init__(self, lines: Iterable[bytes]) -> None:
        self.left_out: Counter[str] = Counter()
        self.titles: dict[str, str] = {}
        """By who gave it: custom-title, ai-title, summary; the last of each."""
        self.first: Line = {}
        """The first line that says where the session ran."""
        self._ids: set[str] = set()
        self._lines = [line for raw in lines if (line := self._read(raw)) is not None]

    def _read(self, raw: bytes) -> Line | None:
        """None for what is no part of the talk."""
        if not raw.strip():
            return None
        line = _decoded(raw) if len(raw) <= LONGEST_LINE else None
        if not isinstance(line, dict) or not isinstance(kind := line.get("type"), str):
            self.left_out["unreadable line"] += 1
            return None
        if kind in ("custom-title", "ai-title", "summary"):
            title = line.get({"custom-title": "customTitle", "ai-title": "aiTitle"}.get(kind, kind))
            if isinstance(title, str) and title.strip():
                self.titles[kind] = " ".join(title.split())[:200]
            return None
        if kind not in TALK:
            self.left_out[kind[:40]] += 1
            return None
        if line.get("isSidechain") is True or line.get("teamName"):
            self.left_out["line of a subagent"] += 1
            return None
        if _id(line) in self._ids:
            self.left_out["line that came twice"] += 1
            return None
        self._ids |= {_id(line)} - {""}
        line = {key: line[key] for key in NEEDED & line.keys()}
        if not self.first and isinstance(line.get("cwd"), str):
            self.first = line
        return line

    def conversation(self) -> list[Line]:
        """In the order of the file. Without a tree, as old versions wrote, it is all of them."""
        known = {_id(line): line for line in self._lines if _id(line)}
        leaf = self._leaf()
        if leaf is None:
            return [line for line in self._lines if line["type"] in SPOKEN]
        chain = set(self._way_up(leaf, known))
        spoken = {_message_id(known[one]) for one in chain} - {""}
        chain |= {_id(line) for line in self._lines if _message_id(line) in spoken} - {""}
        called = {call for one in chain for call in _calls(known[one])}
        kept = [
            line
            for line in self._lines
            if _id(line) in chain or (line["type"] == "user" and called & set(_answered(line)))
        ]
        lost = sum(line["type"] in SPOKEN for line in self._lines)
        lost -= sum(line["type"] in SPOKEN for line in kept)
        if lost:
            self.left_out["message of another branch"] += lost
        return kept

    def _way_up(self, leaf: Line, known: dict[str, Line]) -> Iterator[str]:
        """Where a parent cannot be read, the line before it in the file takes its place."""
        before = {_id(line): earlier for earlier, line in pairwise(self._lines) if _id(earlier)}
        seen: set[str] = set()
        line: Line | None = leaf
        while line is not None and _id(line) not in seen:
            seen.add(_id(line))
            yield _id(line)
            parent = _parent(line)
            if not parent:
                return
            line = known[parent] if parent in known else before.get(_id(line))

    def _leaf(self) -> Line | None:
        parents = {_parent(line) for line in self._lines}
        for line in reversed(self._lines):
            is_said = line["type"] in SPOKEN and line.get("isMeta") is not True
            if is_said and _id(line) and _id(line) not in parents:
                return line
        return next((one for one in reversed(self._lines) if _id(one)), None)


def _decoded(raw: bytes) -> Any:
    try:
        return decode_any(raw)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return _mended(raw)


def _mended(raw: bytes) -> Any:
    """Texts that were cut by a program of another language may end in half a character, which is
    no reason to lose what else they say."""
    import json

    try:
        whole = json.dumps(json.loads(raw.decode(errors="replace")), ensure_ascii=False)
        return decode_any(whole.encode(errors="replace"))
    except (ValueError, RecursionError):
        return None


def blocks_of(line: Line) -> list[Line]:
    """The content of a message; a text alone is one block."""
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def time_of(line: Line, before: float) -> float:
    """Never earlier than the line before."""
    text = line.get("timestamp")
    try:
        at = datetime.fromisoformat(text).timestamp() if isinstance(text, str) else before
    except (ValueError, OverflowError, OSError):
        at = before
    return max(at, before)


def _parent(line: Line) -> str:
    """A compaction begins anew, and tells what stood before it by another name."""
    found = line.get("parentUuid") or line.get("logicalParentUuid")
    return found if isinstance(found, str) else ""


def _id(line: Line) -> str:
    found = line.get("uuid")
    return found if isinstance(found, str) else ""


def _message_id(line: Line) -> str:
    message = line.get("message")
    found = message.get("id") if isinstance(message, dict) else None
    return found if line["type"] == "assistant" and isinstance(found, str) else ""


def _calls(line: Line) -> Iterator[str]:
    for block in blocks_of(line) if line["type"] == "assistant" else ():
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            yield block["id"]


def _answered(line: Line) -> Iterator[str]:
    for block in blocks_of(line):
        if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            yield block["tool_use_id"]
