"""Calls that a model wrote as text: found there, taken out, and not shown meanwhile.

Small models and servers without a parser for a model's own notation give a call as part of the
answer. A text counts as one only when it names a tool that was offered and its arguments are an
object; everything else stays the text it is.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from detent.types.codec import arguments_object

Tools = Mapping[str, Raw]
"""The schemas of the tools that were offered, by name."""

MOST_MISSES = 100
"""A text that talks about a notation without using it is not searched for ever."""


class Found(NamedTuple):
    name: str
    arguments: str


class _Written(Struct):
    name: str = ""
    arguments: Raw = Raw()
    parameters: Raw = Raw()
    function: "_Written | None" = None


Read = tuple[int, list[Found]] | None
"""Where the notation ends and what it calls; None when it is no call."""
Reader = Callable[[str, int, Tools], Read]

_json_value = json.JSONDecoder().raw_decode
_written = msgspec.json.Decoder(list[_Written] | _Written).decode
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"\s*[;,]?\s*(?=[{\[])")
_FENCE = "```json"


def calls_in(text: str, tools: Tools) -> tuple[str, list[Found]]:
    """The text without its calls, and the calls. Without any, the text as it was."""
    if (whole := _whole(text, tools)) is not None:
        return "", whole
    rest: list[str] = []
    calls: list[Found] = []
    at = misses = 0
    while misses < MOST_MISSES and (opening := _OPENING.search(text, at)) is not None:
        kept, (end, found) = opening.start(), _read(opening, text, tools)
        if not found:
            misses += 1
            kept = end
        rest.append(text[at:kept])
        calls += found
        at = end
    rest.append(text[at:])
    return "".join(rest), calls


def _read(opening: re.Match[str], text: str, tools: Tools) -> tuple[int, list[Found]]:
    """Where to go on behind an opening, and the calls between."""
    if opening.group() == _FENCE and (end := _plain_fence(text, opening.end(), tools)):
        return end, []
    return _READERS[opening.group()](text, opening.end(), tools) or (opening.end(), [])


def _plain_fence(text: str, at: int, tools: Tools) -> int:
    """Where a fence ends that surely holds no call; 0 while it may.

    JSON that is not whole at the end of its fence may have a fence inside one of its texts.
    """
    close = text.find("```", at)
    fenced = text[at : max(at, close)]
    if fenced.lstrip().startswith(("{", "[")):
        value = _value_at(fenced, 0)
        if value is None or _listed(value[0], tools) is not None:
            return 0
    return close + len("```") if close >= 0 else 0


class Withheld:
    """The end of a text that streams, kept back while it may still turn out to be a call."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._begin()

    def _begin(self) -> None:
        self._kept: list[str] = []
        self._begun = self._in_fence = self._to_the_end = False

    def feed(self, text: str) -> str:
        """What may be shown now."""
        self._kept.append(text)
        if self._to_the_end or (self._in_fence and "`" not in text):
            return ""
        pending = "".join(self._kept)
        shown = self._harmless(pending)
        self._kept = [pending[shown:]]
        return pending[:shown]

    def end(self, *, search: bool = True) -> tuple[str, list[Found]]:
        """What is left of the text, and the calls that were in it. Then it begins anew."""
        text = "".join(self._kept)
        self._begin()
        if not search:
            return text, []
        rest, calls = calls_in(text, self._tools)
        return ("" if calls and not rest.strip() else rest), calls

    def _harmless(self, pending: str) -> int:
        """How many characters are no part of a call, whatever may follow."""
        if not self._begun:
            first = pending.lstrip()[:1]
            self._to_the_end = first in ("{", "[")  # the answer as a whole may be a call
            if self._to_the_end or not first:
                return 0
            self._begun = True
        at, self._in_fence = 0, False
        while (opening := _OPENING.search(pending, at)) is not None:
            fenced = opening.group() == _FENCE
            self._in_fence = fenced and "```" not in pending[opening.end() :]
            at = _plain_fence(pending, opening.end(), self._tools) if fenced else 0
            if not at:
                self._to_the_end = not self._in_fence
                return opening.start()
        return max(at, len(pending) - _begun_opening(pending))


def _begun_opening(text: str) -> int:
    """How many characters at the end may be the beginning of an opening."""
    for length in range(min(len(text), _LONGEST - 1), 0, -1):
        if any(opening.startswith(text[-length:]) for opening in _READERS):
            return length
    return 0


# JSON that names a tool


def _value_at(text: str, at: int) -> tuple[str, int] | None:
    """The JSON value that begins here, as it is written, and where it ends."""
    start = _after(_SPACE, text, at)
    try:
        _, end = _json_value(text, start)
    except (ValueError, RecursionError):
        return None
    return text[start:end], end


def _listed(data: str, tools: Tools) -> list[Found] | None:
    """One call or a list of them; None if anything else is among them."""
    try:
        written = _written(data)
    except (ValueError, RecursionError):
        return None
    calls = [_named(one, tools) for one in (written if isinstance(written, list) else [written])]
    found = [call for call in calls if call is not None]
    return found if found and len(found) == len(calls) else None


def _named(written: _Written, tools: Tools) -> Found | None:
    call = written.function or written
    arguments = bytes(call.arguments) or bytes(call.parameters)
    if not arguments:
        return None
    try:
        text = msgspec.json.decode(arguments, type=str) if arguments[:1] == b'"' else ""
    except ValueError:
        return None
    return _call(call.name, text or arguments.decode(), tools)


def _call(name: str, arguments: str, tools: Tools) -> Found | None:
    known = name in tools and arguments.strip() and arguments_object(arguments) is not None
    return Found(name, arguments) if known else None


def _whole(text: str, tools: Tools) -> list[Found] | None:
    """Nothing but JSON, from the first character to the last."""
    value = _value_at(text, 0) if text.lstrip()[:1] in ("{", "[") else None
    return _listed(value[0], tools) if value and not text[value[1] :].strip() else None


def _values(text: str, at: int, tools: Tools) -> Read:
    """One value or several in a row."""
    calls: list[Found] = []
    end = at
    while (value := _value_at(text, at)) is not None:
        found = _listed(value[0], tools)
        if found is None:
            break
        calls += found
        end = value[1]
        following = _BETWEEN.match(text, end)
        if following is None:
            break
        at = following.end()
    return (end, calls) if calls else None


# The notations


def _in_tags(text: str, at: int, tools: Tools) -> Read:
    """`<tool_call>{"name": …, "arguments": {…}}</tool_call>` (Hermes, Qwen)"""
    start = _after(_SPACE, text, at)
    if text.startswith("<function=", start):
        return _function(text, start + len("<function="), tools)
    return _closed(_values(text, at, tools), text, "</tool_call>")


_PARAMETER = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


def _function(text: str, at: int, tools: Tools) -> Read:
    """`<function=name><parameter=key>value</parameter></function>` (Qwen3-Coder)"""
    end = text.find("</function>", at)
    name, closed, body = text[at : max(at, end)].partition(">")
    name = name.strip()
    if not closed or name not in tools:
        return None
    schema = arguments_object(bytes(tools[name]).decode()) or {}
    described = schema.get("properties")
    described = described if isinstance(described, dict) else {}
    given = {key.strip(): value for key, value in _PARAMETER.findall(body)}
    typed = {key: _typed(value, described.get(key)) for key, value in given.items()}
    arguments = msgspec.json.encode(typed).decode()
    return _closed((end + len("</function>"), [Found(name, arguments)]), text, "</tool_call>")


def _typed(value: str, described: Any) -> Any:
    """The notation knows only texts; the schema tells where one stands for something else."""
    if _takes_text(described):
        return value
    try:
        return msgspec.json.decode(value)
    except (ValueError, RecursionError):
        return value


def _takes_text(described: Any) -> bool:
    if not isinstance(described, dict):
        return True
    choices = described.get("anyOf") or described.get("oneOf")
    if isinstance(choices, list):
        return any(_takes_text(choice) for choice in choices)
    kind = described.get("type", "string")
    return isinstance(kind, str | list) and "string" in kind


_ARGUED = re.compile(r"\s*([\w.-]+)(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*(?={)")


def _after_word(text: str, at: int, tools: Tools) -> Read:
    """`[TOOL_CALLS][{…}]`, or lately `[TOOL_CALLS]name[ARGS]{…}` (Mistral)"""
    named = _ARGUED.match(text, at)
    return _values(text, at, tools) if named is None else _argued(named, text, tools)


_KIMI_CALL = re.compile(r"\s*<\|tool_call_begin\|>")
_KIMI_NAME = re.compile(
    r"\s*(?:functions\.)?([\w.-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?={)"
)


def _in_section(text: str, at: int, tools: Tools) -> Read:
    """`<|tool_calls_section_begin|>`, calls, `<|tool_calls_section_end|>` (Kimi)"""
    calls: list[Found] = []
    while (begin := _KIMI_CALL.match(text, at)) is not None:
        read = _of_section(text, begin.end(), tools)
        if read is None:
            return None
        at = read[0]
        calls += read[1]
    return _closed((at, calls), text, "<|tool_calls_section_end|>") if calls else None


def _of_section(text: str, at: int, tools: Tools) -> Read:
    """`<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`"""
    named = _KIMI_NAME.match(text, at)
    read = None if named is None else _argued(named, text, tools)
    return _closed(read, text, "<|tool_call_end|>")


def _argued(named: re.Match[str], text: str, tools: Tools) -> Read:
    """A name, then its arguments."""
    value = _value_at(text, named.end())
    call = None if value is None else _call(named.group(1), value[0], tools)
    return (value[1], [call]) if value is not None and call is not None else None


def _fenced(text: str, at: int, tools: Tools) -> Read:
    """A fence with nothing but the JSON of calls."""
    read = _values(text, at, tools)
    if read is None:
        return None
    end = _after(_SPACE, text, read[0])
    if text.startswith("```", end):
        return end + 3, read[1]
    return read if end == len(text) else None


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match is not None else at


def _closed(read: Read, text: str, token: str) -> Read:
    """Behind the closing token, if there is one: models forget it."""
    if read is None:
        return None
    end = _after(_SPACE, text, read[0])
    return (end + len(token) if text.startswith(token, end) else read[0]), read[1]


_READERS: dict[str, Reader] = {
    "<tool_call>": _in_tags,
    "<function=": _function,
    "[TOOL_CALLS]": _after_word,
    "<|python_tag|>": _values,
    "<|tool_calls_section_begin|>": _in_section,
    "<|tool_call_begin|>": _of_section,
    _FENCE: _fenced,
}
_OPENING = re.compile("|".join(map(re.escape, _READERS)))
_LONGEST = max(map(len, _READERS))
