"""The loop works with ports: it may not know a concrete model, tool, host or session."""

import ast
from pathlib import Path

LOOP = Path(__file__).resolve().parents[2] / "src" / "detent" / "loop"
UNKNOWN = ("detent.models", "detent.tools", "detent.host", "detent.session", "detent.gate")


def test_the_loop_imports_no_implementation() -> None:
    found = [
        f"{path.name}: {node.module}"
        for path in LOOP.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(UNKNOWN)
    ]
    assert not found
