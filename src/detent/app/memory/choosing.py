"""Globs of the user and of rules, and what a project's file may import."""

import os
from collections.abc import Callable, Sequence
from re import Pattern

from detent.app.settings.sources import Where
from detent.context.memory.trees import Sheet
from detent.gate.paths import is_secret

Match = Callable[[str], object]
MOST_CHOICES = 20_000
"""Of all rules together: to make each ready takes its time, and a project may have any number."""
MOST_FAULTS = 5
"""Of one rule."""


def _expression(glob: str) -> Pattern[str]:
    """Loaded with the first glob. Raises ValueError for one that is too much."""
    from detent.tools.search.patterns import matcher

    return matcher(glob)


def excluder(globs: Sequence[str], home: str) -> tuple[Callable[[str], bool], list[str]]:
    """Whether `claudeMdExcludes` leave a file out, by its name or by where it really is; and what
    is wrong with them. They match whole paths; one that starts nowhere may start anywhere."""
    matches, faults = list[Match](), list[str]()
    for glob in globs:
        whole = os.path.join(home, glob[2:]) if glob.startswith("~/") else glob
        if not whole.startswith(("/", "**/")):
            whole = f"**/{whole.removeprefix('./')}"
        try:
            matches.append(_expression(whole.removeprefix("/")).fullmatch)
        except ValueError as error:
            faults.append(f"claudeMdExcludes: {glob[:80]!r} counts for nothing: {error}")

    def is_excluded(path: str) -> bool:
        names = {path.removeprefix("/"), os.path.realpath(path).removeprefix("/")}
        return any(match(name) for match in matches for name in names)

    return (is_excluded if matches else lambda path: False), faults


class Globs:
    """Those of all rules, each made ready once."""

    def __init__(self) -> None:
        self._known: dict[str, Match] = {}
        self._room = MOST_CHOICES

    def ready(self, glob: str) -> Match:
        """Raises ValueError for one that is too much, or one too many."""
        if glob not in self._known:
            if self._room <= 0:
                raise ValueError(f"rules have more than {MOST_CHOICES:,} patterns in all")
            expression = _expression(glob)
            self._room -= 1 + expression.pattern.count("|")
            self._known[glob] = expression.fullmatch
        return self._known[glob]


class Scope:
    """The globs of one rule, and whether a file that was touched is one of those it is for."""

    def __init__(self, globs: tuple[str, ...], base: str, known: Globs) -> None:
        self.globs = globs
        self.is_met = False
        self.faults: list[str] = []
        self._base = base.rstrip("/") + "/"
        self._looked = 0
        """How many of the touched paths were compared."""
        self._matches: list[Match] = []
        for glob in globs:
            try:
                self._matches.append(known.ready(glob.removeprefix("./").removeprefix("/")))
            except ValueError as error:
                self.faults.append(f"{glob[:80]!r} counts for nothing: {error}")
        del self.faults[MOST_FAULTS:]

    def meets(self, touched: Sequence[str]) -> bool:
        while not self.is_met and self._looked < len(touched):
            path = touched[self._looked]
            self._looked += 1
            if path.startswith(self._base):
                name = path[len(self._base) :]
                self.is_met = any(match(name) for match in self._matches)
        return self.is_met


class Borders:
    """A project that nobody trusts reads its own files and no others; a file with keys and
    passwords is never memory, nor one that may not be read."""

    def __init__(self, where: Where, trusted: Callable[[], bool]) -> None:
        own = ((where.claude, where.is_theirs_ours), (where.home, where.is_ours))
        self._root = _folder(where.root)
        self._own = tuple(_folder(path) for path, is_users in own if is_users)
        """They may lie in the project: home is a folder to work in, too."""
        self._trusted = trusted
        self.denied: frozenset[str] = frozenset()
        """Files that rules of the user deny."""

    def import_objection(self, importer: Sheet, sheet: Sheet) -> str:
        is_users = importer.real.startswith(self._own) or not importer.real.startswith(self._root)
        return self._withheld(sheet) or ("" if is_users else self._leaving(sheet))

    def project_objection(self, sheet: Sheet) -> str:
        """A file of the project may be a link."""
        return self._withheld(sheet) or self._leaving(sheet)

    def _withheld(self, sheet: Sheet) -> str:
        if is_secret(sheet.path):
            return "it may hold keys or passwords"
        return "a rule denies reading it" if sheet.real in self.denied else ""

    def _leaving(self, sheet: Sheet) -> str:
        if sheet.real.startswith(self._root) or self._trusted():
            return ""
        return "it lies outside of the project, which is not trusted (detent trust, or --trust)"


def _folder(path: str) -> str:
    return os.path.realpath(path).rstrip("/") + "/"
