"""What the settings say of the sandbox. A project may always make it tighter, and a trusted one may
widen what lies inside it; switching it off, or going around it, is for the user alone."""

import os
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.app.settings.values import Values, one_of, switch, table, texts
from detent.types.errors import BadInput

Mode = Literal["auto", "bwrap", "landlock", "off"]
Profile = Literal["workspace-write", "read-only"]
MODES: tuple[Mode, ...] = ("auto", "bwrap", "landlock", "off")
PROFILES: tuple[Profile, ...] = ("workspace-write", "read-only")

SWITCHES = {
    "sandbox.enabled": "enabled",
    "sandbox.failIfUnavailable": "fail_if_unavailable",
    "sandbox.autoAllowBashIfSandboxed": "auto_allow",
    "sandbox.allowUnsandboxedCommands": "allow_unsandboxed",
    "sandbox.network.allowAllUnixSockets": "all_unix_sockets",
}
PATHS = {
    "sandbox.filesystem.allowWrite": "allow_write",
    "sandbox.filesystem.denyWrite": "deny_write",
    "sandbox.filesystem.allowRead": "allow_read",
    "sandbox.filesystem.denyRead": "deny_read",
    "sandbox.network.allowUnixSockets": "unix_sockets",
}
DOMAINS = {
    "sandbox.network.allowedDomains": "allowed_domains",
    "sandbox.network.deniedDomains": "denied_domains",
}
LISTS = {"sandbox.excludedCommands": "excluded_commands", **PATHS, **DOMAINS}
KEYS = ("sandbox.mode", "sandbox.profile", *SWITCHES, *LISTS)

FOR_THE_USER = (
    "sandbox.mode",
    "sandbox.excludedCommands",
    "sandbox.allowUnsandboxedCommands",
    "sandbox.network.allowUnixSockets",
    "sandbox.network.allowAllUnixSockets",
)
"""Ways around the sandbox."""
WITH_TRUST = (
    "sandbox.autoAllowBashIfSandboxed",
    "sandbox.filesystem.allowWrite",
    "sandbox.filesystem.allowRead",
    "sandbox.network.allowedDomains",
)


class SandboxWishes(Struct, frozen=True):
    enabled: bool | None = None
    """None: nobody said."""
    mode: Mode = "auto"
    profile: Profile = "workspace-write"
    fail_if_unavailable: bool = False
    auto_allow: bool = False
    """Commands that a working sandbox holds need no question of their own."""
    excluded_commands: tuple[str, ...] = ()
    """They run outside, after a question."""
    allow_unsandboxed: bool = False
    """The model may ask to run a command outside; somebody is asked each time."""
    allow_write: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    allow_read: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    unix_sockets: tuple[str, ...] = ()
    all_unix_sockets: bool = False

    @property
    def backend(self) -> Mode:
        """What is wanted, all in all."""
        return "off" if self.enabled is False else self.mode

    @property
    def is_required(self) -> bool:
        """Without it nothing shall start."""
        return self.backend in ("bwrap", "landlock") or (
            self.backend == "auto" and self.fail_if_unavailable
        )


def sandbox_wishes(
    values: Values, name: str, old: SandboxWishes, *, is_project: bool, trusted: bool
) -> tuple[SandboxWishes, tuple[str, ...]]:
    """`values` is a whole file. Raises BadInput for what cannot be meant."""
    given = _flat(table(values, "sandbox", name), name)
    if not given:
        return old, ()
    _read(given, name, old)  # a fault is told, whoever wrote it
    notices: tuple[str, ...] = ()
    if is_project:
        notices = _tightened(given, name, trusted=trusted)
    return _read(given, name, old), (*notices, *_globs(given, name))


def _tightened(given: dict[str, Any], name: str, *, trusted: bool) -> tuple[str, ...]:
    """Takes out what a project may not say; tells which that was."""
    loose = [key for key in given if given[key] not in (False, [])]
    refused = [key for key in loose if key in FOR_THE_USER]
    if given.get("sandbox.enabled") is False:
        refused.append("sandbox.enabled")
    wide = [path for path in given.get("sandbox.filesystem.allowWrite", ()) if _holds_home(path)]
    if trusted and wide:
        refused.append("sandbox.filesystem.allowWrite")
    strange = [] if trusted else [key for key in loose if key in WITH_TRUST]
    if not trusted and given.get("sandbox.profile") == "workspace-write":
        strange.append("sandbox.profile")
    for key in (*refused, *strange):
        del given[key]
    notices = []
    if refused:
        notices.append(f"{name}: {', '.join(refused)} ignored; only you can set it")
    if strange:
        notices.append(f"{name}: {', '.join(strange)} ignored until you trust it (--trust)")
    return tuple(notices)


def _holds_home(path: str) -> bool:
    """Who may write all of the user's files is in no sandbox."""
    home = os.path.realpath(os.path.expanduser("~"))
    full = os.path.realpath(os.path.expanduser(path.removesuffix("/**") or "/"))
    return os.path.commonpath((home, full)) == full


def _flat(sandbox: Values, name: str) -> dict[str, Any]:
    """By what people call them; keys that are not ours are left out."""
    found = {f"sandbox.{key}": value for key, value in sandbox.items()}
    for part in ("filesystem", "network"):
        inner = table(sandbox, part, f"{name}: sandbox")
        found |= {f"sandbox.{part}.{key}": value for key, value in inner.items()}
    return {key: value for key, value in found.items() if key in KEYS}


def _read(given: dict[str, Any], name: str, old: SandboxWishes) -> SandboxWishes:
    """Scalars of the file where it has them, lists of all."""
    switches = {
        ours: switch(given, key, name, False) for key, ours in SWITCHES.items() if key in given
    }
    lists = {ours: texts(given, key, name) for key, ours in LISTS.items()}
    for key, ours in DOMAINS.items():
        _check_domains(lists[ours], f"{name}: {key}")
    return replace(
        old,
        mode=one_of(given, "sandbox.mode", MODES, name) or old.mode,
        profile=one_of(given, "sandbox.profile", PROFILES, name) or old.profile,
        **switches,
        **{ours: (*getattr(old, ours), *new) for ours, new in lists.items()},
    )


def _check_domains(entries: tuple[str, ...], name: str) -> None:
    if not entries:
        return
    from detent.host.sandbox.network.allowed import parse_place

    for entry in entries:
        try:
            parse_place(entry)
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from None


def _globs(given: dict[str, Any], name: str) -> tuple[str, ...]:
    """The system holds paths, no patterns: what it cannot do is not promised."""
    odd = [path for key in PATHS for path in given.get(key, ()) if is_pattern(path)]
    if not odd:
        return ()
    return (f"{name}: a sandbox takes paths, no patterns; ignored: {', '.join(odd)}",)


def full_path(path: str, cwd: str, home: str) -> str:
    """Plain paths: absolute, of the home folder, or from where the session began."""
    path = path.removesuffix("/**") or "/"
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return f"/{os.path.normpath(os.path.join(cwd, path)).lstrip('/')}"


def writable_places(
    wishes: SandboxWishes, roots: Sequence[str], cwd: str, home: str
) -> tuple[str, ...]:
    """Where a command that is refused was not refused by the sandbox."""
    own = () if wishes.profile == "read-only" else roots
    paths = (full_path(path, cwd, home) for path in wishes.allow_write if not is_pattern(path))
    return (*own, *map(os.path.realpath, paths))


def is_pattern(path: str) -> bool:
    """A `/**` at the end only says that all of the folder is meant."""
    return any(char in "*?[" for char in path.removesuffix("/**"))
