"""Undo and redo of random shell scripts in random trees."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undobench import Bench, SeeingBench, Tree

pytestmark = pytest.mark.timeout(300)  # thousands of shells, on a machine that may be busy

NAMES = ("a", "b", "d/a", "d/b", "d/e/f", "d", "d/e", "x y", "é")
names = st.sampled_from(NAMES)
texts = st.sampled_from(["", "one", "two", "one\\ntwo", "\\000\\377"])
modes = st.sampled_from(["600", "644", "755", "400", "4755", "700"])


def quoted(name: str) -> str:
    return f"'{name}'"


lines = st.one_of(
    st.builds("printf '{1}' > {0}".format, names.map(quoted), texts),
    st.builds("printf '{1}' >> {0}".format, names.map(quoted), texts),
    st.builds("rm -f {0}".format, names.map(quoted)),
    st.builds("rm -rf {0}".format, names.map(quoted)),
    st.builds("mkdir -p {0}".format, names.map(quoted)),
    st.builds("mv {0} {1}".format, names.map(quoted), names.map(quoted)),
    st.builds("cp -r {0} {1}".format, names.map(quoted), names.map(quoted)),
    st.builds("chmod {1} {0}".format, names.map(quoted), modes),
    st.builds("ln -sfn {0} {1}".format, names.map(quoted), names.map(quoted)),
    st.builds("ln -sfn missing/nowhere {0}".format, names.map(quoted)),
    st.builds("ln {0} {1}".format, names.map(quoted), names.map(quoted)),
    st.builds("rm -rf {0}; mkdir {0}; printf new > {0}/n".format, names.map(quoted)),
    st.builds("rm -rf {0}; printf flat > {0}".format, names.map(quoted)),
    st.builds("sed -i s/one/three/ {0}".format, names.map(quoted)),
    st.just("chmod 555 d"),
)
scripts = st.lists(lines, min_size=1, max_size=4).map("\n".join)
Made = TypeVar("Made", bound=Bench)
FILES = {"a": "one", "d/a": "one\ntwo", "d/e/f": "x"}


def bench_in(folder: str, kind: Callable[[Path], Made]) -> Made:
    """With some files already there."""
    bench = kind(Path(folder))
    for name, text in FILES.items():
        bench.write(name, text)
    (bench.root / "l").symlink_to("a")
    bench.prompt()
    return bench


@given(st.lists(scripts, min_size=1, max_size=4), scripts)
@settings(max_examples=200, deadline=None)
def test_undo_then_redo_is_the_same_in_bytes_modes_and_links(steps: list[str], begins: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = bench_in(folder, Bench)
        bench.bash(begins)
        states: list[Tree] = [bench.tree()]
        for script in steps:
            bench.step(script)
            states.append(bench.tree())
        while bench.look().steps:
            (step,) = bench.look().steps
            report = bench.undo()
            assert not report.left
            assert bench.tree() == states[step - 1]
        assert bench.tree() == states[0]
        while (steps_again := bench.redo()).steps:
            assert not steps_again.left
            assert bench.tree() == states[max(steps_again.steps)]
        assert bench.tree() == states[-1]


@given(st.lists(scripts, min_size=2, max_size=4), st.data())
@settings(max_examples=120, deadline=None)
def test_several_steps_at_once_are_the_same_as_one_after_the_other(
    steps: list[str], data: st.DataObject
) -> None:
    user = data.draw(st.tuples(*(st.one_of(st.just(""), lines) for _ in steps)))
    ended: list[Tree] = []
    from_step = data.draw(st.integers(1, len(steps)))
    for at_once in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            bench = bench_in(folder, Bench)
            for script, between in zip(steps, user, strict=True):
                bench.step(script)
                if between:
                    bench.bash(between)
            if at_once:
                bench.undo(from_step)
            else:
                for step in range(len(steps), from_step - 1, -1):
                    bench.undo(step)
            ended.append({p.removeprefix(folder): s for p, s in bench.tree().items()})
    assert ended[0] == ended[1]


@given(scripts, scripts, st.sampled_from(NAMES))
@settings(max_examples=150, deadline=None)
def test_what_the_user_wrote_since_is_never_lost(first: str, second: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = bench_in(folder, Bench)
        bench.step(first)
        bench.step(second)
        bench.bash(f"[ -d '{name}' ] || printf 'mine alone' > '{name}'")
        mine = (bench.root / name).resolve()  # a link may lead to it
        is_mine = mine.is_file() and mine.read_text() == "mine alone"
        bench.undo(1)
        if is_mine:
            assert mine.read_text() == "mine alone"
        bench.redo()
        if is_mine:
            assert mine.read_text() == "mine alone"


@given(st.lists(scripts, min_size=1, max_size=3), st.lists(lines, min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_it_holds_with_what_a_session_really_sees_of_its_commands(
    steps: list[str], user: list[str]
) -> None:
    """The session's own eyes instead of a comparison of all files; the user is at work as well."""
    with tempfile.TemporaryDirectory() as folder:
        bench = bench_in(folder, SeeingBench)
        states: list[Tree] = []
        for script, between in zip(steps, user, strict=False):
            bench.bash(between)
            states.append(bench.tree())
            bench.step(script)
        ended = bench.tree()
        bench.close()
        if bench.look().steps != (len(steps),):
            assert ended == states[-1], "the last one has changed nothing"
            return
        report = bench.undo()
        assert not report.left and bench.tree() == states[-1]
        assert not bench.redo().left
        assert bench.tree() == ended
