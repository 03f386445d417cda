"""What each part of a request has in bytes on its wire: by leaving parts out and looking again.

No codec has to know of it, and the sum is exact whatever a wire makes of a part: a part has what
the request grows by when it is put before those behind it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from detent.types.codec import encode
from detent.types.content import Text
from detent.types.messages import Assistant, Message, Request, User
from detent.types.weights import Weights

_WORD = User((Text("."),))
P = TypeVar("P")


class Scales(Protocol):
    """What of a wire is needed to weigh with."""

    def body(self, request: Request, model: str, max_output: int) -> bytes: ...
    def encoded(self, message: Message, before: Message | None = None) -> bytes: ...


def weigh(wire: Scales, request: Request, model: str, max_output: int) -> Weights:
    """Without a message nothing can be sent: then it is what one would be put into."""

    def around(**parts: Any) -> int:
        return len(wire.body(replace(request, messages=(_WORD,), **parts), model, max_output))

    # The whole first: from it a wire knows to which model it speaks.
    if request.messages:
        total = len(wire.body(request, model, max_output))
    else:
        total = around() - len(wire.encoded(_WORD))
    bare = around(system=(), tools=())
    system = [around(system=rest, tools=()) for rest in _endings(request.system)]
    tools = [around(system=(), tools=rest) for rest in _endings(tuple(request.tools))]
    messages = _messages(wire, request.messages)
    parts = (_differences(system, bare), _differences(tools, bare))
    weighed = sum(map(sum, parts)) + sum(map(sum, messages))
    marks = bool(getattr(wire, "marks", False))
    return Weights(total, total - weighed, *parts, messages, marks)


def _messages(wire: Scales, messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Each with the comma before it."""
    weights: list[tuple[int, ...]] = []
    before: Message | None = None
    for message in messages:
        sizes = [len(wire.encoded(rest, before)) for rest in _shorter(message)]
        if sizes[0] and weights:
            sizes = [size + 1 for size in sizes]
        weights.append(_differences(sizes, 0))
        before = message
    return tuple(weights)


def _shorter(message: Message) -> list[Message]:
    """The message, then without its first block, and so on."""
    if len(message.content) < 2:
        return [message]
    blocks: tuple[Any, ...] = message.content
    return [replace(message, content=rest) for rest in _endings(blocks)]


def _endings(parts: tuple[P, ...]) -> list[tuple[P, ...]]:
    return [parts[start:] for start in range(len(parts))]


def _differences(sizes: Sequence[int], rest: int) -> tuple[int, ...]:
    """What each adds to those behind it. Where one makes the whole shorter (a text for a `null`),
    its neighbour is that much lighter."""
    found = [size - next_size for size, next_size in pairwise((*sizes, rest))]
    for place, weight in enumerate(found[:-1]):
        if weight < 0:
            found[place + 1] += weight
            found[place] = 0
    return tuple(found)


class Neutral:
    """Our own notation, for models that are not behind a wire."""

    def body(self, request: Request, model: str, max_output: int) -> bytes:
        head = {"model": model, "max_output": max_output}
        whole = {**head, "system": request.system, "tools": request.tools}
        return encode({**whole, "messages": [_neutral(one) for one in request.messages]})

    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        return encode(_neutral(message))


def _neutral(message: Message) -> dict[str, Any]:
    role = "assistant" if isinstance(message, Assistant) else "user"
    return {"role": role, "content": message.content}


def weigh_neutrally(request: Request, model: str = "") -> Weights:
    return weigh(Neutral(), request, model, request.max_output)
