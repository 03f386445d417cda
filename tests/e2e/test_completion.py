"""`detent completion` and `detent man`, as they are installed."""

from __future__ import annotations

import pytest

from .conftest import DETENT, Runner


def test_sessions_are_completed_by_bash(runner: Runner) -> None:
    runner.serve("one", "two")
    assert runner.run("-p", "first words", "--name", "nightly").code == 0
    assert runner.run("-p", "other", "--name", "$(touch hacked)").code == 0
    ids = {log.stem for log in runner.logs}
    asked = (
        f'source <({DETENT} completion bash); COMP_WORDS=(detent --resume ""); COMP_CWORD=2; '
        'compopt() { :; }; _detent; printf "%s\\n" "${COMPREPLY[@]}" > found; set --'
    )
    assert runner.run("version", shell=asked).code == 0
    assert set((runner.work / "found").read_text().split()) == {*ids, "nightly"}
    assert not (runner.work / "hacked").exists()
    listed = runner.run("completion", "sessions").stdout
    assert "nightly\tfirst words\n" in listed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_printed_without_a_model(runner: Runner, shell: str) -> None:
    ran = runner.run("completion", shell)
    assert (ran.code, ran.stderr) == (0, "") and "--screen-reader"[2:] in ran.stdout
    assert not runner.state.exists()


def test_the_manual(runner: Runner) -> None:
    ran = runner.run("man", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert (ran.code, ran.stderr) == (0, "") and ran.stdout.startswith(".TH DETENT 1 ")
    assert runner.run("man", "x").code == 2


@pytest.mark.parametrize("words", [(), ("tcsh",), ("bash", "x"), ("bash", "--json")])
def test_mistakes_are_named(runner: Runner, words: tuple[str, ...]) -> None:
    ran = runner.run("completion", *words)
    assert ran.code == 2 and ran.stderr.startswith("detent: detent completion ")
