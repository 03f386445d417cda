"""Globs of the user and of rules, and what a project's file may import."""

import os
from collections.abc import Callable, Sequence

from detent.context.memory.trees import Sheet
from detent.gate.paths import is_secret

Match = Callable[[str], object]


def _matching(glob: str) -> Match:
    """Loaded with the first glob. Raises ValueError for one that is too much."""
    from detent.tools.search.patterns import matcher

    return matcher(glob).fullmatch


def excluder(globs: Sequence[str], home: str) -> tuple[Callable[[str], bool], list[str]]:
    """Whether `claudeMdExcludes` leave a file out, by its name or by where it really is; and what
    is wrong with them. They match whole paths; one that starts nowhere may start anywhere."""
    matches, faults = list[Match](), list[str]()
    for glob in globs:
        whole = os.path.join(home, glob[2:]) if glob.startswith("~/") else glob
        if not whole.startswith(("/", "**/")):
            whole = f"**/{whole.removeprefix('./')}"
        try:
            matches.append(_matching(whole.removeprefix("/")))
        except ValueError as error:
            faults.append(f"claudeMdExcludes: {glob[:80]!r} counts for nothing: {error}")

    def is_excluded(path: str) -> bool:
        names = {path.removeprefix("/"), os.path.realpath(path).removeprefix("/")}
        return any(match(name) for match in matches for name in names)

    return (is_excluded if matches else lambda path: False), faults


class Scope:
    """The globs of one rule, and whether a file that was touched is one of those it is for."""

    def __init__(self, globs: tuple[str, ...], base: str) -> None:
        self.globs = globs
        self.is_met = False
        self.faults: list[str] = []
        self._base = base.rstrip("/") + "/"
        self._looked = 0
        """How many of the touched paths were compared."""
        self._matches: list[Match] = []
        for glob in globs:
            try:
                self._matches.append(_matching(glob.removeprefix("./").removeprefix("/")))
            except ValueError as error:
                self.faults.append(f"{glob[:80]!r} counts for nothing: {error}")

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

    def __init__(self, root: str, trusted: Callable[[], bool]) -> None:
        self._root = os.path.realpath(root).rstrip("/") + "/"
        self._trusted = trusted
        self.denied: frozenset[str] = frozenset()
        """Files that rules of the user deny."""

    def import_objection(self, importer: Sheet, sheet: Sheet) -> str:
        is_projects = importer.real.startswith(self._root)
        return self._withheld(sheet) or (self._leaving(sheet) if is_projects else "")

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
