"""Hooks that want to know which memory the model was told: InstructionsLoaded."""

from collections.abc import Sequence
from typing import Literal

from detent.context.memory.record import Found, Tree
from detent.ports import Gate


async def announce(
    gate: Gate,
    trees: Sequence[Tree],
    told: set[str],
    moment: Literal["prompt", "calls", "compacted"],
) -> None:
    for tree in trees:
        if tree.found.path not in told:
            continue
        for piece in tree.pieces:
            if piece.state in ("loaded", "cut"):
                reason = _reason(tree.found, tree.globs, moment)
                await gate.happened(
                    "instructions_loaded",
                    path=piece.path,
                    level=piece.level,
                    reason="include" if piece.imported_by else reason,
                    globs=tree.globs,
                    parent=piece.imported_by,
                )


def _reason(found: Found, globs: tuple[str, ...], moment: str) -> str:
    if moment == "compacted":
        return "compact"
    if globs:
        return "path_glob_match"
    return "nested_traversal" if found.is_nested else "session_start"
