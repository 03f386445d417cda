"""The ledger of a request as a bar and tables."""

import shutil
import sys
from collections.abc import Iterator
from itertools import starmap

from detent.sdk.context import ContextLedger, LedgerBlock
from detent.surfaces.headless.context_usage import lengths
from detent.surfaces.wording.shown import shown
from detent.types.budget import Spent

MOST_BLOCKS = 12
NARROWEST, WIDE, USUAL_WIDTH = 40, 60, 100
"""Characters: what is always needed, what all columns need, and where no terminal says."""
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
    width = max(width, NARROWEST)
    yield _title(ledger, width)
    yield bar(ledger, width, is_coloured)
    yield _fill(ledger, width)
    if not ledger.is_exact:
        yield "What its wire makes of this is not known here: bytes are of our own notation."
    if ledger.differs:
        yield f"Since it was sent, {ledger.differs}: bytes are those of today's."
    yield ""
    yield from _rows(ledger, width, is_coloured)
    yield from _cache(ledger)
    if ledger.spent:
        yield f"Spent by the session: {', '.join(starmap(_spent, ledger.spent.items()))}"
    yield ""
    yield from _blocks(ledger, width, is_whole)


def usual_width() -> int:
    """The terminal's, if there is one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else USUAL_WIDTH


def line_width() -> int:
    """The same, and 0 where there is none: there nothing is cut."""
    return usual_width() if sys.stdout.isatty() else 0


def _title(ledger: ContextLedger, width: int) -> str:
    which = f"step {ledger.step} of {ledger.steps}" if ledger.step else "the next request"
    whole = shown(f"Session {ledger.session} · {ledger.model} · {which}")
    if len(whole) <= width:
        return whole
    rest = shown(f" · {ledger.model} · {which}")
    return cut(f"Session {cut(shown(ledger.session), 9)}{rest}", width)


def _fill(ledger: ContextLedger, width: int) -> str:
    """As much as there is room for; the state in any case."""
    share = f"{ledger.tokens / ledger.window if ledger.window else 0.0:.0%}"
    short = f"{share} of {ledger.window:,} · {ledger.state}"
    middle = f"{ledger.tokens:,} of {ledger.window:,} tokens ({share}) · {ledger.state}"
    whole = f"{middle} · {ledger.bytes:,} bytes"
    return next((line for line in (whole, middle) if len(line) <= width), short)


def cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


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


def _rows(ledger: ContextLedger, width: int, is_coloured: bool) -> Iterator[str]:
    """In a narrow terminal tokens alone."""
    is_wide = width >= WIDE
    window = ledger.window or 1
    rows: list[tuple[str, int, int, int]] = [
        (row.name, row.blocks, row.bytes, row.tokens) for row in ledger.rows
    ]
    rows += [("free", 0, 0, ledger.free), ("reserved output", 0, 0, ledger.reserved)]
    counted = f" {'blocks':>7} {'bytes':>12}" if is_wide else ""
    yield f"    {'':16}{counted} {'tokens':>10}"
    for name, blocks, size, tokens in rows:
        letter, colour = LOOKS[name]
        sign = f"\x1b[{colour}m█\x1b[0m" if is_coloured else letter
        counts = f" {blocks:>7,} {size:>12,}" if blocks else f" {'':>7} {'':>12}"
        taken = f"{tokens:>10,} {tokens / window:>6.1%}"
        yield f"  {sign} {name:16}{counts if is_wide else ''} {taken}"


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
    is_wide = width >= WIDE
    yield _columns(("tokens", "bytes", "entry", "cache", "what"), is_wide)
    for block in blocks:
        yield cut(_line(block, is_wide), width)


def _columns(cells: tuple[str, str, str, str, str], is_wide: bool) -> str:
    tokens, size, origin, cache, what = cells
    if not is_wide:
        return f"{tokens:>9} {what}"
    return f"{tokens:>9} {size:>10} {origin:>6} {cache:8} {what}"


def _line(block: LedgerBlock, is_wide: bool) -> str:
    tokens = f"{block.tokens:,}" if block.billed is not None else f"~{block.tokens:,}"
    origin = str(block.origin) if block.origin else ""
    reason = block.reason.removeprefix(f"{block.kind} of ")
    what = shown(f"{block.kind}: {reason}".replace("\n", " "))
    return _columns((tokens, f"{block.bytes:,}", origin, block.cache, what), is_wide)
