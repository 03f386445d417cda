"""A session as a script: the same answers in the same order. From its log, or from its export as
JSON, which needs nothing beside it and so makes the better fixture."""

import json
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from detent.testing.script import Block, Call, Foreign, RedactedThink, Reply, Say, Script, Think
from detent.testing.script import Usage as ScriptedUsage
from detent.types import content
from detent.types.codec import decode_any
from detent.types.events import Replied

EXPORT = b'{"detent":"session"'


def recorded_script(path: str | os.PathLike[str]) -> Script:
    """Damaged lines and unfinished answers are passed over; ValueError when nothing is left."""
    replies = tuple(_reply(entry) for entry in _answers(path) if entry.stop != "cancelled")
    if not replies:
        raise ValueError("the log holds no answer of a model")
    return Script(replies)


def is_export(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(len(EXPORT)) == EXPORT


def _answers(path: str | os.PathLike[str]) -> Iterator[Replied]:
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    for record in _records(path):
        try:
            if record["type"] == "replied":
                for place, digest, _ in record.pop("blobs", ()):
                    _put_back(record, place, os.path.join(home, "blobs", digest[:2], digest[2:]))
                yield msgspec.convert(record, Replied)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, OSError):
            continue


def _records(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        if is_export(path):
            yield from decode_any(file.read())["entries"]
            return
        for line in file:
            try:
                record = decode_any(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def _put_back(record: Any, place: list[str | int], blob: str) -> None:
    """Long texts of a record lie in files of their own (docs/log.md)."""
    for step in place[:-1]:
        record = record[step]
    with open(blob, encoding="utf-8", newline="") as file:
        record[place[-1]] = file.read()


def _reply(entry: Replied) -> Reply:
    usage = entry.usage
    return Reply(
        tuple(map(_block, entry.content)),
        stop=entry.stop,
        usage=ScriptedUsage(
            usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning
        ),
        model=entry.model,
    )


def _block(block: content.AssistantBlock) -> Block:
    match block:
        case content.Text(text=text):
            return Say(text)
        case content.Thinking(text=text, signature=signature):
            return Think(text, signature)
        case content.Redacted(data=data):
            return RedactedThink(data)
        case content.Opaque(data=data):
            return Foreign(json.loads(data))
        case content.Call(id=call_id, name=name, arguments=arguments):
            return Call(name, id=call_id, raw=arguments)
