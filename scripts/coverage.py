"""Requirement coverage: from docs/requirements.toml to docs/coverage.md.

    python scripts/coverage.py                      write docs/coverage.md
    python scripts/coverage.py --check              exit 1 when docs/coverage.md is stale
    python scripts/coverage.py set F001 done tests/x.py::test_y [...] [--note "..."]
    python scripts/coverage.py set -                the same, one requirement per stdin line:
                                                    F001 partial tests/a.py::t1 # note

``set`` replaces state, tests and note of the requirement, and regenerates docs/coverage.md.
A batch is applied whole or not at all.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = Path("docs", "requirements.toml")
REPORT = Path("docs", "coverage.md")

STATES = ("done", "partial", "open")
FIELDS = ("title", "area", "state", "tests", "note")
LINE_LENGTH = 100

MANIFEST_HEADER = """\
# Requirements and the tests that show them. Edit with `python scripts/coverage.py set ...`,
# which rewrites this file (other comments are not kept) and docs/coverage.md.
# state: open | partial | done; tests: pytest node ids; note: what is missing (optional).
"""


class ManifestError(Exception):
    """The manifest, or a change asked for, is not valid."""


@dataclass(frozen=True, slots=True)
class Requirement:
    number: str
    title: str
    area: str
    state: str
    tests: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    number: str
    state: str
    tests: tuple[str, ...]
    note: str


# --- manifest ---------------------------------------------------------------------------


def parse_manifest(text: str) -> list[Requirement]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{MANIFEST.as_posix()}: {error}") from error
    return [_requirement(number, table) for number, table in data.items()]


def _requirement(number: str, table: object) -> Requirement:
    if not isinstance(table, dict):
        raise ManifestError(f"{number}: not a table")
    if unknown := sorted(set(table) - set(FIELDS)):
        raise ManifestError(f"{number}: unknown field {', '.join(unknown)}")
    strings: dict[str, str] = {}
    for field in ("title", "area", "state", "note"):
        value = table.get(field, "" if field == "note" else None)
        if not isinstance(value, str):
            raise ManifestError(f"{number}: {field} must be a string")
        strings[field] = value
    tests = table.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise ManifestError(f"{number}: tests must be a list of strings")
    return Requirement(number=number, tests=tuple(tests), **strings)


def render_manifest(requirements: Iterable[Requirement]) -> str:
    return "\n".join([MANIFEST_HEADER, *map(_render_entry, requirements)])


def _render_entry(requirement: Requirement) -> str:
    lines = [
        f"[{requirement.number}]",
        f"title = {_toml_string(requirement.title)}",
        f"area = {_toml_string(requirement.area)}",
        f"state = {_toml_string(requirement.state)}",
        _toml_tests(requirement.tests),
    ]
    if requirement.note:
        lines.append(f"note = {_toml_string(requirement.note)}")
    return "\n".join(lines) + "\n"


def _toml_string(text: str) -> str:
    # JSON escapes are TOML escapes; DEL is the one character only TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_tests(tests: Sequence[str]) -> str:
    items = [_toml_string(test) for test in tests]
    line = f"tests = [{', '.join(items)}]"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join(["tests = [", *(f"    {item}," for item in items), "]"])


# --- named tests ------------------------------------------------------------------------


def missing_test(node_id: str, root: Path = ROOT) -> str | None:
    """Say why a pytest node id names no test, or None when it names one."""
    path, *names = re.sub(r"\[.*\]$", "", node_id, flags=re.DOTALL).split("::")
    file = Path(path)
    if file.is_absolute() or ".." in file.parts or "\\" in path or file.parts[:1] != ("tests",):
        return "the path must be relative to the project root and lie under tests/"
    if not names or not all(names):
        return "names no function (expected path::function or path::Class::method)"
    try:
        tree = ast.parse((root / file).read_bytes(), filename=path)
    except FileNotFoundError:
        return f"no file {path}"
    except SyntaxError as error:
        return f"{path} does not parse: {error.msg} (line {error.lineno})"
    *classes, function = names
    body: list[ast.stmt] = tree.body
    for name in classes:
        inner = next(
            (s for s in _flat(body) if isinstance(s, ast.ClassDef) and s.name == name), None
        )
        if inner is None:
            if function == "runTest" and classes == [name] and _assigns(body, name):
                return None  # TestMachine = Machine.TestCase (hypothesis state machines)
            return f"no class {name} in {path}"
        body = inner.body
    for statement in _flat(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if statement.name == function and function.startswith("test"):
                return None
            if statement.name == function:
                return f"{function} in {path} is not a test function"
    return f"no {'::'.join(names)} in {path}"


def _flat(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of one scope, also those inside if, try and with."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _flat(statement.body)
        if isinstance(statement, ast.If | ast.Try):
            yield from _flat(statement.orelse)
        if isinstance(statement, ast.Try):
            for handler in statement.handlers:
                yield from _flat(handler.body)


def _assigns(body: Iterable[ast.stmt], name: str) -> bool:
    for statement in _flat(body):
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False


# --- report -----------------------------------------------------------------------------


def render_report(requirements: Sequence[Requirement]) -> str:
    by_area: dict[str, list[Requirement]] = {}
    for requirement in requirements:
        by_area.setdefault(requirement.area, []).append(requirement)
    lines = [
        "# Requirement coverage",
        "",
        "Generated from `docs/requirements.toml` by `scripts/coverage.py`; do not edit.",
        "",
        f"| area | {' | '.join(STATES)} | total |",
        f"| --- |{' ---: |' * (len(STATES) + 1)}",
        *(_summary_row(area, entries) for area, entries in by_area.items()),
        _summary_row("**all**", requirements),
    ]
    for area, entries in by_area.items():
        lines += ["", f"## {_cell(area)}", ""]
        lines += ["| number | title | state | tests | note |", "| --- | --- | --- | --- | --- |"]
        lines += [_detail_row(entry) for entry in entries]
    return "\n".join(lines) + "\n"


def _summary_row(name: str, entries: Sequence[Requirement]) -> str:
    counts = Counter(entry.state for entry in entries)
    numbers = [*(counts[state] for state in STATES), len(entries)]
    return f"| {_cell(name)} | {' | '.join(map(str, numbers))} |"


def _detail_row(entry: Requirement) -> str:
    tests = "<br>".join(f"`{short_name(test)}`" for test in entry.tests)
    cells = [entry.number, _cell(entry.title), _cell(entry.state), _cell(tests), _cell(entry.note)]
    return re.sub(r" {2,}\|", " |", f"| {' | '.join(cells)} |")


def short_name(node_id: str) -> str:
    """tests/unit/loop/test_turn.py::test_x -> test_turn::test_x"""
    path, separator, rest = node_id.partition("::")
    return path.rsplit("/", 1)[-1].removesuffix(".py") + separator + rest


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


# --- changes ----------------------------------------------------------------------------


def parse_batch(lines: Iterable[str]) -> list[Change]:
    changes: list[Change] = []
    errors: list[str] = []
    for count, line in enumerate(lines, start=1):
        text, note = _split_note(line)
        words = text.split()
        if not words:
            continue
        if len(words) < 2:
            errors.append(f"line {count}: expected NUMBER STATE [TESTS] [# NOTE], got {text!r}")
            continue
        changes.append(Change(words[0], words[1], tuple(words[2:]), note))
    if errors:
        raise ManifestError("\n".join(errors))
    return changes


def _split_note(line: str) -> tuple[str, str]:
    match = re.search(r"(?:^|\s)#", line)
    if match is None:
        return line.strip(), ""
    return line[: match.start()].strip(), line[match.end() :].strip()


def apply_changes(
    requirements: Sequence[Requirement], changes: Sequence[Change]
) -> list[Requirement]:
    known = {requirement.number for requirement in requirements}
    wanted: dict[str, Change] = {}
    errors: list[str] = []
    for change in changes:
        if change.number not in known:
            errors.append(f"{change.number}: no such requirement")
        elif change.number in wanted:
            errors.append(f"{change.number}: set more than once")
        if change.state not in STATES:
            errors.append(f"{change.number}: state {change.state!r} is none of {', '.join(STATES)}")
        elif change.state != "open" and not change.tests:
            errors.append(f"{change.number}: {change.state} needs at least one test")
        wanted[change.number] = change
    if errors:
        raise ManifestError("\n".join(errors))
    return [_changed(requirement, wanted) for requirement in requirements]


def _changed(requirement: Requirement, wanted: Mapping[str, Change]) -> Requirement:
    change = wanted.get(requirement.number)
    if change is None:
        return requirement
    tests = tuple(dict.fromkeys(change.tests))
    note = " ".join(change.note.split())
    return replace(requirement, state=change.state, tests=tests, note=note)


# --- command line -----------------------------------------------------------------------


def load(root: Path = ROOT) -> list[Requirement]:
    return parse_manifest((root / MANIFEST).read_text(encoding="utf-8"))


def is_current(root: Path = ROOT) -> bool:
    report = root / REPORT
    return report.is_file() and report.read_text(encoding="utf-8") == render_report(load(root))


def _write(path: Path, text: str) -> None:
    """Replace the file in one step, so that an interrupted run leaves the old one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _set(root: Path, changes: Sequence[Change]) -> None:
    requirements = apply_changes(load(root), changes)
    for change in changes:
        for test in change.tests:
            if problem := missing_test(test, root):
                print(f"warning: {change.number}: {test}: {problem}", file=sys.stderr)
    _write(root / MANIFEST, render_manifest(requirements))
    _write(root / REPORT, render_report(requirements))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Requirement manifest and coverage report.")
    parser.add_argument("--check", action="store_true", help="exit 1 when the report is stale")
    commands = parser.add_subparsers(dest="command", metavar="set")
    setter = commands.add_parser("set", help="change requirements in the manifest")
    setter.add_argument("number", help="F001, D01, ... or - for a batch from stdin")
    setter.add_argument("state", nargs="?", choices=STATES)
    setter.add_argument("tests", nargs="*", metavar="test", help="pytest node id")
    setter.add_argument("--note", default="", help="what is missing")
    return parser


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        if options.command == "set":
            if options.check:
                parser.error("--check does not go with set")
            if options.number == "-":
                if options.state is not None or options.note:
                    parser.error("a batch from stdin takes no further arguments")
                changes = parse_batch(sys.stdin)
            elif options.state is None:
                parser.error(f"set {options.number}: state is missing")
            else:
                tests = tuple(options.tests)
                changes = [Change(options.number, options.state, tests, options.note)]
            _set(root, changes)
        elif options.check:
            if not is_current(root):
                report = REPORT.as_posix()
                print(f"{report} is stale: run python scripts/coverage.py", file=sys.stderr)
                return 1
        else:
            _write(root / REPORT, render_report(load(root)))
    except ManifestError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
