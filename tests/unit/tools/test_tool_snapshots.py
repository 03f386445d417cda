"""What a model is told of every built-in tool, a readable file each: a change is seen as a diff.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/tools/test_tool_snapshots.py` writes them anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from detent.tools.registry import Entry, catalogue

SNAPSHOTS = Path(__file__).parents[2] / "requests" / "tools"


def readable(entry: Entry) -> str:
    schema = json.dumps(json.loads(bytes(entry.schema)), indent=2, ensure_ascii=False)
    return f"# {entry.name}\n\n{entry.description}\n\n```json\n{schema}\n```\n"


@pytest.mark.parametrize("name", catalogue())
def test_a_tool_as_the_model_sees_it(name: str) -> None:
    text, path = readable(catalogue()[name]), SNAPSHOTS / f"{name}.md"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists() and path.read_text("utf-8") == text, "look at it, then UPDATE_SNAPSHOTS=1"


def test_there_is_no_file_of_a_tool_that_is_gone() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(catalogue())
