"""Who may say what of the sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.settings.sandbox import SandboxWishes, sandbox_wishes
from detent.types.errors import BadInput

FILE = "/p/.detent/settings.json"
WIDE = {
    "enabled": False,
    "mode": "off",
    "autoAllowBashIfSandboxed": True,
    "allowUnsandboxedCommands": True,
    "excludedCommands": ["docker *"],
    "filesystem": {"allowWrite": ["/srv/x"], "allowRead": ["/srv/y"]},
    "network": {
        "allowedDomains": ["pypi.org"],
        "allowUnixSockets": ["/run/docker.sock"],
        "allowAllUnixSockets": True,
    },
}
TIGHT = {
    "enabled": True,
    "profile": "read-only",
    "failIfUnavailable": True,
    "autoAllowBashIfSandboxed": False,
    "filesystem": {"denyWrite": ["keep"], "denyRead": ["~/private"]},
    "network": {"deniedDomains": ["evil.net"]},
}


def wishes(
    sandbox: Any,
    old: SandboxWishes | None = None,
    *,
    is_project: bool = False,
    trusted: bool = False,
) -> tuple[SandboxWishes, tuple[str, ...]]:
    values = {"sandbox": sandbox}
    old = old or SandboxWishes()
    return sandbox_wishes(values, FILE, old, is_project=is_project, trusted=trusted)


def test_without_a_word_it_is_on_where_it_can_be() -> None:
    old = SandboxWishes()
    assert sandbox_wishes({}, FILE, old, is_project=False, trusted=False) == (old, ())
    assert old.backend == "auto"
    assert not (old.is_required or old.auto_allow or old.allow_unsandboxed)


def test_the_user_may_say_everything() -> None:
    assert wishes(WIDE) == (
        SandboxWishes(
            enabled=False,
            mode="off",
            auto_allow=True,
            allow_unsandboxed=True,
            excluded_commands=("docker *",),
            allow_write=("/srv/x",),
            allow_read=("/srv/y",),
            allowed_domains=("pypi.org",),
            unix_sockets=("/run/docker.sock",),
            all_unix_sockets=True,
        ),
        (),
    )


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_may_always_make_it_tighter(trusted: bool) -> None:
    old = SandboxWishes(enabled=False, auto_allow=True, deny_read=("/a",))
    found, notices = wishes(TIGHT, old, is_project=True, trusted=trusted)
    assert notices == ()
    assert found == SandboxWishes(
        enabled=True,
        profile="read-only",
        fail_if_unavailable=True,
        deny_write=("keep",),
        deny_read=("/a", "~/private"),
        denied_domains=("evil.net",),
    )


def test_a_stranger_widens_nothing_and_it_is_said() -> None:
    found, notices = wishes(WIDE, is_project=True)
    assert found == SandboxWishes()
    told = " ".join(notices)
    for key in ("enabled", "mode", "excludedCommands", "allowUnsandboxedCommands",
                "network.allowUnixSockets", "network.allowAllUnixSockets",
                "autoAllowBashIfSandboxed", "filesystem.allowWrite", "filesystem.allowRead",
                "network.allowedDomains"):  # fmt: skip
        assert f"sandbox.{key}" in told
    assert FILE in notices[0] and FILE in notices[1]


def test_a_stranger_does_not_loosen_the_profile() -> None:
    old = SandboxWishes(profile="read-only")
    assert wishes({"profile": "workspace-write"}, old, is_project=True)[0] == old


def test_a_trusted_project_widens_the_inside_and_never_goes_around() -> None:
    found, notices = wishes(WIDE, is_project=True, trusted=True)
    assert found == SandboxWishes(
        auto_allow=True,
        allow_write=("/srv/x",),
        allow_read=("/srv/y",),
        allowed_domains=("pypi.org",),
    )
    assert len(notices) == 1 and "only you" in notices[0]


@pytest.mark.parametrize("path", ["/", "~", "~/", "/**", "~/.."])
def test_no_project_makes_all_that_is_the_users_writable(path: str) -> None:
    wide = {"filesystem": {"allowWrite": [path]}}
    found, notices = wishes(wide, is_project=True, trusted=True)
    assert found.allow_write == () and "allowWrite" in notices[0]
    assert wishes(wide)[0].allow_write == (path,)


@pytest.mark.parametrize("is_project", [True, False])
@pytest.mark.parametrize(
    ("sandbox", "key"),
    [
        ([], "sandbox"),
        ({"enabled": "no"}, "sandbox.enabled"),
        ({"mode": "docker"}, "sandbox.mode"),
        ({"profile": "open"}, "sandbox.profile"),
        ({"allowUnsandboxedCommands": 1}, "sandbox.allowUnsandboxedCommands"),
        ({"excludedCommands": "docker"}, "sandbox.excludedCommands"),
        ({"filesystem": []}, "filesystem"),
        ({"filesystem": {"denyRead": "x"}}, "sandbox.filesystem.denyRead"),
        ({"network": {"allowedDomains": [1]}}, "sandbox.network.allowedDomains"),
        ({"network": {"allowedDomains": ["https://x.org"]}}, "sandbox.network.allowedDomains"),
        ({"network": {"deniedDomains": ["a b"]}}, "sandbox.network.deniedDomains"),
    ],
)
def test_a_fault_is_named_with_file_and_key(sandbox: Any, key: str, is_project: bool) -> None:
    with pytest.raises(BadInput) as caught:
        wishes(sandbox, is_project=is_project)
    assert FILE in str(caught.value) and key in str(caught.value)


def test_patterns_are_named_because_no_system_holds_them() -> None:
    _, notices = wishes({"filesystem": {"denyRead": ["**/.env", "/a/**"]}})
    assert len(notices) == 1 and "**/.env" in notices[0] and "/a/**" not in notices[0]


def test_keys_of_others_are_passed_over() -> None:
    assert wishes({"bwrapPath": 3, "network": {"httpProxyPort": 8080}}) == (SandboxWishes(), ())


@pytest.mark.parametrize(
    ("sandbox", "required"),
    [
        ({"enabled": True}, False),
        ({"failIfUnavailable": True}, True),
        ({"enabled": False, "failIfUnavailable": True}, False),
        ({"mode": "landlock"}, True),
        ({"mode": "off", "failIfUnavailable": True}, False),
    ],
)
def test_when_nothing_starts_without_it(sandbox: Any, required: bool) -> None:
    assert wishes(sandbox)[0].is_required is required
