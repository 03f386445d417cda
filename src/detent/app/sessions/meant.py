"""Which session somebody means who wants to look at one."""

from detent.session.store import Store
from detent.types.errors import BadInput


def log_meant(home: str, cwd: str, wanted: str) -> str:
    """Its log: the newest of the folder, where nothing is said. Raises BadInput."""
    if wanted:
        from detent.app.sessions.finding import find

        return find(home, cwd, wanted)
    newest = Store(home).newest(cwd)
    if newest is None:
        raise BadInput("no sessions here yet")
    return newest
