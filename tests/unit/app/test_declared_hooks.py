"""`hooks` in a settings file, as declarations."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.settings.hooks import declared_hooks, not_run, unread_keys
from detent.gate.hooks.entry import HookEntry
from detent.types.errors import BadInput

WHERE = "/u/settings.json"


def declared(event: str = "PreToolUse", matcher: Any = "Bash", **handler: Any) -> Any:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": "check", **handler}]}
    return declared_hooks({"hooks": {event: [group]}}, WHERE)


def test_nothing_is_declared() -> None:
    for values in ({}, {"hooks": {}}, {"hooks": None}, {"hooks": {"Stop": []}}):
        assert declared_hooks(values, WHERE) == ()


def test_a_whole_declaration() -> None:
    (entry,) = declared(
        args=["-x", "y"],
        timeout=5,
        fail_closed=True,
        statusMessage="checking",
        **{"async": True, "if": "Bash(git push:*)"},
    )
    assert entry == HookEntry(
        "PreToolUse",
        "check",
        ("-x", "y"),
        "Bash",
        "Bash(git push:*)",
        5.0,
        fail_closed=True,
        beside=True,
        label="checking",
        origin=WHERE,
    )
    assert entry.name == "checking"
    assert declared(failClosed=True)[0].fail_closed
    (plain,) = declared()
    assert (plain.seconds, plain.args, plain.fail_closed, plain.name) == (
        None,
        None,
        False,
        "check",
    )
    assert declared(args=["a"])[0].name == "check a"


def test_order_and_groups_stay() -> None:
    def group(*commands: str) -> dict[str, Any]:
        return {"hooks": [{"type": "command", "command": command} for command in commands]}

    table = {"Stop": [group("a", "b"), group("c")], "SessionEnd": [group("d")]}
    entries = declared_hooks({"hooks": table}, WHERE)
    assert [(e.event, e.command) for e in entries] == [
        ("Stop", "a"), ("Stop", "b"), ("Stop", "c"), ("SessionEnd", "d"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hooks", "complaint"),
    [
        ([], None),
        (5, "hooks must be an object"),
        ({"Stop": {}}, r"hooks\.Stop must be a list"),
        ({"Stop": [5]}, r"hooks\.Stop\[0\] must be an object"),
        ({"Stop": [{}]}, r"hooks\.Stop\[0\]\.hooks must be a list"),
        ({"Stop": [{"hooks": [5]}]}, r"hooks\.Stop\[0\]\.hooks\[0\] must be an object"),
        ({"Stop": [{"hooks": [{}]}]}, "type is command, not ''"),
        ({"Stop": [{"hooks": [{"type": "shell"}]}]}, "type is command, not 'shell'"),
        ({"Stop": [{"hooks": [{"type": "command"}]}]}, "needs a command"),
        ({"Stop": [{"hooks": [{"type": "command", "command": 5}]}]}, "command must be a string"),
        ({"Stop": [{"matcher": 5, "hooks": []}]}, "matcher must be a string"),
    ],
)
def test_a_bad_entry_is_named_with_its_place(hooks: Any, complaint: str | None) -> None:
    if complaint is None:
        assert declared_hooks({"hooks": hooks}, WHERE) == ()
        return
    with pytest.raises(BadInput, match=f"^{WHERE}: .*{complaint}"):
        declared_hooks({"hooks": hooks}, WHERE)


@pytest.mark.parametrize(
    ("matcher", "handler", "complaint"),
    [
        ("(", {}, "no regular expression"),
        ("Bash", {"timeout": "5"}, "timeout is a number"),
        ("Bash", {"timeout": 0}, "timeout is a number"),
        ("Bash", {"timeout": True}, "timeout is a number"),
        ("Bash", {"args": "x"}, "args must be a list"),
        ("Bash", {"fail_closed": "yes"}, "fail_closed is true or false"),
        ("Bash", {"async": 1}, "async is true or false"),
        ("Bash", {"if": "Bash("}, "if: "),
    ],
)
def test_a_bad_field_is_named(matcher: str, handler: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=rf"hooks\.PreToolUse\[0\].*{complaint}"):
        declared(matcher=matcher, **handler)


def test_a_rule_chooses_among_calls_only() -> None:
    with pytest.raises(BadInput, match="Stop is none"):
        declared("Stop", **{"if": "Bash"})


def test_what_will_not_run_is_named() -> None:
    entries = declared_hooks(
        {
            "hooks": {
                "Stop": [{"hooks": [{"type": "http", "url": "x"}, {"type": "prompt"}]}],
                "TeammateIdle": [{"hooks": [{"type": "command", "command": "x"}]}],
                "PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}],
            }
        },
        WHERE,
    )
    assert not_run(entries) == [
        f"{WHERE}: a Stop hook of type http is not run",
        f"{WHERE}: a Stop hook of type prompt is not run",
        f"{WHERE}: hooks for TeammateIdle are never called",
    ]


def test_the_if_of_a_group_is_that_of_all_its_hooks() -> None:
    hooks = [{"type": "command", "command": name} for name in "ab"]
    group = {"if": "Bash(git push:*)", "hooks": hooks}
    entries = declared_hooks({"hooks": {"PreToolUse": [group]}}, WHERE)
    assert [entry.only_if for entry in entries] == ["Bash(git push:*)"] * 2
    with pytest.raises(BadInput, match=r"hooks\.Stop\[0\]: `if` is for hooks about calls"):
        declared_hooks({"hooks": {"Stop": [group]}}, WHERE)
    hooks[0]["if"] = "Bash"
    with pytest.raises(BadInput, match="`if` stands both here and in one of its hooks"):
        declared_hooks({"hooks": {"PreToolUse": [group]}}, WHERE)


def test_a_key_that_nobody_reads_is_named_with_its_place() -> None:
    handler = {"type": "command", "command": "x", "timout": 5, "description": "mine"}
    other = {"type": "http", "url": "http://x"}
    table = {"PreToolUse": [{"macher": "Bash", "hooks": [handler, other]}], "Stop": [{"hooks": []}]}
    values = {"hooks": table}
    assert len(declared_hooks(values, WHERE)) == 2
    place = f"{WHERE}: hooks.PreToolUse[0]"
    assert unread_keys(values, WHERE) == [
        f"{place}: macher is not known, and does nothing; did you mean matcher?",
        f"{place}.hooks[0]: timout is not known, and does nothing; did you mean timeout?",
    ]
    assert unread_keys({}, WHERE) == []
