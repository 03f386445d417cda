"""The quick form of the kill matrix: some hundred points of every kind, in every run of the suite.

`make kill-matrix` runs all of them, and then as many as one likes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
PATIENCE = 240.0
STORIES = {
    "tools": 80, "shell": 60, "compaction": 60, "budget": 50, "early": 60, "undo": 80, "crew": 50,
}  # fmt: skip
"""The least number of points of a story, of those at every third (of the crew, every tenth)."""
EVERY, SPARSE = (3, 5), {"crew": (10, 16)}
"""What that number is counted by, and every how many are tried here: `make kill-matrix` tries all.
The crew has many more, and each takes longer."""

pytestmark = [
    pytest.mark.timeout(PATIENCE),
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper"),
]


def matrix(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """The figures of a run in which nothing was wrong."""
    ran = subprocess.run(
        [sys.executable, "-m", "kill", *arguments],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(TESTS), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-6000:]}\n{ran.stderr[-3000:]}"
    figures: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert figures["bad"] == figures["orphans"] == 0
    assert figures["slowest"] < 5
    return figures


@pytest.mark.parametrize("story", STORIES)
def test_killed_at_any_point_a_session_goes_on(story: str, tmp_path: Path) -> None:
    counted_by, every = SPARSE.get(story, EVERY)
    figures = matrix(tmp_path, story, "--kinds", "each", "--every", str(every))
    assert figures["points"] >= STORIES[story] * counted_by // every - 1
    assert figures["kills"] >= figures["points"] * 0.9  # a last operation may not come again


def test_killed_again_while_it_goes_on(tmp_path: Path) -> None:
    figures = matrix(tmp_path, *QUICK, "--kinds", "again", "--count", "25")
    assert figures["kills"] > figures["points"]


def test_killed_at_any_moment(tmp_path: Path) -> None:
    assert matrix(tmp_path, *QUICK, "--kinds", "random", "--count", "25")["kills"] > 5


def test_after_a_power_cut_what_is_left_is_sound_and_with_durability_nothing_is_missing(
    tmp_path: Path,
) -> None:
    assert matrix(tmp_path, *QUICK, "--kinds", "power", "--count", "25")["kills"] >= 20


def test_on_a_disk_that_fails_it_goes_on_says_so_and_has_no_effect_without_a_record(
    tmp_path: Path,
) -> None:
    assert matrix(tmp_path, *QUICK, "--kinds", "errors", "--count", "25")["points"] == 25


def test_programs_that_do_not_want_to_go_are_gone_with_their_agent(tmp_path: Path) -> None:
    assert matrix(tmp_path, "stubborn", "--kinds", "each", "--every", "12")["kills"] > 5


def test_what_the_command_has_printed_is_in_its_log(tmp_path: Path) -> None:
    assert matrix(tmp_path, "--kinds", "command", "--count", "8")["kills"] > 4


QUICK = tuple(STORIES)
"""Without those that take their time."""
