"""The log of a session as a script: the same answers in the same order."""

import json

import msgspec

from detent.testing.script import Block, Call, Foreign, RedactedThink, Reply, Say, Script, Think
from detent.testing.script import Usage as ScriptedUsage
from detent.types import content
from detent.types.codec import decode_entry
from detent.types.events import Replied


def recorded_script(path: str) -> Script:
    """Damaged lines and unfinished answers are passed over; ValueError when nothing is left."""
    with open(path, "rb") as file:
        replies = tuple(reply for line in file if (reply := _reply(line)) is not None)
    if not replies:
        raise ValueError("the log holds no answer of a model")
    return Script(replies)


def _reply(line: bytes) -> Reply | None:
    try:
        entry = decode_entry(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if not isinstance(entry, Replied) or entry.stop == "cancelled":
        return None
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
