"""The requirement manifest is complete, honest about its tests, and its report is current."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "docs" / "requirements.toml"
NUMBERS = [f"F{n:03}" for n in range(1, 197)] + [f"D{n:02}" for n in range(1, 37)]
LAST_OF_AREA = {
    "runtime": 20,
    "input": 29,
    "model": 43,
    "tools": 66,
    "permissions": 76,
    "stopping": 94,
    "recovery": 104,
    "budget": 117,
    "context": 138,
    "session": 146,
    "workspace": 156,
    "prompt": 164,
    "subagents": 175,
    "config": 180,
    "invariants": 196,
}


def _script() -> ModuleType:
    # Under a name of its own: "coverage" may be the measuring tool.
    name = "requirement_coverage"
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / "coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


script = _script()


def _manifest() -> dict[str, dict[str, Any]]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))


def _report(problems: list[str]) -> None:
    assert not problems, "docs/requirements.toml:\n  " + "\n  ".join(problems)


def _expected_area(number: str) -> str:
    if number.startswith("D"):
        return "resolution"
    return next(area for area, last in LAST_OF_AREA.items() if int(number[1:]) <= last)


# --- the manifest -----------------------------------------------------------------------


def test_every_number_exists_exactly_once() -> None:
    # Read from the text: tomllib would stop at the first duplicate.
    headers = re.findall(r"^\s*\[([^\[\]]+)\]\s*$", MANIFEST.read_text(encoding="utf-8"), re.M)
    counts = Counter(headers)
    problems = [f"{number}: missing" for number in NUMBERS if counts[number] == 0]
    problems += [f"{number}: {n} times" for number, n in counts.items() if n > 1]
    problems += [f"{number}: unknown number" for number in counts if number not in NUMBERS]
    _report(problems)
    assert list(_manifest()) == NUMBERS, "docs/requirements.toml: numbers are not in order"


def test_entries_have_valid_fields() -> None:
    problems: list[str] = []
    for number, entry in _manifest().items():
        if unknown := set(entry) - {"title", "area", "state", "tests", "note"}:
            problems.append(f"{number}: unknown field {', '.join(sorted(unknown))}")
        title = entry.get("title")
        if not isinstance(title, str) or not 0 < len(title) <= 90:
            problems.append(f"{number}: title must have 1 to 90 characters")
        if number in NUMBERS and entry.get("area") != (area := _expected_area(number)):
            problems.append(f"{number}: area is {entry.get('area')!r}, expected {area!r}")
        if entry.get("state") not in ("open", "partial", "done"):
            problems.append(f"{number}: state {entry.get('state')!r} is not open, partial or done")
        if "note" in entry and not (isinstance(entry["note"], str) and entry["note"]):
            problems.append(f"{number}: note must be a text, or be left out")
    _report(problems)


def test_titles_are_unique() -> None:
    counts = Counter(entry["title"] for entry in _manifest().values())
    _report([f"title used {n} times: {title}" for title, n in counts.items() if n > 1])


def test_done_and_partial_name_a_test() -> None:
    problems = [
        f"{number}: {entry['state']}, but names no test"
        for number, entry in _manifest().items()
        if entry["state"] in ("done", "partial") and not entry["tests"]
    ]
    _report(problems)


def test_named_tests_exist() -> None:
    problems: list[str] = []
    for number, entry in _manifest().items():
        for test in entry["tests"]:
            if problem := script.missing_test(test, ROOT):
                problems.append(f"{number}: {test}: {problem}")
        problems += [
            f"{number}: {t}: named twice" for t, n in Counter(entry["tests"]).items() if n > 1
        ]
    _report(problems)


def test_report_is_up_to_date() -> None:
    assert script.is_current(ROOT), "docs/coverage.md is stale: run python scripts/coverage.py"


def test_writer_keeps_content_and_format() -> None:
    requirements = script.load(ROOT)
    text = script.render_manifest(requirements)
    assert script.parse_manifest(text) == requirements
    assert script.render_manifest(script.parse_manifest(text)) == text


# --- the script -------------------------------------------------------------------------

SAMPLE_TESTS = """\
import sys


def test_plain(): ...
async def test_async(): ...
def helper():
    def test_hidden(): ...


class TestGroup:
    def test_method(self): ...

    class TestInner:
        def test_deep(self): ...


if sys.platform != "win32":
    def test_conditional(): ...

TestMachine = object
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(SAMPLE_TESTS, encoding="utf-8")
    (tmp_path / "tests" / "test_broken.py").write_text("def (", encoding="utf-8")
    entries = [script.Requirement(n, f"Title of {n}", "runtime", "open") for n in ("F001", "F002")]
    entries.append(script.Requirement("D01", "Title of D01", "resolution", "open"))
    (tmp_path / script.MANIFEST).write_text(script.render_manifest(entries), encoding="utf-8")
    assert script.main([], tmp_path) == 0
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "test_plain",
        "test_plain[a::b-[c]]",
        "test_async",
        "TestGroup::test_method",
        "TestGroup::test_method[1]",
        "TestGroup::TestInner::test_deep",
        "test_conditional",
        "TestMachine::runTest",
    ],
)
def test_existing_tests_are_found(project: Path, name: str) -> None:
    assert script.missing_test(f"tests/test_a.py::{name}", project) is None


@pytest.mark.parametrize(
    ("node_id", "reason"),
    [
        ("tests/test_a.py::test_absent", "no test_absent"),
        ("tests/test_a.py::test_hidden", "no test_hidden"),
        ("tests/test_a.py::test_method", "no test_method"),
        ("tests/test_a.py::TestGroup::test_plain", "no TestGroup::test_plain"),
        ("tests/test_a.py::TestOther::test_method", "no class TestOther"),
        ("tests/test_a.py::TestOther::runTest", "no class TestOther"),
        ("tests/test_a.py::helper", "not a test function"),
        ("tests/test_a.py", "names no function"),
        ("tests/test_b.py::test_plain", "no file"),
        ("tests/test_broken.py::test_plain", "does not parse"),
        ("tests/../tests/test_a.py::test_plain", "under tests/"),
        ("src/test_a.py::test_plain", "under tests/"),
        ("", "under tests/"),
    ],
)
def test_missing_tests_are_named(project: Path, node_id: str, reason: str) -> None:
    assert reason in str(script.missing_test(node_id, project))


def test_set_changes_one_entry_and_the_report(project: Path) -> None:
    before = (project / script.MANIFEST).read_text(encoding="utf-8")
    test = "tests/test_a.py::test_plain"
    note = 'half | "quoted" \\ é'
    assert script.main(["set", "F002", "partial", test, test, "--note", note], project) == 0
    changed = script.load(project)
    assert changed[1] == script.Requirement(
        "F002", "Title of F002", "runtime", "partial", (test,), note
    )
    report = (project / script.REPORT).read_text(encoding="utf-8")
    row = '| F002 | Title of F002 | partial | `test_a::test_plain` | half \\| "quoted" \\ é |'
    assert row in report.splitlines()
    assert "| runtime | 0 | 1 | 1 | 2 |" in report.splitlines()
    assert script.main(["--check"], project) == 0
    assert script.main(["set", "F002", "open"], project) == 0
    assert (project / script.MANIFEST).read_text(encoding="utf-8") == before


def test_set_reads_a_batch(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = (
        "# a comment\n\n"
        "F001 done tests/test_a.py::test_plain tests/test_a.py::test_async\n"
        "D01 partial tests/test_a.py::TestGroup::test_method # don't forget issue #5\n"
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO(batch))
    assert script.main(["set", "-"], project) == 0
    first, second, third = script.load(project)
    assert first.tests == ("tests/test_a.py::test_plain", "tests/test_a.py::test_async")
    assert (first.state, first.note) == ("done", "")
    assert second.state == "open"
    assert (third.state, third.note) == ("partial", "don't forget issue #5")
    assert script.main(["--check"], project) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("F999 open", "F999: no such requirement"),
        ("F002 finished tests/test_a.py::test_plain", "F002: state 'finished'"),
        ("F002 done", "F002: done needs at least one test"),
        ("F002 partial # only a note", "F002: partial needs at least one test"),
        ("F001 open", "F001: set more than once"),
        ("F002", "line 2: expected"),
    ],
)
def test_bad_batch_changes_nothing(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    message: str,
) -> None:
    before = (project / script.MANIFEST).read_bytes()
    batch = f"F001 done tests/test_a.py::test_plain\n{line}\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(batch))
    assert script.main(["set", "-"], project) == 2
    assert message in capsys.readouterr().err
    assert (project / script.MANIFEST).read_bytes() == before


def test_set_warns_of_a_test_that_is_not_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["set", "F001", "done", "tests/test_a.py::test_later"], project) == 0
    assert "warning: F001: tests/test_a.py::test_later" in capsys.readouterr().err


def test_check_finds_a_stale_or_missing_report(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = project / script.REPORT
    report.write_text(report.read_text(encoding="utf-8") + "x", encoding="utf-8")
    assert script.main(["--check"], project) == 1
    assert "stale" in capsys.readouterr().err
    report.unlink()
    assert script.main(["--check"], project) == 1


def test_long_test_lists_round_trip() -> None:
    tests = tuple(
        f"tests/unit/test_long_name_{n}.py::test_a_long_function[x-\x7f]" for n in range(4)
    )
    entry = script.Requirement("F001", "T", "runtime", "done", tests, "tab\there")
    text = script.render_manifest([entry])
    assert max(map(len, text.splitlines())) <= 100
    assert script.parse_manifest(text) == [entry]
