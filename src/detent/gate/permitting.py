"""What a call needs permission for, after its allow rules and its mode: no needs, no question."""

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from detent.gate.paths import is_secret, is_special, spellings
from detent.gate.patterns import compiled
from detent.gate.protected import Identity, identities, is_protected
from detent.gate.rules import permits_tool
from detent.gate.scene import Scene
from detent.gate.terms import Policy, Rule

PLANNING = "In plan mode nothing is written; present the plan instead."
PROTECTED = "protected path"
SECRET = "secret"
_SEARCHING = frozenset({"Grep", "Glob", "LS"})


class Need(Struct, frozen=True):
    """Something that a call needs permission for."""

    source: str
    reason: str
    rules: tuple[str, ...] = ()
    """Rules that might permit it, the narrowest first."""
    is_denied: bool = False
    """Nobody is asked about it."""
    is_held: bool = False
    """A sandbox keeps it from doing harm."""


class Permits:
    """The allow rules and the mode of a policy, as asked by everything that needs permission."""

    def __init__(self, policy: Policy, scene: Scene) -> None:
        self.policy = policy
        self.scene = scene
        self.mode = policy.mode
        self.workspace = policy.workspace
        self.used: list[Rule] = []
        """Allow rules that were needed."""
        tool = scene.proposal.tool
        self.rules = tuple(rule for rule in policy.rules.allow if permits_tool(rule, tool))
        self.whole = next((rule for rule in self.rules if not rule.what), None)
        """The rule that permits the tool as such."""

    @property
    def source(self) -> str:
        return f"mode {self.mode}"

    @cached_property
    def _kept(self) -> frozenset[Identity]:
        return identities((*self.workspace.roots, self.workspace.home))

    def is_protected(self, path: str) -> bool:
        return is_protected(path, self._kept)

    def by(self, rule: Rule | None) -> bool:
        if rule is not None:
            self.used.append(rule)
        return rule is not None

    def path_rule(self, kind: str, path: str) -> Rule | None:
        """The `Read` or `Edit` rule that covers a path, by its name and by where it leads."""
        if self.whole is not None and not self.scene.texts:
            return self.whole
        names = spellings(path)
        for rule in self.policy.rules.allow:
            if rule.tool != kind:
                continue
            if not rule.what:
                return rule
            pattern = compiled(rule.what, self.scene.anchors(rule.origin), anywhere=False)
            # A search in a folder opens its files, not the folder.
            covers = pattern.touches if self.scene.proposal.tool in _SEARCHING else pattern.matches
            if all(map(covers, names)):
                return rule
        return None

    def reading(self, path: str) -> Iterator[Need]:
        if self.mode == "bypassPermissions":
            return
        if is_special(path):
            yield no_file(path)
        elif not self.workspace.reads_freely(path) and not self.by(self.path_rule("Read", path)):
            source = SECRET if is_secret(path) else self.source
            reason = f"Reading {path} needs permission: {_why(path)}."
            yield Need(source, reason, self._path_rules("Read", path))

    def secret(self, path: str) -> Iterator[Need]:
        """A word of a command that names a secret: only a rule for the file permits it."""
        if not self.by(self.path_rule("Read", path)):
            rules = self._path_rules("Read", path)
            reason = f"{path} holds secrets: naming it needs permission."
            yield Need(SECRET, reason, rules)

    def writing(self, path: str) -> Iterator[Need]:
        if self.mode == "plan":
            yield Need(self.source, PLANNING, is_denied=True)
        elif self.mode == "bypassPermissions":
            return
        elif self.is_protected(path):
            yield protected(path)
        elif is_special(path):
            yield no_file(path)
        elif self.by(self.path_rule("Edit", path)):
            return
        elif is_secret(path):
            reason = f"Writing {path} needs permission: it holds secrets."
            yield Need(SECRET, reason, self._path_rules("Edit", path))
        elif self.mode != "acceptEdits" or not self.workspace.holds(path):
            rules = self._path_rules("Edit", path)
            yield Need(
                self.source, f"Writing {path}{_led(path)} needs permission.", rules, is_held=True
            )

    def _path_rules(self, kind: str, path: str) -> tuple[str, ...]:
        """None for a name that a pattern would read as more than itself, nor for a link: a rule
        would have to permit both the name and the place it leads to."""
        if any(char in path for char in "*?[()") or _led(path):
            return ()
        project = self.workspace.project
        inside = path.startswith(project + "/")
        return (f"{kind}({path[len(project) :] if inside else f'/{path}'})",)


def protected(path: str) -> Need:
    reason = f"{path} decides what runs later: no rule permits writing it silently."
    return Need(PROTECTED, reason)


def no_file(path: str) -> Need:
    return Need(PROTECTED, f"{path} is a device, a pipe or a window into a process.")


def _why(path: str) -> str:
    return "it holds secrets" if is_secret(path) else f"it is outside the workspace{_led(path)}"


def _led(path: str) -> str:
    """A name that is a link does not say where it leads."""
    _, *others = spellings(path)
    return f" (it leads to {others[0]})" if others else ""
