"""Replaying recorded sessions: the same loop once more, without model, tools, network and clock."""

import os
from collections.abc import Callable, Mapping

from detent.app.places import detent_home
from detent.app.replay.report import Difference, Report
from detent.app.sessions.meant import log_meant
from detent.types.events import Event

__all__ = ["Difference", "Differs", "Report", "log_of", "replay", "verify"]


class Differs(AssertionError):
    """Something came out otherwise than it was recorded; `report` tells what."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report.difference))
        self.report = report


def replay(path: str, show: Callable[[Event], None] | None = None) -> Report:
    """Of a session's log file. `show` gets what happens, as a reader of the session got it. Not to
    be called where an event loop runs: it has its own. Raises BadInput."""
    from detent.app.replay.session import replay

    return replay(path, show)


def verify(path: str) -> Report:
    """For tests: raises Differs at the first difference."""
    report = replay(path)
    if report.difference is not None:
        raise Differs(report)
    return report


def log_of(wanted: str = "", *, cwd: str = "", environ: Mapping[str, str] | None = None) -> str:
    """The log of a session: by its path, its id or name, or the newest of the folder. Raises
    BadInput."""
    if os.path.isfile(wanted):
        return os.path.abspath(wanted)
    home = detent_home(os.environ if environ is None else environ)
    folder = os.path.realpath(cwd or os.getcwd())
    return log_meant(home, folder, wanted)
