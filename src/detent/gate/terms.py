"""The terms of a session, as data: its mode, its folders, its rules."""

import os
from collections.abc import Callable
from typing import Literal, get_args

from msgspec import Struct

from detent.gate.paths import is_inside, is_secret, is_special
from detent.types.errors import BadInput
from detent.types.verdicts import Verdict

QUESTION = "question"
"""The source of a verdict on a call that asks the person something."""

Mode = Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]


def parse_mode(text: str) -> Mode:
    if text == "manual":
        return "default"
    for mode in get_args(Mode):
        if mode == text:
            return mode  # type: ignore[no-any-return]
    raise BadInput(f"unknown permission mode {text!r}; known: {', '.join(get_args(Mode))}")


class Origin(Struct, frozen=True, gc=False):
    """Where a rule stands."""

    scope: str = "flag"
    """managed, flag, local, project, user, or session for what a person has just allowed."""
    path: str = ""
    """The file; empty for a flag."""
    line: int = 0
    folder: str = ""
    """What `/p` in its patterns is below; empty is where the session began."""


class Rule(Struct, frozen=True):
    tool: str
    what: str
    text: str
    """As the user wrote it, for telling which rule decided."""
    origin: Origin = Origin()


class RuleSet(Struct, frozen=True):
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


class KindLimits(Struct, frozen=True):
    """What an agent is held to by its kind, whatever rules and people permit."""

    reads_only: bool = False
    """Nothing but what is proven to only read, and the web."""
    only: tuple[Rule, ...] = ()
    """Of a tool that some of these name, only what one of them covers: `Bash(git diff:*)`."""


FREE = KindLimits()


class Workspace:
    """The folders a session works in."""

    def __init__(
        self,
        cwd: str,
        roots: tuple[str, ...],
        home: str,
        *,
        project: str = "",
        readable: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.cwd = cwd
        """Where commands run now."""
        self.project = project or cwd
        """Where the session began: rules are anchored there."""
        self.roots = roots
        self.home = home
        self.readable = readable
        """Further folders that may be read, such as the session's own outputs."""

    def at(self, cwd: str) -> "Workspace":
        """The same workspace seen from another folder."""
        if cwd in ("", self.cwd):
            return self
        return Workspace(cwd, self.roots, self.home, project=self.project, readable=self.readable)

    def full(self, path: str) -> str:
        return os.path.join(self.cwd, path)

    def holds(self, path: str) -> bool:
        return is_inside(self.full(path), self.roots)

    def reads_freely(self, path: str) -> bool:
        full = self.full(path)
        if is_inside(full, self.readable()):
            return True
        return self.holds(full) and not is_secret(full) and not is_special(full)


class Policy(Struct, frozen=True):
    """Everything that a decision depends on, but for the call and the disk."""

    rules: RuleSet
    mode: Mode
    workspace: Workspace
    is_saved: bool = True
    """Whether the log takes what is written to it."""
    trusts_sandbox: bool = False
    """A sandbox that works holds commands back: they need no question of their own."""


class Considered(Struct, frozen=True):
    """A rule that was looked at on the way to a decision."""

    rule: Rule
    list: Literal["deny", "ask", "allow"]
    matched: bool


class Decision(Struct, frozen=True):
    verdict: Verdict
    rule: Rule | None = None
    """The one that decided, if it was a rule."""
    considered: tuple[Considered, ...] = ()
