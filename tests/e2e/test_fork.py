"""`detent fork`: another way from any step, with the files of that step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detent.testing import call, reply

from .conftest import Runner

BYPASS = ("--permission-mode", "bypassPermissions")


def files(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in folder.iterdir() if p.is_file() and not p.is_symlink()}


def scratch(runner: Runner) -> dict[str, str]:
    """Where copies go that nobody named a folder for."""
    return {"TMPDIR": str(runner.folder)}


@pytest.fixture
def worked(runner: Runner) -> Runner:
    (runner.work / "a").write_text("zero")
    (runner.work / "mine").write_text("of the user")
    (runner.work / "here").symlink_to(runner.work / "a")
    runner.serve(
        reply(call("Bash", command="printf one > a")),
        reply(call("Bash", command="printf two > a; printf x > b")),
        reply(call("Bash", command="rm b; printf three > a")),
        reply("done"),
        reply("from there"),
        reply("further"),
    )
    assert runner.prompt("go", *BYPASS).code == 0
    return runner


def test_a_step_in_a_copy(worked: Runner, tmp_path: Path) -> None:
    (parent,) = worked.logs
    new = tmp_path / "copy"
    ran = worked.run("fork", "--at", "2", "--into", str(new), "--json")
    assert ran.code == 0, ran
    fork = json.loads(ran.stdout)
    assert fork["cwd"] == str(new) and fork["step"] == 2 and fork["parent"] == parent.stem
    assert files(new) == {"a": "two", "b": "x", "mine": "of the user"}
    assert (new / "here").readlink() == new / "a", "and no link leads back"
    assert files(worked.work) == {"a": "three", "mine": "of the user"}
    entries = worked.entries(fork["session"])
    assert (entries[0]["parent"], entries[0]["forked_at"]) == (parent.stem, fork["at"])
    ran = worked.prompt("and now?", "-r", fork["session"], *BYPASS, cwd=new)
    said = json.dumps(worked.requests[-1].json["messages"])
    assert f"goes on in {new}" in said and "printf three" not in said and "printf two" in said


def test_what_was_done_before_the_fork_can_be_undone_in_it(worked: Runner, tmp_path: Path) -> None:
    new = tmp_path / "copy"
    worked.run("fork", "--at", "2", "--into", str(new))
    assert worked.run("undo", "1", cwd=new).code == 0
    assert files(new) == {"a": "zero", "mine": "of the user"}
    assert files(worked.work) == {"a": "three", "mine": "of the user"}


def test_what_the_user_changed_since_does_not_count_in_a_copy(
    worked: Runner, tmp_path: Path
) -> None:
    (worked.work / "a").write_text("edited")
    new = tmp_path / "copy"
    worked.run("fork", "--at", "1", "--into", str(new))
    assert files(new)["a"] == "one" and files(worked.work)["a"] == "edited"


def test_a_prompt_goes_on_at_once_elsewhere(worked: Runner) -> None:
    ran = worked.run("fork", "--at", "1", "--prompt", "another way", *BYPASS, env=scratch(worked))
    assert ran.code == 0 and ran.stdout == "from there\n", ran
    folder = Path(ran.stderr.partition("Its files: ")[2].splitlines()[0])
    assert files(folder)["a"] == "one" and folder.is_relative_to(worked.folder)
    assert "another way" in json.dumps(worked.requests[-1].json["messages"])


def test_another_model_and_a_format_for_programs(worked: Runner) -> None:
    flags = ("--model", "claude-haiku-5", "--output-format", "json", *BYPASS)
    ran = worked.run("fork", "--at", "1", "--prompt", "another way", *flags, env=scratch(worked))
    assert ran.code == 0 and ran.result["result"] == "from there", ran
    assert worked.requests[-1].json["model"] == "claude-haiku-5"


def test_in_place_is_asked_about_and_told_to_the_parent(worked: Runner) -> None:
    (parent,) = worked.logs
    refused = worked.run("fork", "--at", "1", "--in-place")
    assert refused.code == 2 and "add --yes" in refused.stderr
    assert files(worked.work)["a"] == "three"
    ran = worked.run("fork", "--at", "1", "--in-place", "--yes")
    assert ran.code == 0 and files(worked.work)["a"] == "one", ran
    assert any(e["type"] == "undone" for e in worked.entries(parent.stem))
    assert worked.run("redo", "--session", parent.stem).code == 0
    assert files(worked.work)["a"] == "three"


def test_any_entry_gives_a_session_that_goes_on(worked: Runner, tmp_path: Path) -> None:
    (parent,) = worked.logs
    worked.serve(*(reply("yes") for _ in range(60)))
    for entry in worked.entries(parent.stem):
        new = tmp_path / f"at{entry['seq']}"
        ran = worked.run("fork", parent.stem, "--at", f"seq:{entry['seq']}", "--into", str(new))
        assert ran.code == 0, ran
        fork = ran.stdout.split()[1].rstrip(":")
        ran = worked.prompt("go on", "-r", fork, *BYPASS, cwd=new)
        assert ran.code == 0, (entry, ran)
        seen = worked.entries(fork)
        begun = {e["call_id"] for e in seen if e["type"] == "callstarted"}
        over = {e["call_id"] for e in seen if e["type"] == "callended"}
        assert begun <= over, "no call without a result"


def test_words_that_make_no_sense(worked: Runner, tmp_path: Path) -> None:
    into = ("--into", str(tmp_path / "x"))
    for words in (
        ("--at", "99", *into),
        ("--at", "0", *into),
        ("--at", "seq:999", *into),
        ("--at", "turn:1", *into),
        ("nobody", *into),
        ("a", "b"),
        ("--in-place", *into),
        ("--prompt", " ", *into),
        ("--into", str(worked.work / "inside")),
        ("--into", str(worked.work)),
    ):
        assert worked.run("fork", *words).code == 2, words


def test_prompt_is_a_switch_elsewhere(worked: Runner) -> None:
    assert worked.run("context", "--prompt").code == 0


def test_a_file_of_another_folder_is_not_copied_and_told(runner: Runner, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "f").write_text("1")
    runner.serve(reply("before"), reply(call("Bash", command=f"echo 2 > {other}/f")), reply("done"))
    assert runner.prompt("hello").code == 0
    bypass = ("--permission-mode", "bypassPermissions", "--add-dir", str(other))
    assert runner.prompt("go", "--continue", *bypass).code == 0
    forked = runner.run("fork", "--at", "1", "--into", str(tmp_path / "copy"))
    assert forked.code == 0 and f"= {other}/f  left: it lies in another" in forked.stdout, forked
    assert (other / "f").read_text() == "2\n"
