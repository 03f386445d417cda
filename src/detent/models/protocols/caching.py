"""Where a request is marked for a provider's prompt cache: at most four places.

A mark says "keep the request up to here". One stands at the end of our tools, and one behind the
part of the system prompt that is the same in every session: both are found again by other sessions
and by subagents. Two stand in the conversation: at the end of the last user message, and of the one
before it, which is where the previous request ended. A provider looks back only some twenty blocks
from a mark for what it has kept, and an answer may have more; with both marks the previous request
is found wherever it ended.
"""

from typing import Any

import msgspec

from detent.models.protocols.wire import Manner

_FROM_ASSISTANT = b'{"role":"assistant"'


def cache_mark(manner: Manner) -> dict[str, str]:
    """Five minutes are what a provider takes when nothing is said."""
    return {"type": "ephemeral", **({"ttl": "1h"} if manner.cache_ttl == "1h" else {})}


def system_parts(system: tuple[str, ...], mark: dict[str, str] | None) -> list[dict[str, Any]]:
    """The system prompt as text blocks, its stable part marked."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": part} for part in system]
    if mark is not None and parts:
        parts[0]["cache_control"] = mark
    return parts


def with_marks(messages: list[bytes], mark: dict[str, str]) -> list[bytes]:
    """Encoded messages, the last two of the user's side marked in their last block.

    The mark goes into the bytes at hand, so that all others stay what they were.
    """
    text = b',"cache_control":%b}]}' % msgspec.json.encode(mark)
    marked, left = list(messages), 2
    for place in range(len(messages) - 1, -1, -1):
        if left and not messages[place].startswith(_FROM_ASSISTANT):
            left -= 1
            if messages[place].endswith(b"}]}"):
                marked[place] = messages[place][:-3] + text
        elif not left:
            break
    return marked
