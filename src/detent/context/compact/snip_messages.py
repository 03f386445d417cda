"""Single old messages become stubs: results first, then what calls were given, then long texts.

A stub says how much there was and how it began, so that the model knows what to ask for again.
"""

from collections.abc import Iterator
from typing import Any

from detent.context.bounds import in_one_line, kept_in
from detent.context.compact.view import Group, View
from detent.context.trims import words_of
from detent.types.codec import arguments_object, encode
from detent.types.content import Call, Text
from detent.types.events import CallEnded, Entry, Replied, Trim

KEEP = 16
"""Messages: what is nearer than that is left to stages that keep more of it."""
PREVIEW = 120
LONG_RESULT, LONG_ARGUMENTS, LONG_TEXT = 600, 1_000, 2_000
"""Characters. Well above what a stub has, or it would be snipped again."""
LONG_VALUE = 300


def trims(view: View) -> Iterator[Group]:
    old = view.before(max(view.keep, KEEP))
    for entry in old:
        yield from _of_result(entry)
    for entry in old:
        yield from _of_calls(view, entry)
    for entry in old:
        yield from _of_texts(entry)


def _of_result(entry: Entry) -> Iterator[Group]:
    if isinstance(entry, CallEnded) and len(words := words_of(entry.outcome)) > LONG_RESULT:
        yield (Trim(entry.seq, stub(words)),)


def _of_calls(view: View, entry: Entry) -> Iterator[Group]:
    """What a provider has signed goes back as it came."""
    for number, block in enumerate(entry.content if isinstance(entry, Replied) else ()):
        if not isinstance(block, Call) or block.signature or block.id in view.spared:
            continue
        if len(block.arguments) > LONG_ARGUMENTS:
            yield (Trim(entry.seq, short_arguments(block.arguments), number),)


def _of_texts(entry: Entry) -> Iterator[Group]:
    for number, block in enumerate(entry.content if isinstance(entry, Replied) else ()):
        if isinstance(block, Text) and len(block.text) > LONG_TEXT:
            yield (Trim(entry.seq, stub(block.text), number),)


def stub(text: str) -> str:
    where = f"; the whole is in {path}" if (path := kept_in(text)) else ""
    return f"[snipped: {len(text):,} characters{where}. It began: {in_one_line(text, PREVIEW)}]"


def short_arguments(arguments: str) -> str:
    """Still an object: every provider insists on one. Short values stay, so that it can be seen
    what the call was about; what is not an object, or has too many of them, is told in one value.
    """
    found = arguments_object(arguments)
    if found is not None:
        short = encode({key: _short(value) for key, value in found.items()}).decode()
        if len(short) <= LONG_ARGUMENTS:
            return short
    return encode({"snipped": stub(arguments)}).decode()


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONG_VALUE else stub(value)
    told = encode(value).decode()
    return value if len(told) <= LONG_VALUE else stub(told)
