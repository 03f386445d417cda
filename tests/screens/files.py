"""The shots as they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from .picture import Shot
from .states import all_states

SHOTS = Path(__file__).parent / "shots"
MOST_LINES = 80
"""Of a difference; the rest is seen in the files."""


def kept() -> set[str]:
    return {path.name for path in SHOTS.iterdir()}


def wanted() -> set[str]:
    return {f"{name}.{ending}" for name in all_states() for ending in ("txt", "svg")}


def differences(name: str, shot: Shot) -> str:
    """In what people read; in colours alone, in those."""
    for ending, now in (("txt", shot.text), ("svg", shot.picture)):
        path = SHOTS / f"{name}.{ending}"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = list(unified_diff(
            before.splitlines(), now.splitlines(), f"kept {path.name}", "as it is now", lineterm=""
        ))  # fmt: skip
        if lines:
            left = f"\n… {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
            return "\n".join(lines[:MOST_LINES]) + left
    return ""


def write_all() -> Iterator[str]:
    """Tells what has changed."""
    SHOTS.mkdir(exist_ok=True)
    for name, state in all_states().items():
        shot = state.shot()
        if differences(name, shot):
            (SHOTS / f"{name}.txt").write_text(shot.text, encoding="utf-8")
            (SHOTS / f"{name}.svg").write_text(shot.picture, encoding="utf-8")
            yield f"written: {name}"
    for left in sorted(kept() - wanted()):
        (SHOTS / left).unlink()
        yield f"removed: {left}"
