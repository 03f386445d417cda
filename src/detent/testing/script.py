"""What the scripted model says: plain data, easy to write by hand in Python or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event as ThreadEvent
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from detent.testing.edits import check_edit
from detent.testing.request import Request

Pick: TypeAlias = Literal["sequence", "by_turn"]
After: TypeAlias = Literal["repeat_last", "error"]
Framing: TypeAlias = Literal["chunked", "length", "close", "too_long", "too_short", "bad_chunk"]

QUIRKS = frozenset(
    {
        # Chat Completions, as seen at gateways and local servers.
        "no_index",  # tool calls carry no index
        "index_zero",  # every tool call says index 0
        "object_arguments",  # whole arguments in one chunk, as an object
        "finish_stop",  # finish_reason "stop" although there are calls
        "reasoning",  # thinking travels in delta.reasoning
        "reasoning_content",  # thinking travels in delta.reasoning_content
        "reasoning_details",  # thinking travels in delta.reasoning_details, signed
        "usage_every_chunk",  # usage on every chunk, asked for or not
        "missing_id",  # neither chunks nor tool calls carry an id (Gemini too)
        "interleave",  # fragments of parallel calls alternate
        "null_content",  # call chunks carry "content": null
        "thought_signature",  # each call carries extra_content that must be echoed
        # Several wires.
        "no_done",  # the terminal event is missing; the stop reason is sent where it has its own
        "no_usage",  # no usage anywhere
        "noise",  # keep-alives (and unknown events where the wire names them) between blocks
    }
)


@dataclass(frozen=True)
class Say:
    """Text. `pieces` are the deltas it is sent in; without them it is one delta."""

    text: str
    pieces: tuple[str, ...] | None = None
    citations: tuple[dict[str, Any], ...] = ()
    """Anthropic only."""

    def __post_init__(self) -> None:
        _check_pieces(self.text, self.pieces)


@dataclass(frozen=True)
class Think:
    """Thinking. An empty text with a signature is what `display: omitted` looks like."""

    text: str
    signature: str | None = "scripted-signature"
    pieces: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_pieces(self.text, self.pieces)


@dataclass(frozen=True)
class RedactedThink:
    """Thinking the client may only hand back. Chat Completions has no such thing."""

    data: str


@dataclass(frozen=True)
class Foreign:
    """A block of the provider's own, sent as it is: a content block, an output item, a part."""

    data: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call. With neither input, raw nor pieces, no argument text is sent at all."""

    name: str
    input: dict[str, Any] | None = None
    id: str | None = None
    raw: str | None = None
    pieces: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.raw is not None and self.input is not None:
            raise ValueError("a call takes input or raw, not both")
        if self.raw is not None:
            _check_pieces(self.raw, self.pieces)
        if self.input is not None and self.pieces is not None and self.parsed != self.input:
            raise ValueError("pieces do not join up to the input")

    @property
    def arguments(self) -> str:
        """The argument text as the model wrote it, valid JSON or not."""
        if self.pieces is not None:
            return "".join(self.pieces)
        if self.raw is not None:
            return self.raw
        return "" if self.input is None else json.dumps(self.input, ensure_ascii=False)

    @property
    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object, or None when the text is not one."""
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):  # The latter for very deep ones.
            return None
        return value if isinstance(value, dict) else None

    @property
    def fragments(self) -> tuple[str, ...]:
        if self.pieces is not None:
            return self.pieces
        return (self.arguments,) if self.arguments else ()


Block: TypeAlias = Say | Think | RedactedThink | Call | Foreign


@dataclass(frozen=True)
class Usage:
    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    """Of the output, what went into thinking."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong.

    Instead of an answer: `status` with `headers` and `body`, a TCP `reset`, or `raw`, the literal
    bytes of an HTTP answer after which the connection is closed (none: closed at once).
    `preface` is literal bytes before any other kind of answer.

    Within a stream the `*_after` counts are deltas already sent: 0 is straight after the opening
    event, a count past the last delta is once every block is complete, before the stop reason.
    `garbage_after` puts in one broken line and goes on; `stall_after` goes silent, `drip_after`
    goes on with pings, byte by byte, and both last until the client leaves; `no_stop` ends the
    body properly but sends neither stop reason nor terminal event.

    To the bytes of a stream: `edits` (see edits.py), then `framing` as HTTP, `split` into so many
    bytes per write, `reset_after` so many bytes of the body.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | dict[str, Any] | None = None
    cut_after: int | None = None
    error_after: int | None = None
    error_type: str = "overloaded_error"
    error_message: str = "Overloaded"
    stall_after: int | None = None
    drip_after: int | None = None
    garbage_after: int | None = None
    reset: bool = False
    no_stop: bool = False
    raw: bytes | None = None
    preface: bytes = b""
    edits: tuple[str, ...] = ()
    framing: Framing = "chunked"
    split: int = 0
    reset_after: int | None = None

    def __post_init__(self) -> None:
        for edit in self.edits:
            check_edit(edit)


@dataclass(frozen=True)
class Reply:
    """One answer of the model, how it is paced, and what goes wrong with it."""

    blocks: tuple[Block, ...] = ()
    stop: str | None = None
    usage: Usage = Usage()
    delay: float = 0.0
    gap: float = 0.0
    tail: float = 0.0
    fault: Fault | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    quirks: frozenset[str] = frozenset()
    hold: ThreadEvent | None = None
    hold_after: int | None = None
    stop_details: dict[str, Any] | None = None
    """More about the stop: Anthropic's `stop_details`, the `error` of a failed Response."""

    def __post_init__(self) -> None:
        for quirk in sorted(self.quirks - QUIRKS):
            raise ValueError(f"unknown quirk {quirk!r}")

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Call))

    @property
    def stop_reason(self) -> str:
        return self.stop or ("tool_use" if self.calls else "end_turn")

    def call_id(self, index: int, number: int) -> str:
        """Id of the call at block `index`; made-up ids are unique for the run."""
        block = self.blocks[index]
        given = block.id if isinstance(block, Call) else None
        return given if given is not None else f"call_{number}_{index}"


Spoken: TypeAlias = Reply | Fault | str
Maker: TypeAlias = Callable[[Request], Spoken]


@dataclass(frozen=True)
class Script:
    """All replies. In "sequence" the nth request gets the nth; "by_turn" keeps no state."""

    replies: tuple[Reply | Maker, ...] = ()
    scenarios: Mapping[str, tuple[Reply | Maker, ...]] = field(default_factory=dict)
    pick: Pick = "sequence"
    after: After = "error"


class _FaultFields(TypedDict, total=False):
    body: str | dict[str, Any] | None
    cut_after: int | None
    error_after: int | None
    error_type: str
    error_message: str
    stall_after: int | None
    drip_after: int | None
    garbage_after: int | None
    reset: bool
    no_stop: bool
    raw: bytes | None
    preface: bytes
    framing: Framing
    split: int
    reset_after: int | None


class _ReplyFields(TypedDict, total=False):
    stop: str | None
    delay: float
    gap: float
    tail: float
    fault: Fault | None
    headers: Mapping[str, str]
    model: str | None
    hold: ThreadEvent | None
    hold_after: int | None
    stop_details: dict[str, Any] | None


def say(*pieces: str) -> Say:
    """`say("hello")` is one delta, `say("hel", "lo")` two."""
    return Say("".join(pieces), pieces if len(pieces) > 1 else None)


def think(*pieces: str, signature: str | None = "scripted-signature") -> Think:
    return Think("".join(pieces), signature, pieces if len(pieces) > 1 else None)


def call(
    name: str,
    input: dict[str, Any] | None = None,
    /,
    *,
    id: str | None = None,
    raw: str | None = None,
    pieces: Sequence[str] | None = None,
    **arguments: Any,
) -> Call:
    """`call("Bash", command="ls")`, or a dict where a key collides with id, raw or pieces."""
    merged = {**(input or {}), **arguments}
    given = merged if input is not None or arguments else None
    return Call(name, given, id, raw, None if pieces is None else tuple(pieces))


def fault(
    status: int | None = None,
    *,
    retry_after: str | None = None,
    headers: Mapping[str, str] | None = None,
    edits: str | Sequence[str] = (),
    **fields: Unpack[_FaultFields],
) -> Fault:
    """`fault(529, retry_after="1")`, `fault(edits="crlf")`; the fields are those of Fault."""
    merged = dict(headers or {})
    if retry_after is not None:
        merged["retry-after"] = retry_after
    done = (edits,) if isinstance(edits, str) else tuple(edits)
    return Fault(status, merged, edits=done, **fields)


def reply(
    *blocks: Block | str,
    input: int = Usage.input,
    output: int = Usage.output,
    cache_read: int = 0,
    cache_write: int = 0,
    reasoning: int = 0,
    quirks: Sequence[str] | frozenset[str] = (),
    **fields: Unpack[_ReplyFields],
) -> Reply:
    """A reply from blocks (a str is text) and token counts; other fields are those of Reply."""
    spoken = tuple(Say(each) if isinstance(each, str) else each for each in blocks)
    usage = Usage(input, output, cache_read, cache_write, reasoning)
    return Reply(spoken, usage=usage, quirks=frozenset(quirks), **fields)


def script(
    *replies: Spoken | Maker,
    scenarios: Mapping[str, Sequence[Spoken | Maker]] | None = None,
    pick: Pick = "sequence",
    after: After = "error",
) -> Script:
    """`script("plain text", reply(call("Bash", command="ls")), fault(529), a_function)`."""
    lists = {name: tuple(map(_settled, many)) for name, many in (scenarios or {}).items()}
    return Script(tuple(map(_settled, replies)), lists, pick, after)


def as_reply(spoken: Spoken) -> Reply:
    if isinstance(spoken, Reply):
        return spoken
    return Reply(fault=spoken) if isinstance(spoken, Fault) else Reply((Say(spoken),))


def _settled(given: Spoken | Maker) -> Reply | Maker:
    return as_reply(given) if isinstance(given, Reply | Fault | str) else given


def _check_pieces(text: str, pieces: tuple[str, ...] | None) -> None:
    if pieces is not None and "".join(pieces) != text:
        raise ValueError("pieces do not join up to the text")
