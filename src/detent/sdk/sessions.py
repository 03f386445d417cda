"""The sessions on this machine."""

import os
from collections.abc import Mapping

from detent.app.places import detent_home
from detent.session.store import SessionCard, Store


def sessions_of(
    cwd: str = "", *, everywhere: bool = False, environ: Mapping[str, str] | None = None
) -> list[SessionCard]:
    """Newest first; of one folder (the current one by default), or of all."""
    environ = os.environ if environ is None else environ
    folder = os.path.realpath(cwd or os.getcwd())
    return Store(detent_home(environ)).cards(None if everywhere else folder)
