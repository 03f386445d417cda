"""The sessions on this machine: listed, found, shown, named and deleted."""

import os
from collections.abc import Mapping, Sequence

from detent.app.places import detent_home
from detent.app.sessions import finding
from detent.app.sessions.finding import Several
from detent.app.sessions.records import Deleted, Overview, TurnView
from detent.session.facts import SessionCard
from detent.session.index.searching import Hit

__all__ = [
    "Deleted", "Hit", "Overview", "SessionCard", "Several", "TurnView", "delete_sessions",
    "log_of", "name_session", "reindex", "resolve", "search_sessions", "sessions_of",
    "show_session",
]  # fmt: skip

MOST_HITS = 20


def sessions_of(
    cwd: str = "", *, everywhere: bool = False, environ: Mapping[str, str] | None = None
) -> list[SessionCard]:
    """Newest first; of one folder (the current one by default), or of all."""
    return finding.cards(_home(environ), None if everywhere else _folder(cwd))


def search_sessions(
    words: str,
    *,
    cwd: str = "",
    most: int = MOST_HITS,
    environ: Mapping[str, str] | None = None,
) -> list[Hit]:
    """Where these words stand, in all sessions or in those of one folder; the best first. All of
    them must be there, each may go on; what is in quotes must be there as it is. Raises BadInput
    when there is nothing to look for."""
    return finding.hits(_home(environ), words, most, _folder(cwd) if cwd else None)


def resolve(
    wanted: str,
    *,
    cwd: str = "",
    by_words: bool = True,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The id of a session: by the beginning of it, by the session's name, or by words that only
    this session holds. Raises `Several` when more than one is meant, and BadInput."""
    path = log_of(wanted, cwd=cwd, by_words=by_words, environ=environ)
    return os.path.basename(path).removesuffix(".jsonl")


def log_of(
    wanted: str,
    *,
    cwd: str = "",
    by_words: bool = True,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The file of a session, found in the same way: an id may be in several folders."""
    return finding.find(_home(environ), _folder(cwd), wanted, by_words=by_words)


def show_session(
    wanted: str, *, cwd: str = "", environ: Mapping[str, str] | None = None
) -> Overview:
    """Raises BadInput."""
    from detent.app.options import Options
    from detent.app.sessions.overview import overview

    return overview(Options(cwd=cwd, environ=environ), wanted)


def name_session(
    wanted: str, name: str, *, cwd: str = "", environ: Mapping[str, str] | None = None
) -> str:
    """The name as it is kept; an empty one takes away the one there is. Raises BadInput."""
    from detent.app.sessions import naming

    home = _home(environ)
    return naming.name_session(home, finding.find(home, _folder(cwd), wanted), name)


def delete_sessions(
    cards: Sequence[SessionCard], *, environ: Mapping[str, str] | None = None
) -> Deleted:
    """With their outputs, and what no other session needs. One that is in use stays."""
    from detent.app.sessions.deleting import delete

    return delete(_home(environ), cards)


def reindex(environ: Mapping[str, str] | None = None) -> int:
    """Makes the index anew from the logs; gives how many sessions it holds. Never needed, but
    where one doubts it. Raises OSError."""
    from detent.session.index.opening import discard

    home = _home(environ)
    if os.path.isdir(home):
        discard(home)
    return len(finding.cards(home))


def _home(environ: Mapping[str, str] | None) -> str:
    return detent_home(os.environ if environ is None else environ)


def _folder(cwd: str) -> str:
    return os.path.realpath(cwd or os.getcwd())
