"""The blocks of a request: where each is from, why it is there, how large it is, what it costs."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from detent.context.provenance import origins
from detent.context.reasons import Reasons
from detent.context.tokens import Family, of_block, of_text, of_tool
from detent.types.codec import encode
from detent.types.events import Entry, Replied
from detent.types.ledger import CATEGORIES, LedgerBlock, LedgerRow, Segment
from detent.types.messages import Request
from detent.types.usage import Usage
from detent.types.weights import Weights

LEAST_SCALE, MOST_SCALE = 0.5, 2.0
"""A server may report anything."""
PARTS = ("stable prompt", "session's prompt")
LONGEST = 60


class Sent(Struct, frozen=True):
    """A request, what it weighs, and the log it was made from."""

    request: Request
    weights: Weights
    entries: Sequence[Entry]
    """All that had been recorded when it was made."""
    family: Family = "claude"


def blocks_of(sent: Sent) -> list[LedgerBlock]:
    """In the order in which a provider's cache sees them."""
    weights, request = sent.weights, sent.request
    blocks = [
        LedgerBlock(0, "frame", "frame", 0, "names, limits, brackets", weights.frame, 0, 0),
        *_tools(request, weights, sent.family),
        *_system(request, weights, sent.family),
        *_messages(sent),
    ]
    return [replace(block, number=number) for number, block in enumerate(blocks)]


def counted(blocks: Sequence[LedgerBlock], usage: Usage, is_marked: bool) -> list[LedgerBlock]:
    """The blocks of a request for which the provider has reported what it took."""
    total = usage.input + usage.cache_read + usage.cache_write
    if not total:
        return list(blocks)
    shared = shares(total, [block.estimate for block in blocks])
    billed = [
        replace(block, tokens=share, billed=share)
        for block, share in zip(blocks, shared, strict=True)
    ]
    segments = _segments(billed, usage, is_marked)
    return [replace(block, cache=at) for block, at in zip(billed, segments, strict=True)]


def carried_over(
    blocks: Sequence[LedgerBlock], last: Sequence[LedgerBlock], reply: Replied
) -> list[LedgerBlock]:
    """What is known from the last request of the blocks that begin the next one, and of the answer
    to it; the others are estimated."""
    now: list[LedgerBlock] = [replace(blocks[0], tokens=last[0].tokens, billed=last[0].billed)]
    for block, before in zip(blocks[1:], last[1:], strict=False):
        if _identity(block) != _identity(before):
            break
        now.append(replace(block, tokens=before.tokens, billed=before.billed, cache=before.cache))
    scale = scale_of(last)
    rest = [
        replace(block, tokens=round(block.estimate * scale), cache="unsent")
        for block in blocks[len(now) :]
    ]
    answer = [n for n, block in enumerate(rest) if block.origin == reply.seq]
    thought = any(rest[n].kind == "thinking" and rest[n].bytes for n in answer)
    spoken = reply.usage.output - (0 if thought else reply.usage.reasoning)
    if spoken > 0 and answer:
        for n, share in zip(
            answer, shares(spoken, [rest[n].estimate for n in answer]), strict=True
        ):
            rest[n] = replace(rest[n], tokens=share)
    return [*now, *rest]


def scale_of(last: Sequence[LedgerBlock]) -> float:
    """Tokens that the provider counts for each that we estimate."""
    billed, estimated = (sum(b.billed or 0 for b in last), sum(b.estimate for b in last))
    if not billed or not estimated:
        return 1.0
    return min(max(billed / estimated, LEAST_SCALE), MOST_SCALE)


def rows_of(blocks: Sequence[LedgerBlock]) -> tuple[LedgerRow, ...]:
    rows: list[LedgerRow] = []
    for name in CATEGORIES:
        own = [block for block in blocks if block.category == name]
        if own:
            size, tokens = sum(b.bytes for b in own), sum(b.tokens for b in own)
            rows.append(LedgerRow(name, len(own), size, tokens))
    return tuple(rows)


def shares(total: int, estimates: Sequence[int]) -> list[int]:
    """A whole number in proportion: the largest remainders are rounded up, the sum is exact."""
    whole = sum(estimates)
    if not whole:
        return [total, *(0 for _ in estimates[1:])]
    parts = [divmod(total * part, whole) for part in estimates]
    given = [share for share, _ in parts]
    order = sorted(range(len(parts)), key=lambda n: parts[n][1], reverse=True)
    for n in order[: total - sum(given)]:
        given[n] += 1
    return given


def _segments(blocks: Sequence[LedgerBlock], usage: Usage, is_marked: bool) -> list[Segment]:
    """How far the cache reached. With marks it ends at one of them, without anywhere."""
    if not (usage.cache_read or usage.cache_write):
        return [""] * len(blocks)
    read, kept = usage.cache_read, usage.cache_read + usage.cache_write
    ends = [0]
    for block in blocks:
        ends.append(ends[-1] + (block.billed or 0))
    if is_marked:
        places = [0, *(ends[number + 1] for number in marked(blocks))]
        read = min(places, key=lambda end: abs(end - usage.cache_read))
        kept = places[-1] if usage.cache_write else read
    found: list[Segment] = []
    for begin, end in pairwise(ends):
        middle = (begin + end) / 2
        found.append("read" if middle < read else "written" if middle < kept else "fresh")
    return found


def marked(blocks: Sequence[LedgerBlock]) -> list[int]:
    """Where the cache marks stand: the end of the tools, the end of the stable prompt, the ends of
    the last two messages that are not the model's."""
    tools = [block.number for block in blocks if block.category == "tools"][-1:]
    system = [block.number for block in blocks if block.kind == PARTS[0]][-1:]
    ends = {b.message: b.number for b in blocks if b.message >= 0 and b.message % 2 == 0}
    return [*tools, *system, *sorted(ends.values())[-2:]]


def _identity(block: LedgerBlock) -> tuple[str, int, int]:
    return block.kind, block.origin, block.bytes


def _tools(request: Request, weights: Weights, family: Family) -> Iterator[LedgerBlock]:
    for spec, size in zip(request.tools, weights.tools, strict=True):
        tokens = of_tool(spec, family)
        yield LedgerBlock(0, "tools", "tool", 0, spec.name, size, tokens, tokens)


def _system(request: Request, weights: Weights, family: Family) -> Iterator[LedgerBlock]:
    """A block for each section, by its heading. All wires write a text in the same way, so that its
    parts can be weighed; what is around it goes to the last."""
    for n, (text, size) in enumerate(zip(request.system, weights.system, strict=True)):
        parts = _sections(text)
        sizes = [len(encode(part)) - 2 for part in parts[:-1]]
        if sum(sizes) > size:  # the user's own fields stand in its place
            parts, sizes = [text], []
        for part, own in zip(parts, (*sizes, size - sum(sizes)), strict=True):
            kind, tokens = PARTS[min(n, 1)], of_text(part, family)
            yield LedgerBlock(0, "system prompt", kind, 0, _heading(part), own, tokens, tokens)


def _sections(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("# ") or not found:
            found.append(line)
        else:
            found[-1] += line
    return found or [text]


def _heading(section: str) -> str:
    line = section.lstrip("# \n").partition("\n")[0].strip()
    return f"{line[: LONGEST - 1]}…" if len(line) > LONGEST else line or "empty"


def _messages(sent: Sent) -> Iterator[LedgerBlock]:
    reasons = Reasons(sent.entries)
    known = origins(reasons.still)
    weights = sent.weights.messages
    for n, (message, own, sizes) in enumerate(
        zip(sent.request.messages, known, weights, strict=True)
    ):
        reasons.look_at(message)
        for block, seq, size in zip(message.content, own, sizes, strict=True):
            why = reasons.of(block, seq)
            tokens = of_block(block, sent.family) if size else 0
            yield LedgerBlock(
                0, why.category, why.kind, seq, why.text, size, tokens, tokens, message=n
            )
