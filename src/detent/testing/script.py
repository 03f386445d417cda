"""What the scripted model says: plain data, easy to write by hand in Python or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event as ThreadEvent
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, cast, get_args

Pick: TypeAlias = Literal["sequence", "by_turn"]
After: TypeAlias = Literal["repeat_last", "error"]

QUIRKS = frozenset(
    {
        # Chat Completions, as seen at gateways and local servers.
        "no_index",  # tool calls carry no index
        "index_zero",  # every tool call says index 0
        "object_arguments",  # whole arguments in one chunk, as an object
        "finish_stop",  # finish_reason "stop" although there are calls
        "reasoning",  # thinking travels in delta.reasoning
        "reasoning_content",  # thinking travels in delta.reasoning_content
        "usage_every_chunk",  # usage on every chunk, asked for or not
        "missing_id",  # neither chunks nor tool calls carry an id
        "interleave",  # fragments of parallel calls alternate
        "null_content",  # call chunks carry "content": null
        "thought_signature",  # each call carries extra_content that must be echoed
        # Both wires.
        "no_done",  # stop reason is sent, but not [DONE] / message_stop
        "no_usage",  # no usage anywhere
        "noise",  # keep-alives (and unknown events where the wire names them) between blocks
    }
)

_SCENARIO = re.compile(r"(?:PARITY_)?SCENARIO:([A-Za-z0-9_.-]+)")


@dataclass(frozen=True)
class Say:
    """Text. `pieces` are the deltas it is sent in; without them it is one delta."""

    text: str
    pieces: tuple[str, ...] | None = None

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
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    @property
    def fragments(self) -> tuple[str, ...]:
        if self.pieces is not None:
            return self.pieces
        return (self.arguments,) if self.arguments else ()


Block: TypeAlias = Say | Think | RedactedThink | Call


@dataclass(frozen=True)
class Usage:
    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Fault:
    """What goes wrong. The `*_after` counts are deltas already sent.

    0 means straight after the opening event; a count past the last delta means once every
    block is complete, before the stop reason. They need a stream; `status` and `reset` do not.
    `garbage_after` puts in one broken line and goes on; `no_stop` ends the body properly but
    sends neither stop reason nor terminal event (the quirk "no_done" leaves out only the latter).
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | dict[str, Any] | None = None
    cut_after: int | None = None
    error_after: int | None = None
    error_type: str = "overloaded_error"
    error_message: str = "Overloaded"
    stall_after: int | None = None
    garbage_after: int | None = None
    reset: bool = False
    no_stop: bool = False


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


class Event(NamedTuple):
    """One encoded stream event, with what the server must know to pace and break it."""

    data: bytes
    delta: bool = False
    ends_block: bool = False
    closing: bool = False


class ToolResult(NamedTuple):
    id: str
    text: str
    is_error: bool


@dataclass(frozen=True)
class Request:
    """A request as it came in. `number` counts model requests from 1; others have 0."""

    number: int
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    at: float
    method: str = "POST"

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body as an object; ValueError when it is none."""
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError("the request body is not a JSON object")
        return value

    @property
    def messages(self) -> list[dict[str, Any]]:
        found = self.json.get("messages")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    @property
    def turn(self) -> int:
        """How many assistant messages the conversation holds already."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    @property
    def user_texts(self) -> list[str]:
        """The text of every user message that has any."""
        users = (each for each in self.messages if each.get("role") == "user")
        return [text for text in (_text_of(each.get("content")) for each in users) if text]

    @property
    def tool_results(self) -> list[ToolResult]:
        """The tool results since the last assistant message, on either wire."""
        latest: list[ToolResult] = []
        for message in self.messages:
            if message.get("role") == "assistant":
                latest = []
            latest += _results_of(message)
        return latest

    @property
    def scenario(self) -> str | None:
        """The scenario named in the last user text, else in the first."""
        texts = self.user_texts
        for text in texts[-1:] + texts[:1]:
            names = _SCENARIO.findall(text)
            if names:
                return str(names[-1])
        return None


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
    garbage_after: int | None
    reset: bool
    no_stop: bool


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
    **fields: Unpack[_FaultFields],
) -> Fault:
    """`fault(529, retry_after="1")`, `fault(cut_after=2)`; the fields are those of Fault."""
    merged = dict(headers or {})
    if retry_after is not None:
        merged["retry-after"] = retry_after
    return Fault(status, merged, **fields)


def reply(
    *blocks: Block | str,
    input: int = Usage.input,
    output: int = Usage.output,
    cache_read: int = 0,
    cache_write: int = 0,
    quirks: Sequence[str] | frozenset[str] = (),
    **fields: Unpack[_ReplyFields],
) -> Reply:
    """A reply from blocks (a str is text) and token counts; other fields are those of Reply."""
    spoken = tuple(Say(each) if isinstance(each, str) else each for each in blocks)
    usage = Usage(input, output, cache_read, cache_write)
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


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (each for each in content if isinstance(each, dict) and each.get("type") == "text")
    return "\n".join(str(part.get("text", "")) for part in parts)


def _results_of(message: dict[str, Any]) -> list[ToolResult]:
    content = message.get("content")
    if message.get("role") == "tool":
        return [ToolResult(str(message.get("tool_call_id", "")), _text_of(content), False)]
    if message.get("role") != "user" or not isinstance(content, list):
        return []
    return [
        ToolResult(
            str(block.get("tool_use_id", "")),
            _text_of(block.get("content")),
            bool(block.get("is_error")),
        )
        for block in content
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


# Reading JSON. Every reader takes the value and the place it stands, and either returns the
# finished thing or raises ValueError naming that place.

_Reader: TypeAlias = Callable[[Any, str], Any]


def load_script(path: str | Path) -> Script:
    """Read a script from a JSON file; ValueError says what is wrong and where."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    return parse_script(found)


def parse_script(found: object) -> Script:
    """Read a script from decoded JSON; ValueError says what is wrong and where."""
    return cast(Script, _built(Script, _SCRIPT, found, ""))


def _built(make: Callable[..., Any], readers: Mapping[str, _Reader], found: Any, at: str) -> Any:
    fields = _fields(readers, found, at)
    try:
        return make(**fields)
    except ValueError as error:
        raise _bad(at, str(error)) from None


def _fields(readers: Mapping[str, _Reader], found: Any, at: str) -> dict[str, Any]:
    _of(dict)(found, at)
    for key in found:
        if key not in readers:
            raise _bad(at, f"unknown key {key!r}")
    return {key: readers[key](value, _inside(at, key)) for key, value in found.items()}


def _bad(at: str, problem: str) -> ValueError:
    return ValueError(f"{at or 'script'}: {problem}")


def _inside(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _of(*kinds: type) -> _Reader:
    """A value of one of these JSON types, and not a bool in disguise of a number."""

    def read(found: Any, at: str) -> Any:
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            shown = [kind for kind in kinds if kind is not int or float not in kinds]
            wanted = " or ".join(_JSON_NAMES[kind] for kind in shown)
            got = _JSON_NAMES.get(type(found), type(found).__name__)
            raise _bad(at, f"expected {wanted}, got {got}")
        return found

    return read


_JSON_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    type(None): "null",
}


def _at_least_zero(*kinds: type) -> _Reader:
    def read(found: Any, at: str) -> Any:
        if _of(*kinds)(found, at) < 0:
            raise _bad(at, "must not be negative")
        return found

    return read


def _one_of(*words: str) -> _Reader:
    def read(found: Any, at: str) -> Any:
        if found not in words:
            raise _bad(at, f"expected one of {', '.join(map(repr, words))}, got {found!r}")
        return found

    return read


def _many(read_one: _Reader) -> _Reader:
    def read(found: Any, at: str) -> Any:
        _of(list)(found, at)
        return tuple(read_one(each, f"{at}[{n}]") for n, each in enumerate(found))

    return read


def _named(read_one: _Reader) -> _Reader:
    def read(found: Any, at: str) -> Any:
        _of(dict)(found, at)
        return {key: read_one(value, _inside(at, key)) for key, value in found.items()}

    return read


def _read_block(found: Any, at: str) -> Block:
    if isinstance(found, str):
        return Say(found)
    _of(dict)(found, at)
    for kind, (make, own_name, readers) in _BLOCKS.items():
        if kind in found:
            fields = _fields({kind: _TEXT, **readers}, found, at)
            try:
                return make(**{own_name: fields.pop(kind)}, **fields)
            except ValueError as error:
                raise _bad(at, str(error)) from None
    known = set(_BLOCKS).union(*(readers for _, _, readers in _BLOCKS.values()))
    for key in found:
        if key not in known:
            raise _bad(at, f"unknown key {key!r}")
    raise _bad(at, f"needs one of {', '.join(map(repr, _BLOCKS))}")


def _read_reply(found: Any, at: str) -> Reply:
    if isinstance(found, str):
        return as_reply(found)
    return cast(Reply, _built(Reply, _REPLY, found, at))


def _read_fault(found: Any, at: str) -> Fault:
    return cast(Fault, _built(Fault, _FAULT, found, at))


def _read_usage(found: Any, at: str) -> Usage:
    return cast(Usage, _built(Usage, _USAGE, found, at))


def _read_quirks(found: Any, at: str) -> frozenset[str]:
    return frozenset(_many(_one_of(*sorted(QUIRKS)))(found, at))


_TEXT = _of(str)
_TEXT_OR_NULL = _of(str, type(None))
_COUNT = _at_least_zero(int)
_SECONDS = _at_least_zero(float, int)
_PIECES = _many(_TEXT)

_BLOCKS: dict[str, tuple[Callable[..., Block], str, dict[str, _Reader]]] = {
    "say": (Say, "text", {"pieces": _PIECES}),
    "think": (Think, "text", {"signature": _TEXT_OR_NULL, "pieces": _PIECES}),
    "redacted_think": (RedactedThink, "data", {}),
    "call": (
        Call,
        "name",
        {"input": _of(dict), "id": _TEXT, "raw": _TEXT, "pieces": _PIECES},
    ),
}

_USAGE: dict[str, _Reader] = dict.fromkeys(("input", "output", "cache_read", "cache_write"), _COUNT)

_FAULT: dict[str, _Reader] = {
    "status": _COUNT,
    "headers": _named(_TEXT),
    "body": _of(str, dict),
    "cut_after": _COUNT,
    "error_after": _COUNT,
    "error_type": _TEXT,
    "error_message": _TEXT,
    "stall_after": _COUNT,
    "garbage_after": _COUNT,
    "reset": _of(bool),
    "no_stop": _of(bool),
}

_REPLY: dict[str, _Reader] = {
    "blocks": _many(_read_block),
    "stop": _TEXT,
    "usage": _read_usage,
    "delay": _SECONDS,
    "gap": _SECONDS,
    "tail": _SECONDS,
    "fault": _read_fault,
    "headers": _named(_TEXT),
    "model": _TEXT,
    "quirks": _read_quirks,
}

_SCRIPT: dict[str, _Reader] = {
    "replies": _many(_read_reply),
    "scenarios": _named(_many(_read_reply)),
    "pick": _one_of(*get_args(Pick)),
    "after": _one_of(*get_args(After)),
}
