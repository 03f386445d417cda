"""Settings files: layers, twins, merging, and what a project may decide before it is trusted."""

from __future__ import annotations

import os
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.settings.record import Settings
from detent.app.wire import assemble
from detent.app.wishes import timers
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Reads
from detent.types.errors import BadInput
from detent.types.verdicts import Allow, Ask, Deny

from .conftest import Disk, texts

LAYERS = [
    ("home/.claude/settings.json", "user"),
    ("state/settings.json", "user"),
    ("work/.claude/settings.json", "project"),
    ("work/.detent/settings.json", "project"),
    ("work/.claude/settings.local.json", "local"),
    ("work/.detent/settings.local.json", "local"),
]
"""Weakest first."""


def test_the_strongest_layer_decides_a_scalar(disk: Disk) -> None:
    for place, _ in LAYERS:
        disk.put(place, {"model": place})
        assert disk.merged().model == place
    assert disk.merged(extra={"model": "flag"}).model == "flag"
    assert disk.merged(extra={"model": ""}).model == LAYERS[-1][0]


def test_lists_of_all_layers_count(disk: Disk) -> None:
    for place, _ in LAYERS:
        rules = {kind: [f"Edit({kind}/{place})"] for kind in ("allow", "ask", "deny")}
        disk.put(place, {"permissions": {**rules, "additionalDirectories": [f"/d/{place}"]}})
    merged = disk.merged(extra={"permissions": {"deny": ["flag"]}})
    assert texts(merged.allow) == tuple(f"Edit(allow/{place})" for place, _ in LAYERS)
    assert texts(merged.ask) == tuple(f"Edit(ask/{place})" for place, _ in LAYERS)
    assert texts(merged.deny) == (*(f"Edit(deny/{place})" for place, _ in LAYERS), "flag")
    assert merged.directories == tuple(f"/d/{place}" for place, _ in LAYERS)


@pytest.mark.parametrize("wanted", ["user", "project", "local"])
def test_only_the_wanted_sources_are_read(disk: Disk, wanted: str) -> None:
    for place, name in LAYERS:
        disk.put(place, {"permissions": {"deny": [name]}} if name == wanted else "broken {")
    assert texts(disk.merged(wanted=(wanted,)).deny) == (wanted, wanted)
    assert disk.merged(wanted=()).deny == ()


def test_a_mode_of_a_weaker_layer_stays_when_the_stronger_is_silent(disk: Disk) -> None:
    disk.put("state/settings.json", {"permissions": {"defaultMode": "plan"}})
    disk.put("work/.detent/settings.json", {"model": "x"})
    assert disk.merged().mode == "plan"


def test_missing_and_empty_files_are_no_fault(disk: Disk) -> None:
    disk.put("state/settings.json", " \n")
    assert disk.merged() == Settings()


def test_an_untrusted_project_restricts_but_permits_nothing(disk: Disk) -> None:
    path = disk.put(
        "work/.claude/settings.json",
        {
            "permissions": {
                "allow": ["Bash"],
                "ask": ["Bash(a:*)"],
                "deny": ["Bash(b:*)"],
                "additionalDirectories": ["/"],
                "defaultMode": "acceptEdits",
            }
        },
    )
    merged = disk.merged(trusted=False)
    assert (merged.allow, merged.directories, merged.mode) == ((), (), "")
    assert (texts(merged.ask), texts(merged.deny)) == (("Bash(a:*)",), ("Bash(b:*)",))
    assert len(merged.notices) == 1
    assert path in merged.notices[0] and "--trust" in merged.notices[0]
    trusted = disk.merged(trusted=True)
    assert (
        texts(trusted.allow) == ("Bash",) and trusted.mode == "acceptEdits" and not trusted.notices
    )


def test_the_users_own_files_need_no_trust(disk: Disk) -> None:
    disk.put("state/settings.json", {"permissions": {"allow": ["Bash"], "defaultMode": "plan"}})
    merged = disk.merged(trusted=False)
    assert texts(merged.allow) == ("Bash",) and merged.mode == "plan" and not merged.notices


def test_no_project_may_switch_the_gate_off(disk: Disk) -> None:
    for place in ("work/.claude/settings.json", "work/.detent/settings.local.json"):
        disk.put(place, {"permissions": {"defaultMode": "bypassPermissions"}})
    merged = disk.merged(trusted=True)
    assert merged.mode == "" and len(merged.notices) == 2
    disk.put("state/settings.json", {"permissions": {"defaultMode": "bypassPermissions"}})
    assert disk.merged(trusted=True).mode == "bypassPermissions"


def test_trust_reaches_the_gate_and_is_said_at_the_first_turn(disk: Disk) -> None:
    disk.put("work/.claude/settings.json", {"permissions": {"allow": ["Bash(make:*)"]}})
    assert disk.verdict("make") is Ask
    assert disk.verdict("make", trust=True) is Allow
    assert "--trust" in assemble(disk.options()).notices[0]
    disk.put("work/.claude/settings.json", {"permissions": {"deny": ["Bash(make:*)"]}})
    assert disk.verdict("make", permission_mode="bypassPermissions") is Deny


@pytest.mark.parametrize("place", [place for place, _ in LAYERS])
def test_broken_json_is_named_with_file_and_line(disk: Disk, place: str) -> None:
    path = disk.put(place, '{\n  "model": "x",\n  "permissions" {}\n}')
    with pytest.raises(BadInput) as caught:
        disk.merged()
    assert path in str(caught.value) and "line 3" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"permissions": []}, "permissions must be an object"),
        ({"permissions": {"allow": "Bash"}}, "permissions.allow must be a list"),
        ({"permissions": {"deny": [1]}}, "permissions.deny must be a list"),
        ({"permissions": {"defaultMode": 1}}, "defaultMode must be a string"),
        ({"model": 1}, "model must be a string"),
        ({"fallbackModel": 5}, "fallbackModel"),
        ({"idleTimeout": "9"}, "idleTimeout must be a number"),
        ({"requestTimeout": True}, "requestTimeout must be a number"),
        ({"maxToolConcurrency": "x"}, "maxToolConcurrency must be a number"),
        ({"maxTurns": 2.5}, "maxTurns must be a whole number"),
        ({"budget": {"tokens": 0.5}}, "budget: tokens must be a whole number"),
        ({"toolSearch": "on"}, "toolSearch is one of auto, always, never, not 'on'"),
    ],
)
def test_a_wrong_value_is_named_with_its_file(disk: Disk, values: Any, named: str) -> None:
    path = disk.put("state/settings.json", values)
    with pytest.raises(BadInput) as caught:
        disk.merged()
    assert path in str(caught.value) and named in str(caught.value)


def test_json_that_is_no_object_is_refused(disk: Disk) -> None:
    disk.put("state/settings.json", "[1]")
    with pytest.raises(BadInput, match="expected a JSON object"):
        disk.merged()


@pytest.mark.parametrize("text", ["Bash(", "("])
def test_a_rule_that_cannot_be_read_stops_the_start(disk: Disk, text: str) -> None:
    """It might have been a restriction; going on without it would widen."""
    disk.put("state/settings.json", {"permissions": {"deny": [text]}})
    with pytest.raises(BadInput, match="not a permission rule"):
        assemble(disk.options())


def test_an_unreadable_file_is_named(disk: Disk) -> None:
    (disk.root / "state" / "settings.json").mkdir()
    with pytest.raises(BadInput, match=r"settings\.json: cannot be read"):
        disk.merged()


@pytest.mark.parametrize(
    ("environ", "values", "expected"),
    [
        ({}, {}, (90.0, 600.0)),
        ({}, {"idleTimeout": 5, "requestTimeout": 7.5}, (5.0, 7.5)),
        ({"DETENT_IDLE_TIMEOUT": "3"}, {"idleTimeout": 5}, (3.0, 600.0)),
        ({"DETENT_REQUEST_TIMEOUT": "0"}, {}, (90.0, 0.0)),
        ({"DETENT_IDLE_TIMEOUT": ""}, {"idleTimeout": 5}, (5.0, 600.0)),
    ],
)
def test_timers_come_from_environment_then_settings(
    disk: Disk, environ: Any, values: Any, expected: tuple[float, float]
) -> None:
    found = timers(disk.merged(extra=values), environ)
    assert (found.idle, found.request) == expected


@pytest.mark.parametrize("value", ["soon", "-1"])
def test_a_wrong_timer_is_named(value: str) -> None:
    with pytest.raises(BadInput, match="DETENT_IDLE_TIMEOUT"):
        timers(Settings(), {"DETENT_IDLE_TIMEOUT": value})


def test_a_fallback_may_be_one_or_many(disk: Disk) -> None:
    assert disk.merged(extra={"fallbackModel": "a"}).fallback_models == ("a",)
    assert disk.merged(extra={"fallbackModel": ["a", "b"]}).fallback_models == ("a", "b")


def test_a_relative_folder_of_the_settings_lies_beside_the_work(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (disk.root / "docs").mkdir()
    monkeypatch.chdir("/")
    disk.put("work/.detent/settings.json", {"permissions": {"additionalDirectories": ["../docs"]}})
    engine = assemble(disk.options(trust=True))
    read = Proposal(Call("c", "Read", ""), "Read", {}, (Reads(str(disk.root / "docs" / "a")),))
    assert isinstance(engine.gate.judge(read), Allow)


def test_options_are_stronger_than_files(disk: Disk) -> None:
    disk.put("state/settings.json", {"permissions": {"defaultMode": "plan", "deny": ["Bash(a:*)"]}})
    engine = assemble(disk.options(permission_mode="acceptEdits"))
    assert engine.gate.mode == "acceptEdits"
    assert disk.verdict("a", allowed_tools=("Bash(a:*)",)) is Deny
    assert disk.verdict("b", disallowed_tools=("Bash(b:*)",), allowed_tools=("Bash",)) is Deny


def test_a_tool_that_is_denied_as_a_whole_is_not_offered(disk: Disk) -> None:
    engine = assemble(disk.options(disallowed_tools=("Bash", "Read(x)")))
    names = [spec.name for spec in engine.kit.toolbox.specs()]
    assert "Bash" not in names and "Read" in names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cwd": "/no/such/folder"}, "cannot work in /no/such/folder"),
        ({"tools": ["Nope"]}, "Nope"),
        ({"add_dirs": ("nowhere",)}, "no folder .*nowhere"),
        ({"permission_mode": "yolo"}, "unknown permission mode"),
        ({"allowed_tools": ("Bash(",)}, "not a permission rule"),
    ],
)
def test_what_cannot_work_is_said_at_once(disk: Disk, options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        assemble(disk.options(**options))


def test_nothing_is_written_by_assembling(disk: Disk) -> None:
    assemble(disk.options(persist=True))
    assert os.listdir(disk.root / "state") == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("profile", "small"),
        ("promptCacheTtl", "1h"),
        ("replayThinking", "always"),
        ("reactiveCompact", False),
        ("streamingToolExecution", False),
        ("toolSearch", "never"),
        ("maxStopContinuations", 500),
        ("effortLevel", "high"),
        ("hooks", {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}),
    ],
)
def test_of_an_untrusted_project_no_setting_counts(disk: Disk, key: str, value: Any) -> None:
    path = disk.put("work/.detent/settings.json", {key: value})
    merged = disk.merged(trusted=False)
    assert replace(merged, notices=(), is_stranger=False) == Settings()
    (notice,) = merged.notices
    assert path in notice and key in notice
    trusted = disk.merged(trusted=True)
    assert trusted != Settings() and not trusted.notices


@pytest.mark.parametrize(("turns", "expected"), [(3, 3), (5, 5), (6, 5), (0, 5), (1e6, 5)])
def test_an_untrusted_project_only_shortens_a_turn(disk: Disk, turns: Any, expected: int) -> None:
    """None is no limit at all."""
    disk.put("state/settings.json", {"maxTurns": 5})
    disk.put("work/.detent/settings.json", {"maxTurns": turns})
    assert disk.merged(trusted=False).max_turns == expected


def test_of_many_unknown_settings_some_are_named(disk: Disk) -> None:
    disk.put("work/.detent/settings.json", {f"key{number}": 1 for number in range(5000)})
    *named, rest = disk.merged(trusted=False).hints
    assert len(named) == 20 and "4,980 more" in rest


def test_stop_hooks_may_be_given_more_or_less_room(disk: Disk) -> None:
    assert assemble(disk.options()).kit.limits.forced == 5
    disk.put("state/settings.json", {"maxStopContinuations": 0})
    assert assemble(disk.options()).kit.limits.forced == 0


def test_a_folder_of_the_settings_may_lie_below_home_or_be_missing(disk: Disk) -> None:
    """The same file is for several machines."""
    (disk.root / "home" / "docs").mkdir()
    folders = ["~/docs", "/no/such"]
    disk.put("state/settings.json", {"permissions": {"additionalDirectories": folders}})
    engine = assemble(disk.options())
    inside = Reads(str(disk.root / "home" / "docs" / "a"))
    assert isinstance(
        engine.gate.judge(Proposal(Call("c", "Read", ""), "Read", {}, (inside,))), Allow
    )
    (notice,) = engine.notices
    assert "/no/such" in notice and "additionalDirectories" in notice
