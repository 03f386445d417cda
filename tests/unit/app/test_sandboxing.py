"""From what the user wishes to what a sandbox is to hold, and when it is asked for at all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from detent.app.engine import Engine
from detent.app.options import Options
from detent.app.sandboxing import checked, sandbox_of, wishes_of
from detent.app.settings.sandbox import SandboxWishes
from detent.app.wire import assemble
from detent.gate.rules import parse_rule
from detent.host.sandbox import choosing
from detent.host.sandbox.profile import PROTECTED, Profile, SandboxFailed
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput
from detent.types.events import Notice


def engine(folder: Path, wishes: dict[str, Any] | None = None, **options: Any) -> Engine:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (folder / "work").mkdir(exist_ok=True)
    environ = {"HOME": str(home), "DETENT_HOME": str(home / "state")}
    settings = {"sandbox": wishes} if wishes else None
    return assemble(
        Options(
            model=ScriptedModel("ok"),
            cwd=str(folder / "work"),
            environ=environ,
            settings=settings,
            **options,
        )
    )


def profile(made: Engine) -> Profile:
    sandbox = made.shop.confinement.sandbox
    assert sandbox is not None
    return sandbox.profile


def test_the_workspace_is_what_may_be_written(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    made = profile(engine(tmp_path, add_dirs=(str(more),)))
    assert made.roots == (str(tmp_path / "work"), str(more))
    assert made.kind == "workspace-write" and made.writable == ()
    assert made.network == "proxied" and not made.allow_unix_sockets


def test_the_repository_around_the_workspace_is_written(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / ".git" / name).mkdir(parents=True)
    assert profile(engine(tmp_path)).repositories == ()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert profile(engine(tmp_path)).repositories == (str(tmp_path / ".git"),)


def test_secrets_and_our_own_folder_are_hidden(tmp_path: Path) -> None:
    hidden = profile(engine(tmp_path)).denied_reads
    home = tmp_path / "home"
    for name in (".ssh", ".aws", ".gnupg", ".netrc", ".config/gcloud", "state", ".claude.json"):
        assert str(home / name) in hidden
    assert str(home / "state" / "sessions") not in hidden


def test_paths_of_the_settings(tmp_path: Path) -> None:
    filesystem = {
        "allowWrite": ["~/cache", "/srv/x/**", "//srv/y", "build", "no/*/pattern"],
        "denyWrite": ["locked"],
        "denyRead": ["~/private", "notes"],
        "allowRead": ["~/.aws", "~/.config"],
    }
    made = profile(engine(tmp_path, {"filesystem": filesystem, "profile": "read-only"}))
    work, home = str(tmp_path / "work"), str(tmp_path / "home")
    assert made.kind == "read-only"
    assert made.writable == (f"{home}/cache", "/srv/x", "/srv/y", f"{work}/build")
    record = tmp_path / "home" / ".cache" / "detent"
    assert made.protected == (*PROTECTED, f"{work}/locked", str(record))
    assert {f"{home}/private", f"{work}/notes", f"{home}/.ssh"} <= set(made.denied_reads)
    assert not {f"{home}/.aws", f"{home}/.config/gcloud"} & set(made.denied_reads)


def test_what_is_denied_stays_hidden_whatever_else_is_shown(tmp_path: Path) -> None:
    filesystem = {"denyRead": ["~/.aws"], "allowRead": ["~"]}
    made = profile(engine(tmp_path, {"filesystem": filesystem}))
    assert str(tmp_path / "home" / ".aws") in made.denied_reads


def test_sockets_that_are_named_can_be_reached(tmp_path: Path) -> None:
    made = profile(engine(tmp_path, {"network": {"allowUnixSockets": ["/run/docker.sock"]}}))
    assert made.allow_unix_sockets and made.writable == ("/run/docker.sock",)
    assert profile(engine(tmp_path, {"network": {"allowAllUnixSockets": True}})).allow_unix_sockets


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("Read(//etc/private)", "/etc/private"),
        ("Read(~/notes/**)", "{home}/notes"),
        ("Read(/data)", "{work}/data"),
        ("Read(data)", "{work}/data"),
        ("Read(**/data)", None),
        ("Edit(//etc/private)", None),
        ("Read", None),
    ],
)
def test_deny_rules_that_are_paths_are_hidden_too(
    tmp_path: Path, rule: str, path: str | None
) -> None:
    made = engine(tmp_path)
    grounds = made.grounds
    before = sandbox_of(grounds, ())
    after = sandbox_of(grounds, (), deny=[parse_rule(rule, lambda name: name)])
    assert before is not None and after is not None
    more = set(after.profile.denied_reads) - set(before.profile.denied_reads)
    places = {"home": str(tmp_path / "home"), "work": str(tmp_path / "work")}
    assert more == ({path.format(**places)} if path else set())


def test_the_flag_counts_before_any_file(tmp_path: Path) -> None:
    off = {"enabled": False, "allowUnsandboxedCommands": True}
    assert engine(tmp_path, off).shop.confinement.sandbox is None
    assert engine(tmp_path, off, sandbox="auto").shop.confinement.sandbox is not None
    assert engine(tmp_path, {"enabled": True}, sandbox="off").shop.confinement.sandbox is None
    with pytest.raises(BadInput, match="docker"):
        wishes_of(engine(tmp_path, sandbox="docker").grounds)


def test_proofs_are_remembered_in_the_cache(tmp_path: Path) -> None:
    sandbox = engine(tmp_path).shop.confinement.sandbox
    assert sandbox is not None
    assert sandbox._record == str(tmp_path / "home" / ".cache" / "detent" / "sandbox.json")


def outside_is_asked_for(made: Engine, command: str, **arguments: Any) -> bool:
    from msgspec import json

    bash = made.kit.toolbox.find("Bash")
    assert bash is not None
    parsed = bash.parse(json.encode({"command": command, **arguments}).decode())
    (effect,) = bash.effects(parsed, made.cwd)
    return effect.outside  # type: ignore[union-attr]


def test_what_may_go_outside_is_known_when_it_is_judged(tmp_path: Path) -> None:
    asked = {"dangerouslyDisableSandbox": True}
    wide = {"allowUnsandboxedCommands": True, "excludedCommands": ["docker"]}
    assert not outside_is_asked_for(engine(tmp_path), "ls", **asked)
    assert not outside_is_asked_for(engine(tmp_path, {"profile": "read-only"}), "ls", **asked)
    assert outside_is_asked_for(engine(tmp_path, wide), "ls", **asked)
    assert not outside_is_asked_for(engine(tmp_path, wide), "ls")
    assert outside_is_asked_for(engine(tmp_path, wide), "docker ps")
    assert not outside_is_asked_for(engine(tmp_path, wide, sandbox="off"), "ls", **asked)


def begun(made: Engine) -> list[str]:
    """The notices of a session that has begun."""
    heard: list[str] = []

    async def main() -> None:
        made.recorder.attach(lambda event: asyncio.sleep(0), _noting(heard))
        try:
            await made.begin()
            for _ in range(2 if made.shop.confinement.sandbox is not None else 0):
                await made.shop.confinement.sandbox.backend()  # type: ignore[union-attr]
        finally:
            await made.aclose()

    asyncio.run(main())
    return heard


def _noting(heard: list[str]) -> Any:
    def note(event: object) -> None:
        if isinstance(event, Notice):
            heard.append(f"{event.level}: {event.text}")

    return note


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    async def none(wanted: str, record: str) -> str:
        if wanted != "auto":
            raise SandboxFailed(f"The sandbox ({wanted}) does not work here: broken")
        return "none"

    monkeypatch.setattr(choosing, "choose", none)
    monkeypatch.setattr(choosing, "hint", lambda: "Install it.")


@pytest.mark.usefixtures("nothing_works")
@pytest.mark.parametrize(
    ("sandbox", "flag", "why"),
    [
        (None, "bwrap", "broken"),
        (None, "landlock", "broken"),
        ({"mode": "bwrap"}, "", "broken"),
        ({"failIfUnavailable": True}, "", "Install it."),
        ({"failIfUnavailable": True}, "auto", "Install it."),
    ],
)
def test_nothing_starts_without_the_one_that_is_insisted_on(
    tmp_path: Path, sandbox: dict[str, Any] | None, flag: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        begun(engine(tmp_path, sandbox, sandbox=flag))


@pytest.mark.usefixtures("nothing_works")
def test_otherwise_it_is_said_once_and_low(tmp_path: Path) -> None:
    made = engine(tmp_path)
    said = "Commands run without a sandbox: none works here. Install it."
    assert begun(made) == [f"info: {said}"]
    assert begun(engine(tmp_path, {"enabled": True})) == [f"warning: {said}"]
    assert begun(engine(tmp_path, sandbox="off")) == []


@pytest.mark.usefixtures("nothing_works")
def test_a_sandbox_that_does_not_work_is_not_trusted(tmp_path: Path) -> None:
    made = engine(tmp_path, {"autoAllowBashIfSandboxed": True})
    begun(made)
    assert not made.gate.trusts_sandbox


def test_one_that_works_is_trusted_only_if_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works(wanted: str, record: str) -> str:
        return "landlock"

    monkeypatch.setattr(choosing, "choose", works)
    trusting = engine(tmp_path, {"autoAllowBashIfSandboxed": True})
    begun(trusting)
    assert trusting.gate.trusts_sandbox
    plain = engine(tmp_path, {"mode": "landlock"})
    begun(plain)
    assert not plain.gate.trusts_sandbox
    off = engine(tmp_path, {"autoAllowBashIfSandboxed": True}, sandbox="off")
    begun(off)
    assert not off.gate.trusts_sandbox


def test_nothing_is_loaded_for_a_session_that_runs_no_command(tmp_path: Path) -> None:
    made = engine(tmp_path)
    assert made.shop.host.temporary == ""
    assert "sandbox" not in made.shop.confinement.__dict__
    asyncio.run(made.aclose())
    assert "sandbox" not in made.shop.confinement.__dict__


def test_that_landlock_has_no_network_is_said_to_whoever_wants_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    async def works(wanted: str, record: str) -> str:
        return "landlock"

    monkeypatch.setattr(choosing, "choose", works)
    monkeypatch.setattr(choosing, "hint", lambda: "Install it.")
    plain = engine(tmp_path)
    assert begun(plain) == []
    listed = engine(tmp_path, {"network": {"allowedDomains": ["pypi.org"]}})
    (said,) = begun(listed)
    assert said.startswith("warning: No host is reached") and said.endswith("Install it.")


def test_there_is_no_backend_without_a_sandbox() -> None:
    assert asyncio.run(checked(None, SandboxWishes(mode="off"))) == "none"


def test_a_hint_is_told_only_where_nothing_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works(wanted: str, record: str) -> str:
        return "landlock"

    monkeypatch.setattr(choosing, "choose", works)
    assert begun(engine(tmp_path)) == []
