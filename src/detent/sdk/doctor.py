"""Whether everything here works that was asked for, found out by trying.

Each check is a file in `health/`; here they are put together. All look at once, none of them
raises, and none waits for long.
"""

import asyncio
import os
import sys

from msgspec import Struct

from detent.app.grounds import Grounds, grounds_of, working_folder
from detent.app.options import Options
from detent.app.settings.sources import where_of
from detent.sdk.health import (
    git,
    languages,
    mcp,
    memory,
    model,
    python,
    ripgrep,
    sandbox,
    settings,
    store,
    terminal,
)
from detent.sdk.health.record import Check, Place, State
from detent.sdk.health.running import Look, look_at_all
from detent.sdk.health.sandbox import Promised, SandboxHealth
from detent.types.errors import BadInput
from detent.types.version import VERSION

__all__ = ["Check", "Health", "Promised", "SandboxHealth", "SettingsFile", "State", "examine"]

LOOKS: dict[str, Look] = {
    "python": python.look,
    "model": model.look,
    "git": git.look,
    "ripgrep": ripgrep.look,
    "terminal": terminal.look,
    "settings": settings.look,
    "memory": memory.look,
    "languages": languages.look,
    "mcp": mcp.look,
    "sessions": store.look,
}
"""In the order in which they are told; the sandbox comes last."""


class SettingsFile(Struct, frozen=True):
    level: str
    """user, project, local or managed."""
    path: str


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
    checks: tuple[Check, ...] = ()
    """Everything that was looked at; of one name there may be several."""


async def examine(options: Options | None = None) -> Health:
    """Raises BadInput where there is no folder to look at."""
    options = options or Options()
    environ = os.environ if options.environ is None else options.environ
    cwd = working_folder(options.cwd)
    where = where_of(cwd, environ, options.managed_folders)
    grounds, fault = _grounds(options)
    place = Place(options, environ, cwd, where, grounds, fault)
    checks, (held, of_sandbox) = await asyncio.gather(
        look_at_all(LOOKS, place), sandbox.look(grounds)
    )
    checks = (*checks, of_sandbox)
    return Health(
        version=VERSION,
        python=sys.version.split()[0],
        platform=_platform(),
        folder=cwd,
        settings=tuple(SettingsFile(*file) for file in settings.settings_files(where)),
        is_trusted=grounds is not None and grounds.is_trusted,
        changed=grounds.settings.changed if grounds else (),
        sandbox=held,
        notices=grounds.settings.notices if grounds else (),
        problems=tuple(check.text for check in checks if check.state == "problem"),
        checks=checks,
    )


def _grounds(options: Options) -> tuple[Grounds | None, str]:
    """And why there are none."""
    try:
        return grounds_of(options), ""
    except BadInput as error:
        return None, str(error)


def _platform() -> str:
    if not hasattr(os, "uname"):
        return sys.platform
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"
