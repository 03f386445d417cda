"""The worst that a request may come to: an upper bound, for accounts that are strict.

No tokenizer makes more tokens of a text than it has bytes, and what a provider has counted once
need not be guessed again. So a request holds at most what the last one held by the provider's own
count, and the bytes of what is new in it.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from detent.context.account import Measured
from detent.loop.spending import Purse
from detent.ports import Model
from detent.types.budget import Spent, What
from detent.types.content import Call, Document, Image, Opaque, Redacted, Result, Thinking
from detent.types.errors import Overdrawn
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec
from detent.types.usage import Usage

LEAST_OUTPUT = 2_048
"""Shorter answers are not worth a request, and models that think get as much in any case."""
UNKNOWN_OUTPUT = 8_192
"""Where neither the user nor the catalog says how long an answer may be."""
FRAME = 1_024
"""What providers put around a request that has tools."""
PER_PART = 32
"""Roles, ids and brackets of a message, a block or a tool."""
PICTURE = 6_000
DOCUMENT = 4
"""Tokens for each byte of its base64: a page with little on it costs as much as a full one."""


def measured_by(request: Request, reply: Reply) -> Measured:
    messages = request.messages
    frame = _frame(request.system, request.tools)
    return Measured(reply.model, len(messages), messages[-1], frame, reply.usage.context)


def most_input(request: Request, measured: Measured | None, model: str) -> int:
    """Tokens that the request may have at most."""
    messages, frame = request.messages, _frame(request.system, request.tools)
    if (
        measured is None
        or measured.model != model
        or len(messages) < measured.messages
        or messages[measured.messages - 1] != measured.newest  # equal: what was open is closed anew
    ):
        return FRAME + frame + sum(map(_message, messages))
    new = measured.messages
    if len(messages) > new and isinstance(messages[new], Assistant):
        new += 1  # the answer: it is in the count
    added = sum(map(_message, messages[new:]))
    return measured.tokens + added + max(0, frame - measured.frame) + PER_PART


def worst_of(purse: Purse, model: str, request: Request, output: int) -> Spent:
    given = most_input(request, purse.account.measured, model)
    return _worst(purse, model, given, max(output, LEAST_OUTPUT))


def fitted(purse: Purse, model: Model, request: Request, *, last: bool = False) -> Request:
    """With an answer that is short enough for what is left. Raises Overdrawn."""
    wanted = request.max_output or model.max_output or UNKNOWN_OUTPUT
    wanted = min(wanted, model.max_output or wanted)
    given = most_input(request, purse.account.measured, model.name)
    least = _worst(purse, model.name, given, LEAST_OUTPUT)
    if (shortage := purse.account.short(least, beyond=last)) is not None:
        raise Overdrawn(shortage)
    affordable = _affordable(purse, model.name, given, wanted)
    return replace(request, max_output=min(wanted, max(affordable, LEAST_OUTPUT)))


def fits_last(purse: Purse, model: Model, request: Request) -> bool:
    """Whether there is enough for the one last word."""
    try:
        fitted(purse, model, request, last=True)
    except Overdrawn:
        return False
    return True


def affords(purse: Purse, model: str, request: Request, output: int) -> bool:
    return purse.account.short(worst_of(purse, model, request, output)) is None


def _affordable(purse: Purse, model: str, given: int, wanted: int) -> int:
    """Tokens of output for which there is enough of everything."""
    left, output = purse.account.left(), wanted
    limits: tuple[tuple[What, float], ...] = (("tokens", given), ("output", 0), ("reasoning", 0))
    for what, taken in limits:
        if what in left:
            output = min(output, int(left[what] - taken))
    if "dollars" in left:
        least = _worst(purse, model, given, 0).dollars
        each = (_worst(purse, model, given, 1_000).dollars - least) / 1_000
        if each > 0:
            output = min(output, int((left["dollars"] - least) / each))
    return output


def _worst(purse: Purse, model: str, given: int, output: int) -> Spent:
    """At the dearest price: all of it may have to be written to the cache, for an hour."""
    ways = (
        Usage(input=given, output=output),
        Usage(cache_write=given, output=output),
        Usage(cache_write=given, cache_write_1h=given, output=output),
    )
    dollars = max(purse.price(model, usage) or 0.0 for usage in ways)
    usage = Usage(input=given, output=output, reasoning=output)
    return Spent(usage=usage, dollars=dollars, requests=1)


def _frame(system: Iterable[str], tools: Iterable[ToolSpec]) -> int:
    prompt = sum(len(part.encode()) + PER_PART for part in system)
    texts = (f"{tool.name}{tool.description}".encode() + bytes(tool.schema) for tool in tools)
    return prompt + sum(len(text) + PER_PART for text in texts)


def _message(message: Message) -> int:
    return PER_PART + sum(map(_block, message.content))


def _block(block: object) -> int:
    match block:
        case Image():
            return PICTURE
        case Document(data=data):
            return PICTURE + DOCUMENT * len(data)
        case Call(name=name, arguments=arguments):
            return PER_PART + len(name.encode()) + len(arguments.encode())
        case Redacted(data=data) | Opaque(data=data):
            return PER_PART + len(data.encode())
        case Result(content=parts):
            return PER_PART + sum(map(_block, parts))
        case Thinking(text=text, signature=signature):
            return PER_PART + len(text.encode()) + len(signature.encode())
        case _:
            return PER_PART + len(block.text.encode())  # type: ignore[attr-defined]
