"""The first texts of the fuzzer, in every run of the suite, and the judge itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.gate.shell.prover import prove

from .shell import BASH, check, complaint, runs, texts

pytestmark = pytest.mark.skipif(BASH is None, reason="bash is the judge")


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_bash_runs_what_was_proven_and_found(seed: int) -> None:
    batch = texts(seed, 150)
    assert sum(prove(text) is not None for text in batch) > 30
    assert list(check(batch)) == []


def test_the_judge_sees_what_the_shell_makes_of_words(tmp_path: Path) -> None:
    batch = ["c1 {a,b} 'c d' $X | c2", "c1 && c2 || c3", "c1 'a\nb' & c2", "if c1; then c2; fi"]
    ran = runs(batch, str(tmp_path))
    assert ran[0] == {("c1", "a", "b", "c d", "p", "q", "f1", "f2"), ("c2",)}
    assert ran[1] == {("c1",), ("c2",), ("c3",)}
    assert ran[2] == {("c1", "a\nb"), ("c2",)}
    assert ran[3] == {("c1",), ("c2",)}


def test_the_judge_complains() -> None:
    assert complaint("c1 a", {("c1", "a")}) is None
    assert complaint("c1 a", {("c1", "b")}) == "not in the script: ('c1', 'b')"
    assert "not run" in (complaint("c1 a; c2", {("c1", "a")}) or "")
    assert complaint("c1 $X", {("c1", "a"), ("c2",)}) == "not found: ('c2',)"
