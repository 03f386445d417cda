"""Modules are nouns of the domain; a drawer for everything is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|commons?|misc|stuff)(?:_|$)")
NAMES = sorted(
    {
        part
        for folder in ("src", "bench", "scripts")
        for path in (ROOT / folder).rglob("*.py")
        if "build" not in path.relative_to(ROOT).parts
        for part in (*path.relative_to(ROOT / folder).parts[:-1], path.stem)
    }
)


def test_there_are_names() -> None:
    assert {"gate", "turn", "shell"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_module_is_a_drawer(name: str) -> None:
    assert FORBIDDEN.search(name) is None


@pytest.mark.parametrize("name", ["utils", "string_utils", "helper", "session_manager", "common"])
def test_the_rule_would_notice(name: str) -> None:
    assert FORBIDDEN.search(name)
