"""The system prompt: one file per section, stable ones first, then what belongs to the session."""

import os

from msgspec import Struct

from detent.context.prompt.access import Access, access_text

STABLE_SECTIONS = ("identity", "working", "answering")


class Surroundings(Struct, frozen=True):
    """What the prompt says of the session; gathered by the app, so that a replay can fix it."""

    cwd: str
    platform: str
    date: str
    is_git: bool


def build_prompt(
    around: Surroundings,
    access: Access,
    *,
    custom: str | None = None,
    override: str = "",
    append: str = "",
) -> tuple[str, ...]:
    """`override` replaces everything, `custom` the stable sections only."""
    if override:
        return (override,)
    stable = "\n\n".join(map(section, STABLE_SECTIONS)) if custom is None else custom
    parts = (environment(around), access_text(access), append)
    dynamic = "\n\n".join(part for part in parts if part)
    return tuple(part for part in (stable, dynamic) if part)


def section(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()


def environment(around: Surroundings) -> str:
    lines = (
        "# Surroundings",
        f"- Working folder: {around.cwd}{' (a git repository)' if around.is_git else ''}",
        f"- Platform: {around.platform}",
        f"- Date: {around.date}",
    )
    return "\n".join(lines)
