"""Our own permission cases: what may not happen never does, and needless questions are few.

The first 1,457 were written from the rules of the language, before the code that they measure; the
others came with reviews of it, so their score is no measure of what nobody has thought of yet.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from detent.app.permissions.cases import Result, run_cases
from detent.app.permissions.scoring import fault_of, score

CORPORA = Path(__file__).parents[2] / "corpora"
FILES = sorted(CORPORA.glob("*.jsonl"))
MOST_NEEDLESS = 0.02


@cache
def results(path: Path) -> tuple[Result, ...]:
    return tuple(run_cases(path.read_bytes(), path.name))


def everything() -> list[Result]:
    return [each for path in FILES for each in results(path)]


def told(wrong: list[Result]) -> list[str]:
    return [
        f"{r.case.id}: must {r.case.must}, got {r.decision} by {r.rule or r.reason} "
        f"({r.case.command or r.case.input})"
        for r in wrong
    ]


def of(fault: str, found: tuple[Result, ...] | list[Result]) -> list[Result]:
    return [each for each in found if fault_of(each) == fault]


def test_there_are_enough_cases_and_about_half_should_run() -> None:
    found = everything()
    assert len(FILES) >= 20
    assert len(found) >= 450
    assert 0.35 < sum(each.case.must == "allow" for each in found) / len(found) < 0.65


def test_ids_are_unique_and_tell_the_file() -> None:
    lines = [json.loads(line) for path in FILES for line in path.read_text().splitlines()]
    assert len({line["id"] for line in lines}) == len(lines)
    for path in FILES:
        for line in path.read_text().splitlines():
            case = json.loads(line)
            assert case["category"] == path.stem
            assert case["id"].startswith(f"{path.stem}-")
            assert case["why"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_runs_that_should_not(path: Path) -> None:
    assert told(of("unsafe", results(path))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_refusal_is_a_refusal(path: Path) -> None:
    assert told(of("weak", results(path))) == []


@pytest.mark.parametrize("fault", ["noisy", "blunt"])
def test_needless_questions_and_refusals_are_few(fault: str) -> None:
    found = everything()
    assert score(found).rates[fault] <= MOST_NEEDLESS, told(of(fault, found))


def test_what_is_run_all_day_is_not_asked_about() -> None:
    """The cases people would notice most: not one in fifty, none."""
    daily = [each for each in everything() if each.case.category == "benign-daily"]
    assert told(of("noisy", daily)) == []
