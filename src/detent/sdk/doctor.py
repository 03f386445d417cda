"""Whether everything here works that was asked for, found out by trying."""

import os
import sys

from msgspec import Struct
from msgspec.structs import replace

from detent.app.grounds import Grounds, grounds_of, working_folder
from detent.app.options import Options
from detent.app.settings.sources import Where, places, where_of
from detent.types.errors import BadInput
from detent.types.version import VERSION


class SettingsFile(Struct, frozen=True):
    level: str
    """user, project, local or managed."""
    path: str


class Promised(Struct, frozen=True):
    promise: str
    text: str
    held: dict[str, bool]
    """By backend: whether trying to break it has failed."""
    details: dict[str, str] = {}
    """By backend: what got through, or why it could not be tried."""


class SandboxHealth(Struct, frozen=True):
    wanted: str
    chosen: str
    """bwrap, landlock, or none."""
    profile: str
    promises: tuple[Promised, ...]
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    hint: str = ""
    """How to get a better one."""


class Health(Struct, frozen=True):
    version: str
    python: str
    platform: str
    folder: str
    settings: tuple[SettingsFile, ...] = ()
    is_trusted: bool = False
    changed: tuple[str, ...] = ()
    """What in its files is not as it was when the user trusted it."""
    sandbox: SandboxHealth | None = None
    """None where the settings could not be read."""
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What was asked for and does not work."""


async def examine(options: Options | None = None) -> Health:
    options = options or Options()
    environ = os.environ if options.environ is None else options.environ
    cwd = working_folder(options.cwd)
    where = where_of(cwd, environ, options.managed_folders)
    python = sys.version.split()[0]
    health = Health(VERSION, python, _platform(), cwd, _settings_files(where))
    try:
        grounds = grounds_of(options)
        sandbox, trouble = await _sandbox(grounds)
    except BadInput as error:
        return replace(health, problems=(str(error),))
    return replace(
        health,
        is_trusted=grounds.is_trusted,
        changed=grounds.settings.changed,
        sandbox=sandbox,
        notices=grounds.settings.notices,
        problems=(trouble,) if trouble else (),
    )


def _settings_files(where: Where) -> tuple[SettingsFile, ...]:
    managed = (os.path.join(folder, "managed-settings.json") for folder in where.managed)
    known = [(place.name, place.path) for place in places(where)]
    known += [("managed", path) for path in managed]
    return tuple(SettingsFile(level, path) for level, path in known if os.path.exists(path))


async def _sandbox(grounds: Grounds) -> tuple[SandboxHealth, str]:
    """Tried anew, whatever is remembered; and what is wrong with it."""
    from detent.app.sandboxing import wishes_of
    from detent.host.sandbox.choosing import ORDER, all_proven, hint
    from detent.host.sandbox.promises import PROMISES, Probe, holds, trouble

    wishes, probes = wishes_of(grounds), await all_proven()
    by: dict[str, tuple[Probe, ...]] = {
        backend: tuple(probe for probe in probes if probe.backend == backend) for backend in ORDER
    }
    wanted = wishes.backend
    candidates = ORDER if wanted == "auto" else () if wanted == "off" else (wanted,)
    working = [backend for backend in candidates if holds(by[backend])]
    health = SandboxHealth(
        wanted,
        working[0] if working else "none",
        wishes.profile,
        tuple(
            Promised(
                promise,
                text,
                {probe.backend: probe.held for probe in probes if probe.promise == promise},
                {p.backend: p.detail for p in probes if p.promise == promise and p.detail},
            )
            for promise, text in PROMISES.items()
        ),
        wishes.allowed_domains,
        wishes.denied_domains,
        hint(),
    )
    if working or not wishes.is_required:
        return health, ""
    reason = "; ".join(f"{backend}: {trouble(by[backend])}" for backend in candidates)
    return health, f"the sandbox that is asked for does not work: {reason}"


def _platform() -> str:
    if not hasattr(os, "uname"):
        return sys.platform
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"
