"""What a wire is: a pure codec between our request and one provider protocol."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from detent.models.assemble import Assembler
from detent.types.codec import arguments_object
from detent.types.messages import Message, Request


class Endpoint(msgspec.Struct, frozen=True):
    """Where and as whom: the other axes of a provider."""

    base_url: str
    headers: tuple[tuple[str, str], ...]


class Wire(Protocol):
    """`body` and `read` are pure: bytes out, bytes in. One instance serves one session."""

    path: str

    def body(self, request: Request, model: str, max_output: int) -> bytes: ...
    def read(self, data: bytes, into: Assembler) -> None: ...
    def finish(self, into: Assembler) -> None: ...


class EncodedMessages:
    """Each message is encoded once and its bytes kept: the next request is a join."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._known: list[tuple[Message, bytes]] = []

    def of(self, messages: Sequence[Message]) -> list[bytes]:
        known = self._known
        for position, message in enumerate(messages):
            if position < len(known):
                if known[position][0] is message:
                    continue
                del known[position:]
            known.append((message, self._encode(message)))
        del known[len(messages) :]
        return [encoded for _, encoded in known if encoded]


def joined(head: bytes, messages: list[bytes]) -> bytes:
    """The body, copied once: `head` is the rest of the request as a JSON object.

    Messages come last, so that one request is a byte prefix of the next.
    """
    parts = list(messages)
    parts[0] = b'%b,"messages":[%b' % (head[:-1], parts[0])
    parts[-1] += b"]}"
    return b",".join(parts)


def parsed_arguments(arguments: str) -> msgspec.Raw:
    """Arguments as JSON that any provider takes back, also those the model got wrong."""
    if arguments.strip() and arguments_object(arguments) is not None:
        return msgspec.Raw(arguments.encode())
    given = {"invalid_arguments": arguments} if arguments.strip() else {}
    return msgspec.Raw(msgspec.json.encode(given))
