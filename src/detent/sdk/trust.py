"""Trust in a folder: what its files would do, and the user's word on it."""

import os
from collections.abc import Mapping

from detent.app.grounds import working_folder
from detent.app.options import Options
from detent.app.places import detent_home
from detent.app.settings.sources import where_of
from detent.app.trust.findings import Asking, Wish, WouldRun
from detent.app.trust.findings import trust as _trust
from detent.app.trust.findings import what_would_run as _what_would_run
from detent.app.trust.store import Damaged, folders, forget
from detent.types.errors import BadInput

__all__ = [
    "Asking",
    "Wish",
    "WouldRun",
    "distrust",
    "trust",
    "trusted_folders",
    "waits_for_trust",
    "what_would_run",
]


def what_would_run(folder: str = "", environ: Mapping[str, str] | None = None) -> WouldRun:
    """Nothing of the folder is run to find out. Raises BadInput."""
    return _what_would_run(working_folder(folder), os.environ if environ is None else environ)


def waits_for_trust(options: Options) -> WouldRun | None:
    """What the project's files would do, where something of it takes a trust that nobody has given.
    Raises BadInput."""
    from detent.app.grounds import grounds_of

    grounds = grounds_of(options)
    if grounds.is_trusted or not grounds.settings.is_stranger:
        return None
    return _what_would_run(grounds.cwd, grounds.environ)


def trust(shown: WouldRun) -> None:
    """For good: what was shown, as it was shown. Raises BadInput."""
    try:
        _trust(shown)
    except (OSError, Damaged) as error:
        raise _not_stored(error) from None


def trusted_folders(environ: Mapping[str, str] | None = None) -> dict[str, bool]:
    """Those trusted for good, and whether what is there now still is the folder that was meant."""
    try:
        return folders(detent_home(os.environ if environ is None else environ))
    except Damaged as error:
        raise BadInput(str(error)) from None


def distrust(folder: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether there was anything to take back."""
    environ = os.environ if environ is None else environ
    real = os.path.realpath(folder or ".")
    root = os.path.realpath(where_of(real, environ).root)
    try:
        home = detent_home(environ)
        return forget(home, root) or forget(home, real)
    except (OSError, Damaged) as error:
        raise _not_stored(error) from None


def _not_stored(error: Exception) -> BadInput:
    if not isinstance(error, OSError):
        return BadInput(f"trust could not be stored: {error}")
    place = f" ({error.filename})" if error.filename else ""
    return BadInput(f"trust could not be stored: {error.strerror or error}{place}")
