"""Settings of the terminal: what they say, who may say it, and keeping one (issue 9)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from detent.app.settings.interface import InterfaceWishes, SpinnerVerbs, StatusLine
from detent.app.settings.record import Settings, Source
from detent.app.settings.sources import merge
from detent.app.settings.splicing import spliced
from detent.app.trust.findings import what_would_run
from detent.sdk.interface import interface_of, keep
from detent.types.errors import BadInput

from .conftest import Disk

LINE = {"type": "command", "command": "echo hi", "padding": 2, "refreshInterval": 1.5}
FILES = {"type": "command", "command": "list-files"}


def merged(*values: Any, project: Any = None, trusted: bool = False) -> Settings:
    sources = [Source("user", f"user{n}", one, False) for n, one in enumerate(values)]
    if project is not None:
        sources.append(Source("project", "theirs", project, True))
    return merge(sources, trusted=trusted)


def wishes(*values: Any, **more: Any) -> InterfaceWishes:
    found = merged(*values, **more).interface
    assert found is not None
    return found


def test_nothing_said_is_nothing_loaded() -> None:
    assert merge([], trusted=False).interface is None
    assert merged({"model": "m"}).interface is None


def test_every_key_counts_and_the_later_wins() -> None:
    first = {
        "theme": "dark",
        "editorMode": "vim",
        "statusLine": LINE,
        "outputStyle": "No Such Style",
        "preferredNotifChannel": "terminal_bell",
        "spinnerVerbs": {"mode": "replace", "verbs": ["Thinking", " "]},
        "spinnerTipsEnabled": False,
        "screenReader": True,
        "reducedMotion": True,
        "showThinkingSummaries": True,
        "verbose": True,
        "respectGitignore": False,
        "fileSuggestion": FILES,
        "tui": "fullscreen",
    }
    every = InterfaceWishes(
        theme="dark",
        editor_mode="vim",
        status_line=StatusLine("echo hi", 2, 1.5),
        output_style="No Such Style",
        preferred_notif_channel="terminal_bell",
        spinner_verbs=SpinnerVerbs(("Thinking",), "replace"),
        spinner_tips_enabled=False,
        screen_reader=True,
        reduced_motion=True,
        show_thinking_summaries=True,
        verbose=True,
        respect_gitignore=False,
        file_suggestion="list-files",
        tui="fullscreen",
    )
    assert wishes(first) == every
    later = wishes(first, {"theme": "light", "tui": "default", "reduced_motion": False})
    assert (later.theme, later.tui, later.editor_mode) == ("light", "inline", "vim")


def test_other_spellings_count() -> None:
    assert wishes({"prefersReducedMotion": True}).reduced_motion
    assert not wishes({"prefersReducedMotion": True, "reducedMotion": False}).reduced_motion
    assert wishes({"spinnerVerbs": ["A", "B"]}).spinner_verbs == SpinnerVerbs(("A", "B"), "append")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"theme": 1}, "user0: theme must be a string"),
        ({"screenReader": "yes"}, "user0: screenReader must be true or false"),
        ({"statusLine": "date"}, "user0: statusLine must be an object"),
        ({"statusLine": {**LINE, "padding": -1}}, "user0: statusLine: padding must not be"),
        ({"statusLine": {"command": ["date"]}}, "user0: statusLine: command must be a string"),
        ({"spinnerVerbs": "Working"}, "user0: spinnerVerbs must be a list"),
        ({"spinnerVerbs": {"verbs": [1]}}, "user0: spinnerVerbs: verbs must be a list of strings"),
        ({"spinnerVerbs": {"mode": "x", "verbs": []}}, "spinnerVerbs: mode is one of"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_file(value: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        merged(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"editorMode": "emacs"}, "user0: editorMode 'emacs' is not known, and does nothing"),
        ({"tui": "sideways"}, "user0: tui 'sideways' is not known, and does nothing"),
        ({"statusLine": {"type": "http"}}, "user0: statusLine of type 'http' is not known"),
    ],
)
def test_words_of_other_programs_end_no_start(value: Any, said: str) -> None:
    settings = merged(value)
    assert settings.interface == InterfaceWishes()
    assert any(hint.startswith(said) for hint in settings.hints)
    assert not settings.notices


def test_a_program_of_a_project_takes_trust() -> None:
    theirs = {"statusLine": LINE, "fileSuggestion": FILES, "theme": "theirs"}
    own = {"statusLine": {"command": "mine"}}
    stranger = merged(own, project=theirs)
    assert stranger.interface == InterfaceWishes(status_line=StatusLine("mine"))
    (notice,) = stranger.notices
    assert "statusLine, fileSuggestion, theme ignored until you trust it" in notice
    trusted = wishes(own, project=theirs, trusted=True)
    assert trusted.status_line == StatusLine("echo hi", 2, 1.5)
    assert trusted.file_suggestion == "list-files"


def test_what_would_run_is_shown_before_anybody_trusts_it(disk: Disk) -> None:
    disk.put("work/.claude/settings.json", {"statusLine": {"type": "command", "command": "evil"}})
    (asking,) = what_would_run(disk.cwd, disk.environ).files
    assert [(wish.kind, wish.text) for wish in asking.wishes] == [("runs", "statusLine: evil")]


def test_programs_go_off_with_the_hooks(disk: Disk) -> None:
    disk.put("home/.claude/settings.json", {"statusLine": LINE, "fileSuggestion": FILES})
    disk.put("state/settings.json", {"theme": "dark"})
    assert disk.merged().interface == InterfaceWishes(
        theme="dark", status_line=StatusLine("echo hi", 2, 1.5), file_suggestion="list-files"
    )
    disk.put("state/settings.json", {"theme": "dark", "disableAllHooks": True})
    assert disk.merged().interface == InterfaceWishes(theme="dark")
    managed = {"statusLine": {"command": "the organisation's"}}
    disk.put("etc/managed-settings.json", managed)
    found = disk.merged().interface
    assert found is not None
    assert found.status_line == StatusLine("the organisation's"), "users do not switch that off"


def test_the_interface_is_known_without_a_model(disk: Disk) -> None:
    assert interface_of(disk.options(model="")) == InterfaceWishes()
    disk.put("state/settings.json", {"theme": "dark"})
    assert interface_of(disk.options(model="")).theme == "dark"


# One setting that is kept


WRITTEN = """{
    // are not JSON
}"""
OWN = '{\n\t"model": "m",   "permissions": {"allow": ["Bash(ls)"]},\n\t"zz": [1, {"theme": 2}]\n}\n'


def test_all_other_bytes_stay(disk: Disk) -> None:
    path = disk.put("state/settings.json", OWN)
    assert keep("theme", "dark", disk.environ) == path
    text = Path(path).read_text()
    assert text == OWN.replace("}]\n}", '}],\n\t"theme": "dark"\n}')
    keep("theme", 'a "quoted" one', disk.environ)
    assert Path(path).read_text() == text.replace('"dark"', '"a \\"quoted\\" one"')
    keep("model", "other", disk.environ)
    assert '"model": "other",   "permissions"' in Path(path).read_text()
    for key in ("theme", "model"):
        keep(key, None, disk.environ)
    assert json.loads(Path(path).read_text()) == {
        key: value for key, value in json.loads(OWN).items() if key != "model"
    }


def test_the_first_setting_makes_the_file(disk: Disk) -> None:
    os.rmdir(disk.environ["DETENT_HOME"])
    path = keep("editorMode", "vim", disk.environ)
    assert path == os.path.join(disk.environ["DETENT_HOME"], "settings.json")
    assert Path(path).read_text() == '{\n  "editorMode": "vim"\n}\n'
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert wishes(json.loads(Path(path).read_text())).editor_mode == "vim"


def test_a_setting_keeps_the_spelling_that_it_has(disk: Disk) -> None:
    path = disk.put("state/settings.json", {"output_style": "a"})
    keep("outputStyle", "b", disk.environ)
    assert json.loads(Path(path).read_text()) == {"output_style": "b"}


@pytest.mark.parametrize(
    ("text", "key", "value", "said"),
    [
        (WRITTEN, "theme", "dark", "line 2, column 5"),
        ("[]", "theme", "dark", "expected a JSON object"),
        (OWN, "theme", 1, "theme must be a string"),
        (OWN, "spinnerVerbs", {"mode": "x"}, "mode is one of"),
        (OWN, "colour", "red", "there is no setting colour"),
    ],
)
def test_a_damaged_file_and_a_bad_value_change_nothing(
    disk: Disk, text: str, key: str, value: Any, said: str
) -> None:
    path = disk.put("state/settings.json", text)
    with pytest.raises(BadInput, match=said):
        keep(key, value, disk.environ)
    assert Path(path).read_text() == text
    assert os.listdir(os.path.dirname(path)) == ["settings.json"], "no lock is left"


def test_nothing_is_kept_where_it_would_not_be_believed(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(disk.cwd)
    inside = {**disk.environ, "DETENT_HOME": os.path.join(disk.cwd, "conf")}
    with pytest.raises(BadInput, match="lies in the project"):
        keep("theme", "dark", inside)
    assert not os.path.exists(inside["DETENT_HOME"])


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner),
    max_leaves=6,
)
KEYS = some.sampled_from(["a", "b", "", "k[", "{", 'q"', "ü"])


@given(
    some.dictionaries(KEYS, VALUES, max_size=4),
    some.sampled_from(["theme", "a", "b"]),
    VALUES,
    some.sampled_from([None, 1, "\t"]),
)
def test_any_object_gets_exactly_that_value(
    values: dict[str, Any], key: str, value: Any, indent: Any
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    new = spliced(text, key, json.dumps(value).encode())
    assert json.loads(new) == {**values, key: value}
    assert list(json.loads(new)) == list({**values, key: value}), "in their order"
    without = {name: each for name, each in values.items() if name != key}
    assert json.loads(spliced(new, key, None)) == without


def test_of_a_key_that_stands_twice_the_one_that_counts_is_changed() -> None:
    text = b'{"theme": "old", "a": 1, "theme": "new"}'
    assert spliced(text, "theme", b'"x"') == b'{"theme": "old", "a": 1, "theme": "x"}'
    assert spliced(text, "theme", None) == b'{"a": 1}'
