"""Which commands check something: tests, builds, linters, types."""

import re

_PROGRAMS = (
    r"pytest|py\.test|tox|nox|unittest|mypy|pyright|ruff|flake8|pylint|black --check|jest|vitest|"
    r"mocha|eslint|tsc|biome|rspec|rubocop|phpunit|ctest|ninja|shellcheck|golangci-lint|clippy"
)
_RUNNERS = (
    r"(?:npm|pnpm|yarn|bun|cargo|go|make|just|gradle|\./gradlew|mvn|dotnet|mix|swift|deno|zig|bazel|"
    r"stack|cabal|rake|poe|hatch|task|meson|cmake)\b[^;&|]*?\b(?:test|tests|check|lint|build|"
    r"typecheck|vet|verify|compile|clippy)"
)
_CHECK = re.compile(rf"(?:^|[\s;&|(/])(?:{_PROGRAMS}|{_RUNNERS})(?:$|[\s;&|):])")


def is_check(command: str) -> bool:
    return _CHECK.search(command) is not None
