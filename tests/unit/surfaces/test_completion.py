"""Completion: from the same data as the parser, and asked of a real bash."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from detent.surfaces.cli.completion import SHELLS, script_for
from detent.surfaces.cli.flags import FLAGS, parse
from detent.surfaces.cli.help import ABOUT, HEADINGS, SUBCOMMANDS, TAKEN
from detent.surfaces.cli.main import SUBCOMMANDS as RUN
from detent.surfaces.cli.sessions import ACTIONS as SESSION_ACTIONS
from detent.surfaces.cli.shells.offers import ACTIONS, BEHIND, MODES, offers
from detent.surfaces.wishes import options_from

ASK = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
detent() { printf 'abc-1\\tsome words\\nnightly\\tother\\n'; }
compopt() { :; }
_detent
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "detent.bash"
    path.write_text(script_for("bash"))
    return path


def completed(script: Path, *words: str, cwd: Path | None = None) -> set[str]:
    ran = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", str(script), "detent", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
    )
    assert ran.stderr == ""
    return set(ran.stdout.split("\n")) - {""}


def test_bash_takes_the_script(script: Path) -> None:
    ran = subprocess.run(
        ["bash", "--norc", "-c", 'source "$1"; complete -p detent', "bash", str(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ran.stdout, ran.stderr) == ("complete -F _detent detent\n", "")


def test_subcommands_and_flags(script: Path) -> None:
    assert completed(script, "") == {*ABOUT, "help"}
    assert completed(script, "se") == {"sessions"}
    assert completed(script, "--max-to") == {
        "--max-tokens",
        "--max-total-tokens",
        "--max-tool-calls",
    }
    assert completed(script, "--verbose", "do") == {"doctor"}
    assert completed(script, "undo", "--") == {*TAKEN["undo"], "--help"}
    assert completed(script, "--cwd", "sessions", "--theme") == {"--theme"}, "a value is no name"
    assert completed(script, "man", "--") == {"--help"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("--effort", "m"), {"medium", "max"}),
        (("--effort", "=", "h"), {"high"}),
        (("--effort", "="), {"low", "medium", "high", "xhigh", "max"}),
        (("--permission-mode", "p"), {"plan"}),
        (("sessions", "export", "--format", "h"), {"html"}),
        (("--model", ""), set()),
        (("sessions", "de"), {"delete"}),
        (("agents", ""), {"list", "show", "tree"}),
        (("completion", ""), set(SHELLS)),
        (("help", "rep"), {"replay"}),
        (("--resume", ""), {"abc-1", "nightly"}),
        (("-r", "night"), {"nightly"}),
        (("--resume", "--vi"), {"--vim"}),
        (("undo", "--session", "a"), {"abc-1"}),
        (("sessions", "show", "abc"), {"abc-1"}),
        (("context", "n"), {"nightly"}),
        (("context", "--prompt", "n"), {"nightly"}),
        (("fork", "--prompt", "context", "n"), {"nightly"}),
        (("agents", "show", ""), set()),
        (("memory", ""), set()),
    ],
)
def test_what_may_follow(script: Path, words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(script, *words) == offered


def test_files_and_folders(script: Path, tmp_path: Path) -> None:
    (tmp_path / "two words").mkdir()
    (tmp_path / "two.json").touch()
    assert completed(script, "--cwd", "tw", cwd=tmp_path) == {"two words"}
    assert completed(script, "--settings", "tw", cwd=tmp_path) == {"two words", "two.json"}
    assert completed(script, "init", "tw", cwd=tmp_path) == {"two words"}
    assert completed(script, "sessions", "import", "two.", cwd=tmp_path) == {"two.json"}
    assert completed(script, "explain two", "two.", cwd=tmp_path) == {"two.json"}, "of a prompt"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_take_theirs(shell: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script_for(shell))
    ran = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_offers_all(shell: str) -> None:
    text = script_for(shell)
    offered = [flag for flag in FLAGS if flag.help and not flag.only]
    for flag in offered:
        name = flag.name if shell != "fish" else f"-l {flag.name[2:]}"
        assert name in text
        assert all(choice in text for choice in flag.choices)
    assert all(name in text for name in (*RUN, *SESSION_ACTIONS))
    hidden = [flag.name for flag in FLAGS if not flag.help]
    assert not [name for name in hidden if f"{name[2:]} " in text]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_quotes_are_even(shell: str) -> None:
    """Where the shell is not there to say so: no text of ours opens a quote and leaves it open."""
    lines = [line for line in script_for(shell).splitlines() if not line.lstrip().startswith("#")]
    for line in lines:
        bare = line.replace("'\\''", "")
        assert bare.count("'") % 2 == 0, line


def test_the_data_is_whole() -> None:
    assert set(ABOUT) == {*RUN, "version"}
    assert set(SUBCOMMANDS) == set(RUN)
    assert {*ACTIONS["sessions"]} == set(SESSION_ACTIONS)
    assert {*TAKEN, *("models",)} == set(RUN)
    for place in (place for places in BEHIND.values() for place in places):
        name, _, action = place.partition(" ")
        assert name in RUN and (not action or action in ACTIONS[name])
    for mode in MODES:
        assert options_from(parse(["--permission-mode", mode])).permission_mode == mode
    assert len(offers().flags) == len([flag for flag in FLAGS if flag.help and not flag.only])
    assert set(HEADINGS) <= {flag.name for flag in FLAGS}
