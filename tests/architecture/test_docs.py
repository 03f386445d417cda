"""What the user's documentation names is there, and what is there is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.app.settings import budget, compaction
from detent.app.settings.known import OURS
from detent.surfaces.cli.flags import FLAGS, NOT_YET, OWN
from detent.surfaces.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")


def test_every_setting_is_listed() -> None:
    text = (ROOT / "docs/settings.md").read_text()
    inside = [f"compaction.{key}" for key in compaction.INSIDE]
    inside += [f"budget.{key}" for key in budget.OTHERS]
    missing = [key for key in (*OURS, *inside, *budget.KEYS) if not re.search(rf"\b{key}\b", text)]
    assert missing == []


def test_every_budget_flag_and_every_command_is_told_of() -> None:
    of_budgets = (ROOT / "docs/budgets.md").read_text()
    flags = [flag.name for flag in FLAGS if flag.name.startswith("--max-") and flag.help]
    flags.remove("--max-thinking-tokens")
    assert [name for name in flags if f"`{name}`" not in of_budgets] == []
    of_commands = (ROOT / "docs/slash-commands.md").read_text()
    assert [one.name for one in COMMANDS if f"`/{one.name}" not in of_commands] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for name, anchor in LINK.findall(page.read_text()):
        if name.startswith("http"):
            continue
        target = page.parent / name if name else page
        assert target.exists(), name
        assert not anchor or anchor in _anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_flags_that_are_named_exist(page: Path) -> None:
    flags = [*FLAGS, *(flag for own in OWN.values() for flag in own)]
    known = {name for flag in flags for name in (flag.name, *flag.aliases)} | NOT_YET.keys()
    named = re.findall(r"(?:^    |`)detent [^`\n]*", page.read_text(), re.MULTILINE)
    for line in named:
        for flag in re.findall(r"(?<=\s)--[a-zA-Z][\w-]+", line.partition(" #")[0]):
            assert flag in known, line


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    lines = (line for line in page.read_text().splitlines() if line.startswith("#"))
    titles = (line.lstrip("#").strip().lower() for line in lines)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}
