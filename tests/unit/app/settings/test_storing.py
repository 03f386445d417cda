"""Rules that a person keeps: in the right file, beside what is there, if that is trusted."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from detent.app import locked_file
from detent.app.settings.storing import LOCAL, NotStored, RuleStore
from detent.app.trust.findings import trust, what_would_run

from .conftest import Disk, texts

RULE = "Bash(npm test)"


def store(disk: Disk, scope: Any, rule: str = RULE, kind: Any = "allow") -> str:
    return RuleStore(disk.where, (), disk.environ["HOME"]).store(kind, rule, scope)[1]


def mode(path: str) -> int:
    return os.stat(path).st_mode & 0o777


@pytest.mark.parametrize(
    ("scope", "place", "wanted"),
    [
        ("user", "state/settings.json", 0o600),
        ("project", "work/.detent/settings.json", 0o644),
        ("local", "work/.detent/settings.local.json", 0o600),
    ],
)
def test_a_rule_is_written_where_it_should_be_and_counts(
    disk: Disk, scope: str, place: str, wanted: int
) -> None:
    path = store(disk, scope)
    assert path == str(disk.root / place) and mode(path) == wanted
    assert json.loads(Path(path).read_text()) == {"permissions": {"allow": [RULE]}}
    settled = disk.settled()
    assert texts(settled.allow) == (RULE,) and not settled.notices
    (rule,) = settled.allow
    assert (rule.origin.scope, rule.origin.line) == (scope, 4)
    store(disk, scope, "Bash(make)")
    store(disk, scope, "Bash(make)")
    assert texts(disk.settled().allow) == (RULE, "Bash(make)")


def test_the_rest_of_the_file_stays(disk: Disk) -> None:
    values = {"zeta": 1, "permissions": {"deny": ["Bash(x)"], "allow": ["Edit"]}, "model": "ü"}
    path = disk.put("state/settings.json", values)
    os.chmod(path, 0o640)
    store(disk, "user")
    values["permissions"]["allow"].append(RULE)  # type: ignore[index]
    text = Path(path).read_text()
    assert json.loads(text) == values and list(json.loads(text)) == list(values)
    assert mode(path) == 0o640


@pytest.mark.parametrize("kind", ["ask", "deny"])
def test_restrictions_are_kept_as_well(disk: Disk, kind: str) -> None:
    store(disk, "local", kind=kind)
    assert texts(getattr(disk.settled(), kind)) == (RULE,)


def test_beside_what_nobody_has_trusted_it_is_not_stored(disk: Disk) -> None:
    """Else the answer to one question would be consent to all that stands there."""
    path = disk.put("work/.detent/settings.json", {"permissions": {"allow": ["Bash"]}})
    before = Path(path).read_text()
    with pytest.raises(NotStored, match="holds for this session only: you have not trusted"):
        store(disk, "project")
    assert Path(path).read_text() == before and not disk.settled().allow
    assert os.listdir(disk.root / "state") == []


def test_beside_what_is_trusted_or_only_restricts_it_is_stored(disk: Disk) -> None:
    disk.put("work/.detent/settings.json", {"permissions": {"deny": ["Bash(x)"]}})
    store(disk, "project")
    assert texts(disk.settled().allow) == (RULE,)
    disk.put("work/.detent/settings.local.json", {"permissions": {"allow": ["Edit"]}})
    trust(what_would_run(disk.cwd, disk.environ))
    store(disk, "local")
    assert texts(disk.settled().allow) == (RULE, "Edit", RULE)


def test_a_file_that_changed_since_is_not_trusted_by_the_way(disk: Disk) -> None:
    store(disk, "local")
    disk.put("work/.detent/settings.local.json", {"permissions": {"allow": [RULE, "Bash"]}})
    with pytest.raises(NotStored):
        store(disk, "local", "Bash(make)")
    assert not disk.settled().allow


def test_the_answer_does_not_trust_the_folder(disk: Disk) -> None:
    """Only what was asked: other files, and programs that the project brings, are as before."""
    store(disk, "local")
    disk.put("work/.claude/settings.json", {"permissions": {"allow": ["Edit"]}})
    assert texts(disk.settled().allow) == (RULE,)
    from detent.app.grounds import grounds_of

    assert not grounds_of(disk.options()).is_trusted


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"permissions": 5}', '{"permissions": {"allow": 5}}']
)
def test_what_cannot_be_read_is_left_alone(disk: Disk, content: str) -> None:
    path = disk.put("state/settings.json", content)
    with pytest.raises(NotStored, match=r"this session only.*settings\.json"):
        store(disk, "user")
    assert Path(path).read_text() == content
    assert os.listdir(disk.root / "state") == ["settings.json"]


def test_a_link_out_of_the_project_is_not_written_through(disk: Disk) -> None:
    target = disk.root / "home" / "target.json"
    target.write_text("{}")
    folder = disk.root / "work" / ".detent"
    folder.mkdir()
    (folder / "settings.json").symlink_to(target)
    with pytest.raises(NotStored, match="is a link"):
        store(disk, "project")
    (folder / "settings.json").unlink()
    folder.rmdir()
    folder.symlink_to(disk.root / "home")
    with pytest.raises(NotStored, match="is a link"):
        store(disk, "local")
    assert target.read_text() == "{}" and os.listdir(disk.root / "home") == ["target.json"]


def test_another_run_that_holds_the_file(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locked_file, "PATIENCE", 0.0)
    disk.put("state/settings.json.lock", "")
    with pytest.raises(NotStored, match="another run is writing it"):
        store(disk, "user")


def test_a_folder_of_ones_own_inside_the_project_keeps_nothing(disk: Disk) -> None:
    disk.environ["DETENT_HOME"] = f"{disk.cwd}/conf"
    for scope in ("user", "local", "project"):
        with pytest.raises(NotStored, match="conf lies in the project"):
            store(disk, scope)
    assert os.listdir(disk.cwd) == []


def status(disk: Disk) -> str:
    ran = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=disk.cwd, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return ran.stdout


def test_a_local_file_is_kept_out_of_git(disk: Disk) -> None:
    subprocess.run(["git", "init"], cwd=disk.cwd, check=True, capture_output=True)
    exclude = disk.root / "work" / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("*.log")
    store(disk, "local")
    assert status(disk) == ""
    assert exclude.read_text() == f"*.log\n/{LOCAL}\n"
    os.unlink(disk.root / "work" / LOCAL)
    store(disk, "local")
    assert exclude.read_text().count(LOCAL) == 1
    store(disk, "project")
    assert status(disk) == "?? .detent/settings.json\n", "that one is for everybody"


def test_git_is_left_alone_where_the_file_is_ignored(disk: Disk) -> None:
    subprocess.run(["git", "init"], cwd=disk.cwd, check=True, capture_output=True)
    exclude = disk.root / "work" / ".git" / "info" / "exclude"
    before = exclude.read_text() if exclude.exists() else ""
    disk.put("work/.gitignore", ".detent/\n")
    store(disk, "local")
    assert (exclude.read_text() if exclude.exists() else "") == before


def test_from_below_it_is_stored_at_the_root(disk: Disk) -> None:
    subprocess.run(["git", "init"], cwd=disk.cwd, check=True, capture_output=True)
    root = disk.cwd
    disk.cwd = f"{root}/below"
    os.mkdir(disk.cwd)
    assert store(disk, "local") == f"{root}/{LOCAL}"
    assert texts(disk.settled().allow) == (RULE,)


def test_several_runs_may_store_rules_at_once(disk: Disk) -> None:
    """None of them takes what another has just stored for something that nobody agreed to."""
    rules = [f"Bash(make {number})" for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda rule: store(disk, "local", rule), rules))
    settled = disk.settled()
    assert set(texts(settled.allow)) == set(rules) and not settled.notices


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_what_lies_in_the_place_of_a_list_of_git_is_not_waited_for(disk: Disk, kind: str) -> None:
    disk.put("work/.git/info/exclude", "")
    place = disk.root / "work" / ".gitignore"
    os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    store(disk, "local")
    assert (disk.root / "work/.git/info/exclude").read_text() == f"/{LOCAL}\n"


def test_a_rule_that_cannot_be_trusted_later_is_not_written(disk: Disk) -> None:
    disk.put("state/trust.json", "{")
    with pytest.raises(NotStored, match=r"trust\.json is damaged"):
        store(disk, "local")
    assert not (disk.root / "work" / LOCAL).exists()
