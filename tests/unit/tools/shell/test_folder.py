"""A `cd` lasts: real shells, and every way in which one can end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from detent.tools.shell.bash import BashArgs
from detent.types.outcomes import Done, Failed, text_of

from .shells import Shells


@pytest.fixture
def shells(tmp_path: Path) -> Shells:
    shells = Shells(tmp_path)
    (shells.work / "sub" / "deep").mkdir(parents=True)
    return shells


def test_a_cd_lasts_and_is_told(shells: Shells) -> None:
    sub = str(shells.work / "sub")
    assert shells.text("Bash", command="cd sub") == f"[Working folder: {sub}]"
    assert shells.text("Bash", command="pwd") == sub
    assert shells.text("Bash", command="echo x; cd deep") == f"x\n\n[Working folder: {sub}/deep]"
    assert shells.text("Bash", command="cd ../..; pwd; cd -").endswith(f"\n{sub}/deep")
    assert shells.shop.cwd == f"{sub}/deep", "there and back is no move"


@pytest.mark.parametrize(
    "command",
    [
        "cd sub",
        "cd sub; exit 0",
        "cd sub; exit 3",
        "cd sub && false",
        "set -e; cd sub; false; echo never",
        "set -eu; cd sub; echo $nothing",
        "set -o noclobber; cd sub",
        "set -o pipefail; cd sub; false | true",
        "exec 2>&-; exec 1>&-; cd sub",
        "pushd sub >&-",
        "cd sub && pushd deep && popd",
        "eval 'c''d sub'",
        "source ./move",
        ". ./move",
        "true; . ./move",
        "go() { builtin cd sub; }; go",
        "cd sub\n",
        "(cd sub/deep); cd sub",
        "cd sub; (exit 4)",
        "cd sub; bash -c 'cd deep'",
        "unset HOME PATH; cd sub",
        "pwd() { echo /; }; cd sub",
    ],
)
def test_it_moves(shells: Shells, command: str) -> None:
    Path(shells.cwd, "move").write_text("cd sub\n")
    shells.call("Bash", command=command)
    assert shells.shop.cwd == str(shells.work / "sub")


@pytest.mark.parametrize(
    "command",
    [
        "cd nowhere",
        "(cd sub)",
        "cd sub | cat",
        "bash -c 'cd sub'",
        "cd sub && exec true",
        "cd sub; trap 'true' EXIT",
        "cd sub; kill -9 $$",
        "cd sub; rm -r ../sub",
        "echo cd",
        "cd sub &",
    ],
)
def test_it_stays(shells: Shells, command: str) -> None:
    text = shells.text("Bash", command=command)
    assert shells.shop.cwd == str(shells.work)
    assert "orking folder" not in text


def test_a_time_limit_moves_nobody(shells: Shells) -> None:
    shells.call("Bash", command="cd sub; sleep 60", timeout=300)
    assert shells.shop.cwd == str(shells.work)


def test_the_command_ends_as_it_would_without_us(shells: Shells) -> None:
    """The same output, the same exit code, nothing left in its environment."""
    trap = shells.call("Bash", command="trap 'echo bye; exit 7' EXIT; cd sub; echo $?")
    assert isinstance(trap, Failed)
    assert trap.text == "0\nbye\n\nExit code 7"
    seen = shells.text("Bash", command="cd . ; env; bash -c 'trap -p'; set | grep -v EXECUTION")
    assert "BASH_ENV" not in seen and "FOLDER" not in seen and "pwd -P" not in seen
    traced = shells.call("Bash", command="set -x; cd sub")
    assert text_of(traced).splitlines()[0] == "+ cd sub"
    assert "pwd" not in text_of(traced)
    assert shells.text("Bash", command='cd .; echo "$0 $# $-"') == shells.text(
        "Bash", command='echo "$0 $# $-"'
    )


def test_no_fault_of_ours_changes_the_exit_code(shells: Shells) -> None:
    command = "set -e; cd sub; rm -r ../sub; echo done"
    outcome = shells.call("Bash", command=command)
    assert isinstance(outcome, Done)
    assert text_of(outcome) == "done"


def test_nothing_is_left_behind(
    shells: Shells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place with 'quotes'"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    shells.call("Bash", command="cd sub; ls ../../place*")
    assert shells.shop.cwd == str(shells.work / "sub"), "the file was there"
    shells.call("Bash", command="cd nowhere")
    shells.call("Bash", command="cd .; sleep 60", timeout=100)
    assert list(place.iterdir()) == []


def test_without_a_place_for_the_file_it_runs_and_stays(
    shells: Shells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    assert shells.text("Bash", command="cd sub; pwd") == str(shells.work / "sub")
    assert shells.shop.cwd == str(shells.work)


def test_outside_the_workspace_it_goes_back(shells: Shells) -> None:
    outcome = shells.call("Bash", command="cd / && pwd")
    assert isinstance(outcome, Done)
    assert text_of(outcome) == (
        f"/\n\n[The working folder is {shells.work} again: / is outside the workspace.]"
    )
    assert shells.shop.cwd == str(shells.work)


@pytest.mark.parametrize("name", ["a b", "a'b\"c$(d)", "line\nbreak\n", "-n", "é€😀", "\\x"])
def test_every_name(shells: Shells, name: str) -> None:
    (shells.work / name).mkdir()
    Path(shells.cwd, "name").write_text(f"{name}/")
    shells.call("Bash", command="IFS= read -r -d '' there <name; cd -- \"./$there\"")
    assert shells.shop.cwd == str(shells.work / name)
    assert shells.text("Bash", command="echo here") == "here"


def test_a_name_that_is_not_text(shells: Shells) -> None:
    os.mkdir(os.fsencode(shells.cwd) + b"/\xff")
    text = shells.text("Bash", command="cd $'\\xff'")
    assert text.startswith(f"[The working folder is {shells.work} again: the name ")
    assert text.endswith("is not UTF-8 text.]")


def test_links_are_followed(shells: Shells) -> None:
    (shells.work / "link").symlink_to("sub/deep")
    (shells.work / "out").symlink_to("/")
    assert "outside" in shells.text("Bash", command="cd out")
    shells.call("Bash", command="cd link")
    assert shells.shop.cwd == str(shells.work / "sub" / "deep")


def test_a_folder_that_is_gone(shells: Shells) -> None:
    deep = shells.work / "sub" / "deep"
    shells.call("Bash", command="cd sub/deep")
    os.rmdir(deep)
    os.rmdir(deep.parent)
    stuck = shells.call("Bash", command="touch here")
    assert isinstance(stuck, Failed)
    assert stuck.text == (
        f"Bash: not run: No such file or directory: {deep}, the working folder. "
        "Send `cd ..` to go to the nearest folder that can be worked in."
    )
    assert shells.shop.cwd == str(deep), "calls beside it were judged there"
    assert f"The working folder is {shells.work} now" in shells.text("Bash", command="cd ..")
    assert shells.text("Bash", command="pwd") == str(shells.work)


def test_a_workspace_that_is_gone(shells: Shells) -> None:
    for folder in ("sub/deep", "sub", "."):
        os.rmdir(Path(shells.work, folder))
    assert "until it is there again" in shells.text("Bash", command="cd ..")


MOVING = ["cd x", "a; cd", "(cd x)", "eval $X", ". x", "a && . x", "source x", "pushd", "\\cd x"]
STAYING = ["ls .", "find . -name cd.txt", "./cd", "abcd", "grep x . | wc", "cdk x", "x --cd=1"]


@pytest.mark.parametrize("command", MOVING)
def test_what_may_move(shells: Shells, command: str) -> None:
    tool: Any = shells.registry.find("Bash")
    assert tool.moves(BashArgs(command))
    assert not tool.moves(BashArgs(command, run_in_background=True))


@pytest.mark.parametrize("command", STAYING)
def test_what_does_not_move(shells: Shells, command: str) -> None:
    tool: Any = shells.registry.find("Bash")
    assert not tool.moves(BashArgs(command))


def test_other_commands_get_no_start_file(shells: Shells) -> None:
    assert "BASH_ENV" not in shells.text("Bash", command="cat /proc/self/environ")
