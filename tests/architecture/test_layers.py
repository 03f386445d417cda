"""Imports point down only: import-linter says so, and it can say otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_layers_hold() -> None:
    ran = lint(ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broken" in ran.stdout


def test_every_package_has_its_layer() -> None:
    """A new package that no layer names would be free to import anything."""
    import tomllib

    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = config["contracts"][0]
    named = {name.strip() for layer in layers["layers"] for name in layer.split("|")}
    source = ROOT / "src" / "detent"
    packages = {path.parent.name for path in source.glob("*/__init__.py")}
    modules = {path.stem for path in source.glob("*.py")} - {"__init__"}
    assert layers["exhaustive"] is True
    assert packages | modules == named
