"""Options for a look at what lies on disk around a session that is open: its folder, home and
settings, without what makes it a session of its own."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from detent.app.options import Options

if TYPE_CHECKING:
    from detent.sdk.session import Session

__all__ = ["options_around"]


def options_around(session: "Session") -> Options:
    options = session.options
    return Options(
        model=options.model if isinstance(options.model, str) else "",
        cwd=session._engine.grounds.cwd,
        settings=_readable(options.settings),
        setting_sources=options.setting_sources,
        managed_folders=options.managed_folders,
        environ=options.environ,
        permission_mode=options.permission_mode,
        sandbox=options.sandbox,
        trust=options.trust,
    )


def _readable(settings: Mapping[str, Any] | str | None) -> Mapping[str, Any] | str | None:
    """A pipe that was named on the command line is read by now, and would never end."""
    is_gone = isinstance(settings, str) and not os.path.isfile(settings)
    return None if is_gone else settings
