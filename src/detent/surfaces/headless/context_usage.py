"""The ledger as the answer to a host's `get_context_usage`."""

from collections.abc import Iterator, Sequence
from typing import Any

from detent.types.events import Entry, Reminded
from detent.types.ledger import ContextLedger, LedgerBlock

COLOURS = {
    "system prompt": "magenta",
    "tools": "yellow",
    "memory": "green",
    "surroundings": "cyan",
    "summary": "magentaBright",
    "messages": "blue",
    "results": "red",
    "images": "redBright",
    "frame": "gray",
    "free space": "gray",
    "reserved output": "white",
}
ROWS, COLUMNS = 10, 10
Part = tuple[str, int]


def context_usage(ledger: ContextLedger, entries: Sequence[Entry]) -> dict[str, Any]:
    parts: list[Part] = [(row.name, row.tokens) for row in ledger.rows]
    parts += [("reserved output", ledger.reserved), ("free space", ledger.free)]
    percentage = round(ledger.tokens * 100 / ledger.window) if ledger.window else 0
    return {
        "categories": [
            {"name": _name(name), "tokens": tokens, "color": COLOURS[name]}
            for name, tokens in parts
        ],
        "totalTokens": ledger.tokens,
        "maxTokens": ledger.window,
        "rawMaxTokens": ledger.window,
        "percentage": percentage,
        "model": ledger.model,
        "isAutoCompactEnabled": ledger.is_automatic,
        "memoryFiles": list(_memory(ledger.blocks, entries)),
        "mcpTools": list(_foreign_tools(ledger.blocks)),
        "agents": [],
        "gridRows": grid(parts),
    }


def grid(parts: Sequence[Part]) -> list[list[dict[str, Any]]]:
    """A hundred squares, each of a category."""
    whole = sum(tokens for _, tokens in parts) or 1
    squares: list[dict[str, Any]] = []
    counts = lengths([tokens for _, tokens in parts], ROWS * COLUMNS)
    for (name, tokens), count in zip(parts, counts, strict=True):
        square = {
            "color": COLOURS[name],
            "isFilled": name != "free space",
            "categoryName": _name(name),
            "tokens": tokens,
            "percentage": round(tokens * 100 / whole),
            "squareFullness": 1.0,
        }
        squares += [square] * count
    return [squares[start : start + COLUMNS] for start in range(0, len(squares), COLUMNS)]


def lengths(amounts: Sequence[int], room: int) -> list[int]:
    """In proportion, but nothing that is there is too small to be seen."""
    whole = sum(amounts) or 1
    found = [max(1, round(amount * room / whole)) if amount else 0 for amount in amounts]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] = max(1, found[largest] + room - sum(found))
    return found


def _memory(blocks: Sequence[LedgerBlock], entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    files = {entry.seq: entry for entry in entries if isinstance(entry, Reminded)}
    for block in blocks:
        entry = files.get(block.origin)
        if block.category == "memory" and entry is not None:
            yield {"path": entry.path, "type": entry.why, "tokens": block.tokens}


def _foreign_tools(blocks: Sequence[LedgerBlock]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block.category == "tools" and block.reason.startswith("mcp__"):
            server = block.reason.split("__")[1]
            tool = {"name": block.reason, "serverName": server}
            yield {**tool, "tokens": block.tokens, "isLoaded": True}


def _name(name: str) -> str:
    return name.capitalize()
