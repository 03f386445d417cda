"""What a wire is: a pure codec between our request and one provider protocol."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from detent.models.assemble import Assembler
from detent.types.codec import arguments_object
from detent.types.content import Call, Document, Opaque
from detent.types.errors import ModelFailure
from detent.types.messages import Assistant, Message, Request

T = TypeVar("T")


class Endpoint(msgspec.Struct, frozen=True):
    """Where and as whom: the other axes of a provider."""

    base_url: str
    headers: tuple[tuple[str, str], ...] = ()


class Manner(msgspec.Struct, frozen=True):
    """How a wire is spoken to one model of one provider: what it can, and what the user wants."""

    provider: str = ""
    replay: Literal["never", "tool_turns", "always"] = "tool_turns"
    """Which thinking goes back to the model that wrote it: none, that of messages with calls
    (the provider refuses them without it), or all."""
    thinks: Literal["", "adaptive", "budget", "effort"] = ""
    """How the model is told to think: not at all, as it sees fit, up to so many tokens, or with
    so much effort."""
    effort: str = ""
    """low, medium, high, xhigh or max; empty leaves it to the provider."""
    thinking_budget: int | None = None
    """Tokens for thinking; 0 is none at all, None leaves it to the provider."""
    caching: bool = True
    cache_ttl: Literal["5m", "1h"] = "5m"
    betas: tuple[str, ...] = ()
    server_tools: tuple[msgspec.Raw, ...] = ()
    """Tools the provider runs itself, in its own notation."""
    extra_body: msgspec.Raw | None = None
    """A JSON object; its fields go into every request and win over ours."""
    task_budget: bool = False
    """The model is told what it may take for all of its work."""
    quirks: frozenset[str] = frozenset()
    """Deviations of one provider from its wire; the wires' files say which they know."""

    def wrote(self, message: Assistant, model: str) -> bool:
        """Whether a message is the model's own. Sealed state never goes to anybody else."""
        return message.model == model and message.provider == self.provider

    def replays(self, message: Assistant, model: str) -> bool:
        """Whether the thinking of a message may and should go back."""
        if self.replay == "never" or not self.wrote(message, model):
            return False
        used_tools = any(isinstance(block, Call | Opaque) for block in message.content)
        return self.replay == "always" or used_tools


class Wire(Protocol):
    """`body` and `read` are pure: bytes out, bytes in. One instance serves one session."""

    def path(self, model: str) -> str: ...
    def body(self, request: Request, model: str, max_output: int) -> bytes: ...
    def encoded(self, message: Message, before: Message | None = None) -> bytes:
        """A message as it stands in a body without marks; `before` is the one in front of it."""

    def read(self, data: bytes, into: Assembler) -> None: ...
    def finish(self, into: Assembler) -> None: ...


def with_extra(head: dict[str, Any], manner: Manner) -> dict[str, Any]:
    """The request's head with what the user wants in every request."""
    if manner.extra_body is None:
        return head
    return {**head, **msgspec.json.decode(manner.extra_body, type=dict[str, Any])}


class Splitter(Protocol):
    """Bytes in any pieces → the data of whole events."""

    def feed(self, chunk: bytes) -> list[bytes]: ...
    def finish(self) -> list[bytes]: ...


def decoded(decode: Callable[[bytes], T], data: bytes) -> T:
    """What a server sent; whatever is wrong with it, it is the answer that failed."""
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        raise ModelFailure("invalid_response", f"unreadable event: {error}") from None


class EncodedMessages:
    """Each message is encoded once and its bytes kept: the next request is a join."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._known: list[Message] = []
        self._encoded: list[bytes] = []

    def of(self, messages: Sequence[Message]) -> list[bytes]:
        """As a rule all that is known stands there again: lists compare by identity first, which
        takes nanoseconds a message. What is only equal is kept as it is now, or it would be
        compared word for word each time."""
        given, same = list(messages), len(self._known)
        if self._known != given[:same]:
            pairs = enumerate(zip(self._known, given, strict=False))
            shorter = min(same, len(given))
            same = next((at for at, (old, new) in pairs if old is not new), shorter)
            del self._encoded[same:], self._known[same:]
        fresh = [self._encode(message) for message in given[same:]]
        self._encoded += fresh
        self._known = given
        return list(filter(None, self._encoded))


def joined(head: bytes, messages: list[bytes], name: bytes = b"messages") -> bytes:
    """The body, copied once: `head` is the rest of the request as a JSON object.

    Messages come last, so that one request is a byte prefix of the next.
    """
    parts = list(messages)
    parts[0] = b'%b,"%b":[%b' % (head[:-1], name, parts[0])
    parts[-1] += b"]}"
    return b",".join(parts)


def parsed_arguments(arguments: str) -> msgspec.Raw:
    """Arguments as JSON that any provider takes back, also those the model got wrong."""
    if arguments.strip() and arguments_object(arguments) is not None:
        return msgspec.Raw(arguments.encode())
    given = {"invalid_arguments": arguments} if arguments.strip() else {}
    return msgspec.Raw(msgspec.json.encode(given))


def document_text(document: Document) -> str | None:
    """The words of a document that is plain text; None for any other and for a broken one."""
    if not document.media_type.startswith("text/"):
        return None
    try:
        return base64.b64decode(document.data).decode(errors="replace")
    except binascii.Error:
        return None
