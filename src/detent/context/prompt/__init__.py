"""The system prompt: one file per section, stable ones first, then what belongs to the session."""

import os

from msgspec import Struct

STABLE_SECTIONS = ("identity", "working", "answering")


class Surroundings(Struct, frozen=True):
    """What the prompt says of the session; gathered by the app, so that a replay can fix it."""

    cwd: str
    platform: str
    date: str
    is_git: bool
    mode: str = "default"


def build_prompt(
    around: Surroundings, *, custom: str | None = None, override: str = "", append: str = ""
) -> tuple[str, ...]:
    """`override` replaces everything, `custom` the stable sections only."""
    if override:
        return (override,)
    stable = "\n\n".join(map(section, STABLE_SECTIONS)) if custom is None else custom
    dynamic = "\n\n".join(part for part in (environment(around), append) if part)
    return tuple(part for part in (stable, dynamic) if part)


def section(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()


def environment(around: Surroundings) -> str:
    lines = [
        "# Surroundings",
        f"- Working folder: {around.cwd}{' (a git repository)' if around.is_git else ''}",
        f"- Platform: {around.platform}",
        f"- Date: {around.date}",
    ]
    if around.mode == "plan":
        lines.append("- Plan mode: read and think; nothing is written. End with the plan.")
    return "\n".join(lines)
