"""Whether a file of a project may do more than restrict."""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from detent.app.settings.record import Source
from detent.app.settings.sources import Where
from detent.app.settings.values import texts
from detent.app.trust.parts import differing, digests
from detent.app.trust.store import Agreed, Damaged, agreed


def with_trust(
    sources: Sequence[Source], where: Where, user: str
) -> tuple[list[Source], tuple[str, ...]]:
    """The sources, each with what the user has agreed to; and what is to be said about it."""
    if is_named(where, _named(sources), user):
        return [_trusted(source) for source in sources], ()
    known, notes = _agreed(where)
    return [_compared(source, known) for source in sources], notes


def is_trusted_folder(where: Where, named: Sequence[str], user: str) -> bool:
    return is_named(where, named, user) or _agreed(where)[0].is_trusted


def is_named(where: Where, named: Sequence[str], user: str) -> bool:
    """Whether `trustedFolders` of the user's own settings hold the project: it or one above."""
    for folder in named:
        full = os.path.join(user, folder[2:]) if f"{folder}/".startswith("~/") else folder
        if os.path.isabs(full):
            above = os.path.realpath(full).rstrip("/") + "/"
            if f"{os.path.realpath(where.root)}/".startswith(above):
                return True
    return False


def _named(sources: Sequence[Source]) -> tuple[str, ...]:
    return tuple(
        folder
        for source in sources
        if not source.is_project and source.name in ("user", "managed")
        for folder in texts(source.values, "trustedFolders", source.path)
    )


def _agreed(where: Where) -> tuple[Agreed, tuple[str, ...]]:
    """What lies in the project says nothing about whether it is trusted."""
    if not where.is_ours:
        return Agreed(), ()
    try:
        return agreed(where.home, os.path.realpath(where.root)), ()
    except Damaged as error:
        return Agreed(), (f"{error}; no folder counts as trusted",)


def _trusted(source: Source) -> Source:
    return replace(source, is_trusted=True) if source.is_project else source


def _compared(source: Source, known: Agreed) -> Source:
    if not source.is_project or source.doubt:
        return source
    now, then = digests(source.values), known.files.get(os.path.realpath(source.path))
    if then is None or not now:
        return source
    if then == now:
        return _trusted(source)
    return replace(source, changed=differing(then, now))
