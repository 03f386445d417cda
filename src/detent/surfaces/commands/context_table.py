"""The ledger of a request as a bar and tables."""

from collections.abc import Iterator
from itertools import starmap

from detent.sdk.context import ContextLedger, LedgerBlock
from detent.surfaces.headless.context_usage import lengths
from detent.surfaces.headless.shown import shown
from detent.types.budget import Spent

MOST_BLOCKS = 12
LOOKS = {
    "system prompt": ("S", 35),
    "tools": ("T", 33),
    "memory": ("M", 32),
    "surroundings": ("H", 36),
    "summary": ("Z", 95),
    "messages": ("m", 34),
    "results": ("R", 31),
    "images": ("I", 91),
    "frame": ("-", 90),
    "free": ("·", 90),
    "reserved output": ("o", 37),
}
"""A letter for the bar, and a colour where there are any."""


def printed(
    ledger: ContextLedger, width: int, *, is_whole: bool, is_coloured: bool
) -> Iterator[str]:
    which = f"step {ledger.step} of {ledger.steps}" if ledger.step else "the next request"
    yield shown(f"Session {ledger.session} · {ledger.model} · {which}")
    yield bar(ledger, width, is_coloured)
    share = ledger.tokens / ledger.window if ledger.window else 0.0
    room = f"{ledger.tokens:,} of {ledger.window:,} tokens ({share:.0%})"
    yield f"{room} · {ledger.state} · {ledger.bytes:,} bytes"
    if not ledger.is_exact:
        yield "What its wire makes of this is not known here: bytes are of our own notation."
    if ledger.differs:
        yield f"Since it was sent, {ledger.differs}: bytes are those of today's."
    yield ""
    yield from _rows(ledger, is_coloured)
    yield from _cache(ledger)
    if ledger.spent:
        yield f"Spent by the session: {', '.join(starmap(_spent, ledger.spent.items()))}"
    yield ""
    yield from _blocks(ledger, width, is_whole)


def _spent(name: str, spent: Spent) -> str:
    """A price that is not known is not nothing."""
    paid = "price unknown" if spent.unpriced else f"${spent.dollars:.4f}"
    return f"{name} {spent.usage.total:,} tokens ({paid})"


def bar(ledger: ContextLedger, width: int, is_coloured: bool) -> str:
    """One letter or colour per category, as long as the terminal is wide."""
    room = max(10, min(width, 120) - 2)
    parts: list[tuple[str, int]] = [(row.name, row.tokens) for row in ledger.rows]
    parts += [("free", ledger.free), ("reserved output", ledger.reserved)]
    cells = ""
    for (name, _), count in zip(parts, lengths([tokens for _, tokens in parts], room), strict=True):
        letter, colour = LOOKS[name]
        cells += f"\x1b[{colour}m{'█' * count}\x1b[0m" if is_coloured else letter * count
    return f"[{cells}]"


def _rows(ledger: ContextLedger, is_coloured: bool) -> Iterator[str]:
    window = ledger.window or 1
    rows: list[tuple[str, int, int, int]] = [
        (row.name, row.blocks, row.bytes, row.tokens) for row in ledger.rows
    ]
    rows += [("free", 0, 0, ledger.free), ("reserved output", 0, 0, ledger.reserved)]
    yield f"    {'':16} {'blocks':>7} {'bytes':>12} {'tokens':>10}"
    for name, blocks, size, tokens in rows:
        letter, colour = LOOKS[name]
        sign = f"\x1b[{colour}m█\x1b[0m" if is_coloured else letter
        counts = f"{blocks:>7,} {size:>12,}" if blocks else f"{'':>7} {'':>12}"
        yield f"  {sign} {name:16} {counts} {tokens:>10,} {tokens / window:>6.1%}"


def _cache(ledger: ContextLedger) -> Iterator[str]:
    usage = ledger.usage
    if usage is not None and (usage.cache_read or usage.cache_write):
        which = "" if ledger.step else " (the last request)"
        yield ""
        yield (
            f"Prompt cache{which}: {usage.cache_read:,} tokens read, "
            f"{usage.cache_write:,} written, {usage.input:,} fresh"
        )
    if ledger.missed:
        yield shown(f"Last miss: {ledger.missed}")


def _blocks(ledger: ContextLedger, width: int, is_whole: bool) -> Iterator[str]:
    blocks = ledger.blocks
    if not is_whole:
        blocks = tuple(sorted(blocks, key=lambda block: -block.tokens)[:MOST_BLOCKS])
    yield (
        "Every block:" if is_whole else f"The largest {len(blocks)} of {len(ledger.blocks)} blocks:"
    )
    yield f"{'tokens':>9} {'bytes':>10} {'entry':>6} {'cache':8} what"
    for block in blocks:
        yield _line(block)[: max(40, width)]


def _line(block: LedgerBlock) -> str:
    tokens = f"{block.tokens:,}" if block.billed is not None else f"~{block.tokens:,}"
    origin = str(block.origin) if block.origin else ""
    reason = block.reason.removeprefix(f"{block.kind} of ")
    what = shown(f"{block.kind}: {reason}".replace("\n", " "))
    return f"{tokens:>9} {block.bytes:>10,} {origin:>6} {block.cache:8} {what}"
