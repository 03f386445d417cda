"""Settings of the machine's owner: the strongest, and some that only they can make."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from detent.app.wire import assemble
from detent.ports import Admitted, Answer, Proposal, Question
from detent.types.content import Call
from detent.types.effects import Runs
from detent.types.errors import BadInput
from detent.types.verdicts import Allow, Ask, Deny

from .conftest import Disk, texts

MANAGED = "etc/managed-settings.json"


def test_they_win_over_everything(disk: Disk) -> None:
    disk.put(MANAGED, {"model": "theirs", "permissions": {"defaultMode": "plan"}})
    merged = disk.merged(extra={"model": "flag", "permissions": {"defaultMode": "acceptEdits"}})
    assert (merged.model, merged.mode) == ("theirs", "plan")


def test_they_are_read_whichever_sources_are_wanted(disk: Disk) -> None:
    disk.put(MANAGED, {"permissions": {"deny": ["Bash(a:*)"]}})
    assert texts(disk.merged(wanted=()).deny) == ("Bash(a:*)",)
    assert disk.verdict("a", setting_sources=(), permission_mode="bypassPermissions") is Deny


def test_no_variable_moves_them(disk: Disk) -> None:
    """It would be the way around them."""
    disk.put(MANAGED, {"permissions": {"deny": ["Bash(a:*)"]}})
    disk.environ |= {"DETENT_HOME": "/nowhere", "CLAUDE_CONFIG_DIR": "/nowhere", "HOME": "/nowhere"}
    disk.environ |= {"XDG_CONFIG_DIRS": "/nowhere", "XDG_CONFIG_HOME": "/nowhere"}
    assert texts(disk.merged().deny) == ("Bash(a:*)",)


def test_bypassing_can_be_forbidden_in_every_way(disk: Disk) -> None:
    disk.put(MANAGED, {"permissions": {"disableBypassPermissionsMode": "disable"}})
    with pytest.raises(BadInput, match="disableBypassPermissionsMode"):
        assemble(disk.options(permission_mode="bypassPermissions"))
    disk.put("state/settings.json", {"permissions": {"defaultMode": "bypassPermissions"}})
    engine = assemble(disk.options())
    assert engine.gate.mode == "default"
    assert any("bypassPermissions is ignored" in notice for notice in engine.notices)
    with pytest.raises(BadInput, match="disableBypassPermissionsMode"):
        engine.set_mode("bypassPermissions")
    assert engine.gate.mode == "default"


def test_an_answer_cannot_bypass_either(disk: Disk) -> None:
    async def switched() -> tuple[str, str]:
        engine = assemble(disk.options())
        first = await engine.shop.switch_mode("bypassPermissions")
        second = await engine.shop.switch_mode("acceptEdits")
        await engine.aclose()
        return first, second

    disk.put(MANAGED, {"permissions": {"disableBypassPermissionsMode": "disable"}})
    assert asyncio.run(switched()) == ("default", "acceptEdits")


def test_a_project_cannot_take_the_bypass_away(disk: Disk) -> None:
    values = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    disk.put("work/.claude/settings.json", values)
    assert not disk.merged(trusted=True).no_bypass
    disk.put("state/settings.json", values)
    assert disk.merged(trusted=True).no_bypass


def test_rules_that_allow_can_be_for_them_alone(disk: Disk) -> None:
    values = {"permissions": {"allow": ["Bash(a:*)"], "deny": ["Bash(b:*)"]}}
    for place in ("state/settings.json", "work/.claude/settings.json"):
        disk.put(place, values)
    only = {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(c:*)"]}}
    disk.put(MANAGED, only)
    merged = disk.merged(trusted=True)
    assert texts(merged.allow) == ("Bash(c:*)",)
    assert texts(merged.deny) == ("Bash(b:*)", "Bash(b:*)"), "restrictions still count"
    assert disk.verdict("d", trust=True, allowed_tools=("Bash(d:*)",)) is Ask
    assert disk.verdict("c", trust=True) is Allow
    disk.put(MANAGED, "")
    disk.put("state/settings.json", only)
    assert not disk.merged(trusted=True).managed_rules_only, "no one else can say so"


@pytest.mark.parametrize("place", ["state/settings.json", MANAGED])
@pytest.mark.parametrize(("mode", "folder_mode"), [(0o666, 0o755), (0o644, 0o777)])
def test_a_file_that_others_can_write_only_restricts(
    disk: Disk, place: str, mode: int, folder_mode: int
) -> None:
    permissions = {"allow": ["Bash(a:*)"], "deny": ["Bash(b:*)"], "defaultMode": "acceptEdits"}
    values = {
        "permissions": permissions,
        "apiKeyHelper": "steal",
        "trustedFolders": [disk.cwd],
        "allowManagedPermissionRulesOnly": True,
    }
    path = disk.put(place, values)
    os.chmod(path, mode)
    os.chmod(os.path.dirname(path), folder_mode)
    merged = disk.merged(trusted=True)
    assert (merged.allow, merged.mode, merged.key_helper) == ((), "", "")
    assert (texts(merged.deny), merged.trusted_folders) == (("Bash(b:*)",), ())
    assert not merged.managed_rules_only
    assert path in merged.notices[0] and "can be written by other users" in merged.notices[0]


def test_a_file_that_belongs_to_somebody_else_only_restricts(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = disk.put("state/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert disk.merged().allow
    mine, real = os.getuid(), os.fstat

    class Strange:
        def __init__(self, facts: os.stat_result) -> None:
            self._facts = facts
            self.st_uid = mine + 1000

        def __getattr__(self, name: str) -> object:
            return getattr(self._facts, name)

    monkeypatch.setattr(os, "fstat", lambda descriptor: Strange(real(descriptor)))
    merged = disk.merged()
    assert not merged.allow
    assert merged.notices == (
        f"{path} belongs to another user, so others could have written it; "
        "ignored there: permissions.allow",
    )


@pytest.mark.parametrize("scope", ["session", "local"])
def test_where_they_alone_allow_no_answer_brings_a_rule(disk: Disk, scope: Any) -> None:
    disk.put(MANAGED, {"allowManagedPermissionRulesOnly": True})

    async def body() -> type:
        engine = assemble(disk.options())
        make = bash("make")
        answer = Answer(True, rules=("Bash(make)",), denies=("Bash(rm:*)",), scope=scope)
        assert isinstance(await engine.gate.admit(make, lambda given: make, Says(answer)), Admitted)
        assert isinstance(engine.gate.judge(bash("rm x")), Deny), "what restricts counts"
        await engine.aclose()
        return type(engine.gate.judge(make))

    assert asyncio.run(body()) is Ask


class Says:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def ask(self, question: Question) -> Answer:
        return self._answer


def bash(command: str) -> Proposal:
    return Proposal(Call("c", "Bash", ""), "Bash", {}, (Runs(command),))
