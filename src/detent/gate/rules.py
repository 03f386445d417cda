"""The rule language: `Tool` or `Tool(what)`. Order: deny, then ask, then allow.

Restrictions are matched against what a call touches, whatever the tool is called; permissions
only against the tool they name.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from detent.gate.paths import spellings
from detent.gate.patterns import compiled
from detent.gate.shell.prover import Command, is_assignment, prove, unwrapped
from detent.gate.shell.suspects import (
    MOST_FOLDERS,
    changed,
    folders,
    may_run,
    mentioned,
    placed,
    reads_below,
    runs_its_arguments,
    suspects,
    written,
)
from detent.gate.terms import Rule
from detent.ports import Proposal
from detent.types.effects import Connects, Effect, Reads, Runs, Writes
from detent.types.errors import BadInput

_RULE = re.compile(r"^([A-Za-z_][\w.\-*]*)(?:\((.*)\))?$", re.DOTALL)
_WRITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READING = frozenset({"Read", "Grep", "Glob", "LS"})
_UNSETTLING = frozenset(
    {"cd", "pushd", "popd", "source", ".", "eval", "exec", "export", "declare", "typeset", "set",
     "shopt", "alias", "hash", "enable", "unset", "read", "ln", "mv", "cp"}
)  # fmt: skip
"""After these a name may lead elsewhere, or a program be another one."""


class Place(Struct, frozen=True):
    """What relative patterns mean."""

    cwd: str
    """Where a command runs."""
    home: str
    project: str
    """Where patterns are anchored."""


def parse_rule(text: str, canonical: Callable[[str], str]) -> Rule:
    match = _RULE.match(text.strip())
    if match is None or (match[2] is not None and not match[2].strip()):
        raise BadInput(f"not a permission rule: {text!r} (write Tool or Tool(what))")
    what = (match[2] or "").strip()
    return Rule(canonical(match[1]), "" if what == "*" else what, text.strip())


def restricting(rules: Sequence[Rule], proposal: Proposal, place: Place) -> Rule | None:
    """The first deny or ask rule that a call falls under; any hint counts."""
    return next((rule for rule in rules if _touches(rule, proposal, place)), None)


def might_restrict(rules: Sequence[Rule], proposal: Proposal, place: Place) -> Rule | None:
    """A deny or ask rule that a call might fall under, though it cannot be shown."""
    for effect in proposal.effects:
        for rule in rules:
            if rule.what and _might_touch(rule, effect, place):
                return rule
    return None


def allowing(
    rules: Sequence[Rule], proposal: Proposal, place: Place, free: Callable[[Command], bool]
) -> Rule | None:
    """The allow rule that covers a call, proven. Every simple command needs a rule or be `free`."""
    named = [rule for rule in rules if _is_meant(rule.tool, proposal.tool)]
    for rule in named:
        if not rule.what:
            return rule
    commands = [effect.command for effect in proposal.effects if isinstance(effect, Runs)]
    if commands:
        return _allowing_commands(named, commands, free)
    return next((rule for rule in named if _proves(rule, proposal, place)), None)


def _allowing_commands(
    rules: Sequence[Rule], texts: Sequence[str], free: Callable[[Command], bool]
) -> Rule | None:
    used: Rule | None = None
    for text in texts:
        proven, settled = prove(text), True
        if proven is None:
            return None
        for command in proven:
            rule = next((rule for rule in rules if _covers(rule.what, command)), None)
            if rule is None and not (settled and free(command)):
                return None
            settled = settled and _UNSETTLING.isdisjoint(unwrapped(command)[:1])
            used = used or rule
    return used


def _is_meant(rule: str, tool: str) -> bool:
    """An allow rule names its tool; only an MCP server's tools may be named all at once."""
    family = _WRITING if rule == "Edit" else _READING if rule == "Read" else ()
    if rule == tool or tool in family:
        return True
    parts = rule.split("__", 2)
    if parts[0] != "mcp" or len(parts) < 2 or not parts[1] or "*" in parts[1]:
        return False
    return _is_named(rule if len(parts) > 2 else f"{rule}__*", tool)


def _is_named(rule: str, tool: str) -> bool:
    return re.fullmatch(re.escape(rule).replace(r"\*", ".*"), tool) is not None


def _touches(rule: Rule, proposal: Proposal, place: Place) -> bool:
    """For deny and ask: either spelling of any path, anything that might be the command."""
    by_name = _is_named(rule.tool, proposal.tool) or (
        rule.tool.startswith("mcp__") and _is_named(f"{rule.tool}__*", proposal.tool)
    )
    if not rule.what:
        return by_name or any(_is_kind(rule.tool, effect) for effect in proposal.effects)
    if rule.tool == "Bash":
        texts = [effect.command for effect in proposal.effects if isinstance(effect, Runs)]
        return any(_fits(rule.what, command) for text in texts for command in suspects(text))
    if rule.tool in _READING | _WRITING:
        pattern = compiled(rule.what, place.project, place.home, anywhere=True)
        paths = (p for effect in proposal.effects for p in _paths(rule, effect, place))
        return any(pattern.touches(spelling) for path in paths for spelling in spellings(path))
    # What we cannot read of a restriction holds for the whole tool.
    return by_name and (not rule.what.startswith("domain:") or _reaches(rule.what, proposal))


def _is_kind(tool: str, effect: Effect) -> bool:
    match effect:
        case Runs(command=text):
            return tool == "Bash" or (tool in _WRITING and bool(written(text)))
        case Writes():
            return tool == "Edit"
        case Reads():
            return tool == "Read"
        case _:
            return False


def _paths(rule: Rule, effect: Effect, place: Place) -> Iterator[str]:
    """A read restriction also blocks writing; an edit restriction lets reading pass."""
    writing = rule.tool in _WRITING
    match effect:
        case Writes(path=path):
            yield path
        case Reads(path=path) if not writing:
            yield path
        case Runs(command=text):
            words = changed(text) if writing else mentioned(text)
            yield from placed(words, text, place.cwd, place.home)
        case _:
            pass


def _might_touch(rule: Rule, effect: Effect, place: Place) -> bool:
    is_path = rule.tool in _READING | _WRITING
    match effect:
        case Runs(command=text) if prove(text) is None:
            if rule.tool in _WRITING:
                return bool(written(text)) or any(True for _ in changed(text))
            first = rule.what.removesuffix(":*").split(maxsplit=1)[0]
            return is_path or (rule.tool == "Bash" and may_run(text, first))
        case Runs(command=text) if rule.tool in _READING:
            if len(folders(text, place.cwd, place.home)) > MOST_FOLDERS:
                return True
            roots = [_roots(command, text, place) for command in prove(text) or ()]
            return any(_may_reach(rule, root, place) for found in roots for root in found)
        case Reads(path=path) if rule.tool in _READING and os.path.isdir(path):
            return _may_reach(rule, path, place)
        case _:
            return False


def _roots(command: Command, text: str, place: Place) -> list[str]:
    """The folders that a recursive command reads; the current one when it names none."""
    command = unwrapped(command)
    if not command or not reads_below(command):
        return []
    return [*placed((*command[1:], "."), text, place.cwd, place.home)]


def _may_reach(rule: Rule, root: str, place: Place) -> bool:
    pattern = compiled(rule.what, place.project, place.home, anywhere=True)
    return any(pattern.may_lie_below(spelling) for spelling in spellings(root))


def _proves(rule: Rule, proposal: Proposal, place: Place) -> bool:
    """For allow: everything it touches, by its name and by the place it leads to."""
    if rule.what.startswith("domain:"):
        return _reaches(rule.what, proposal, surely=True)
    pattern = compiled(rule.what, place.project, place.home, anywhere=False)
    kinds = (Reads, Writes) if rule.tool in _WRITING else (Reads,)
    return bool(proposal.effects) and all(
        isinstance(effect, kinds) and all(map(pattern.matches, spellings(effect.path)))
        for effect in proposal.effects
    )


def _reaches(what: str, proposal: Proposal, *, surely: bool = False) -> bool:
    """`domain:x` is x only, `domain:*.x` any host below x. Unknown hosts count against a call."""
    wanted = _ascii(what.removeprefix("domain:").strip().lower().rstrip("."))
    hosts = [e.host.lower().rstrip(".") for e in proposal.effects if isinstance(e, Connects)]
    hits = [_is_host(wanted, host) or (host == "*" and not surely) for host in hosts]
    return bool(hits) and (all(hits) if surely else any(hits))


def _is_host(wanted: str, host: str) -> bool:
    """`*` alone is any host, `*.` in front any below; another `*` stays inside its label."""
    below = wanted.startswith("*.")
    stem = re.escape(wanted[2:] if below else wanted).replace(r"\*", "[^.]*")
    return wanted == "*" or re.fullmatch((r".+\." if below else "") + stem, host) is not None


def _ascii(host: str) -> str:
    """As effects spell it, where a rule is written with letters of its own language."""
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return host


def _covers(what: str, command: Command) -> bool:
    """For allow: a `*` does not reach what other programs run, nor past unknown assignments."""
    inner = unwrapped(command)
    if "*" not in what:
        return _fits(what, command) or _fits(what, inner)
    opaque = not inner or runs_its_arguments(inner) or is_assignment(inner[0])
    return not opaque and _fits(what, inner)


def _fits(what: str, command: Command) -> bool:
    """`x:*` and `x *` are the words of x and then anything; without `*` the exact words."""
    open_end = what.endswith((":*", " *"))
    stem = what[:-2] if open_end else what
    if "*" in stem:
        pattern = re.escape(" ".join(stem.split())).replace(r"\*", ".*")
        behind = "(?: .*)?" if open_end else ""
        return re.fullmatch(pattern + behind, " ".join(command), re.DOTALL) is not None
    words = _rule_words(stem)
    return command[: len(words)] == words if open_end else command == words


def _rule_words(stem: str) -> Command:
    """A rule may quote as a command does."""
    proven = prove(stem)
    return proven[0] if proven is not None and len(proven) == 1 else tuple(stem.split())
