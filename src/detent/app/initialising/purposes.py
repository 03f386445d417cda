"""What a target, recipe or script is for, by the name that people usually give it."""

from collections.abc import Collection

from detent.app.initialising.record import Purpose

NAMES: dict[Purpose, tuple[str, ...]] = {
    "setup": ("setup", "install", "bootstrap", "deps", "init", "develop", "venv", "sync"),
    "build": ("build", "compile", "dist", "bundle", "package"),
    "test": ("test", "tests", "unit", "unittest", "pytest"),
    "lint": ("lint", "clippy", "eslint", "vet", "ruff"),
    "format": ("format", "fmt", "prettier", "black"),
    "types": ("types", "typecheck", "type-check", "type", "tsc", "mypy", "pyright"),
    "run": ("run", "start", "serve", "dev", "up", "server", "watch"),
}


WHOLE = ("check", "ci", "verify")
"""Tests where nothing else is called so; beside tests, what looks at the code."""


def purpose_of(name: str, among: Collection[str]) -> Purpose:
    """`test:unit` and `test-unit` are tests, too."""
    name = name.lower()
    if name in WHOLE:
        return "lint" if "test" in among else "test"
    for purpose, names in NAMES.items():
        if name in names:
            return purpose
    first = name.replace(":", "-").replace("_", "-").split("-")[0]
    return "test" if first == "test" else "other"
