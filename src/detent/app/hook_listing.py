"""The hooks that settings declare: which run in a session, and why others do not."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import asdict

from detent.app.grounds import Grounds
from detent.app.settings.hooks import declared_hooks
from detent.app.settings.record import Source
from detent.app.settings.sources import load_sources
from detent.gate.hooks.entry import HookEntry
from detent.gate.hooks.kinds import KINDS
from detent.types.errors import BadInput


class HookSeen(Struct, frozen=True, omit_defaults=True):
    event: str
    what: str
    """The command, or what its author calls it."""
    path: str
    level: str = ""
    """managed, flag, local, project or user."""
    matcher: str = ""
    only_if: str = ""
    is_beside: bool = False
    """Nobody waits for it."""
    why_not: str = ""
    """Why it does not run; empty when it does."""


class HookListing(Struct, frozen=True):
    hooks: tuple[HookSeen, ...]
    callbacks: dict[str, int]
    """How many functions of the program that runs the session listen, by moment."""


def listing(grounds: Grounds) -> HookListing:
    """As the session has them: a file that was changed since it began counts with the next."""
    sources = _sources(grounds)
    levels = {source.path: source.name for source in sources}
    entries = grounds.settings.hooks
    found = [_seen(entry, levels.get(entry.origin, "flag"), _fault(entry)) for entry in entries]
    known = {entry.origin for entry in entries}
    for source in sources:
        if source.values.get("hooks") and source.path not in known:
            found += _passed_over(source, _why(source, grounds))
    return HookListing(tuple(found), _callbacks(grounds))


def _sources(grounds: Grounds) -> list[Source]:
    """Without what the command line has named: that may be a pipe, and is read by now."""
    options, where = grounds.options, grounds.where
    try:
        sources = load_sources(where, options.setting_sources)
    except BadInput:  # damaged since: what the session goes by is known all the same
        return []
    if options.trust:
        return sources
    from detent.app.trust.deciding import with_trust

    return with_trust(sources, where, grounds.own)[0]


def _passed_over(source: Source, why: str) -> Iterator[HookSeen]:
    try:
        entries = declared_hooks(source.values, source.path)
    except BadInput as error:
        yield HookSeen("?", str(error), source.path, source.name, why_not=why)
        return
    yield from (_seen(entry, source.name, why) for entry in entries)


def _seen(entry: HookEntry, level: str, why_not: str) -> HookSeen:
    return HookSeen(
        entry.event,
        entry.name or f"(of type {entry.kind})",
        entry.origin,
        level,
        entry.matcher,
        entry.only_if,
        entry.beside,
        why_not,
    )


def _fault(entry: HookEntry) -> str:
    if entry.kind != "command":
        return f"hooks of type {entry.kind} are not run"
    return "" if entry.event in KINDS else f"there is no event {entry.event} here"


def _why(source: Source, grounds: Grounds) -> str:
    if source.name in grounds.settings.without_hooks:
        return "hooks of this level are switched off"
    if source.doubt:
        return f"the file {source.doubt}"
    if source.is_project and not source.is_trusted and not grounds.options.trust:
        if source.changed:
            return "the file has changed since you trusted it (detent trust)"
        return "the folder is not trusted (detent trust)"
    return "it was declared after the session had begun"


def _callbacks(grounds: Grounds) -> dict[str, int]:
    given = asdict(grounds.options.hooks)
    return {moment: len(hooks) for moment, hooks in given.items() if hooks}
