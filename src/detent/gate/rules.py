"""The rule language: `Tool` or `Tool(what)`. Order: deny, then ask, then allow."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from detent.gate.paths import spellings
from detent.gate.patterns import compiled
from detent.gate.shell import Command, prove, suspects, unwrapped
from detent.ports import Proposal
from detent.types.effects import Reads, Runs, Writes
from detent.types.errors import BadInput

_RULE = re.compile(r"^([A-Za-z_][\w.\-*]*)(?:\((.*)\))?$", re.DOTALL)
_WRITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READING = frozenset({"Read", "Grep", "Glob", "LS"})


class Rule(Struct, frozen=True):
    tool: str
    what: str
    text: str
    """As the user wrote it, for telling which rule decided."""


class Place(Struct, frozen=True):
    """What relative patterns mean."""

    cwd: str
    home: str


def parse_rule(text: str, canonical: Callable[[str], str]) -> Rule:
    match = _RULE.match(text.strip())
    if match is None:
        raise BadInput(f"not a permission rule: {text!r} (write Tool or Tool(what))")
    what = (match[2] or "").strip()
    return Rule(canonical(match[1]), "" if what == "*" else what, text.strip())


def restricting(rules: Sequence[Rule], proposal: Proposal, place: Place) -> Rule | None:
    """The first deny or ask rule that a call falls under; any hint counts."""
    for rule in rules:
        if _names_tool(rule, proposal) and _touches(rule, proposal, place):
            return rule
    return None


def might_restrict(rules: Sequence[Rule], proposal: Proposal) -> Rule | None:
    """A deny or ask rule about commands that an unprovable command might fall under."""
    for effect in proposal.effects:
        if isinstance(effect, Runs) and prove(effect.command) is None:
            return next((rule for rule in rules if rule.what and rule.tool == "Bash"), None)
    return None


def allowing(
    rules: Sequence[Rule], proposal: Proposal, place: Place, free: Callable[[Command], bool]
) -> Rule | None:
    """The allow rule that covers a call, proven. Every simple command needs a rule or be `free`."""
    named = [rule for rule in rules if _names_tool(rule, proposal)]
    for rule in named:
        if not rule.what and (rule.tool == proposal.tool or rule.tool in ("Edit", "Read")):
            return rule
    commands = [effect.command for effect in proposal.effects if isinstance(effect, Runs)]
    if commands:
        return _allowing_commands(named, commands, free)
    return next((rule for rule in named if rule.what and _proves(rule, proposal, place)), None)


def _allowing_commands(
    rules: Sequence[Rule], texts: Sequence[str], free: Callable[[Command], bool]
) -> Rule | None:
    used: Rule | None = None
    for text in texts:
        proven = prove(text)
        if proven is None:
            return None
        for command in map(unwrapped, proven):
            rule = next((r for r in rules if r.what and _fits(r.what, command)), None)
            if rule is None and not free(command):
                return None
            used = used or rule
    return used


def _names_tool(rule: Rule, proposal: Proposal) -> bool:
    if rule.tool == proposal.tool:
        return True
    if rule.tool.startswith("mcp__"):
        return proposal.tool.startswith(rule.tool.removesuffix("*").removesuffix("__") + "__")
    if rule.tool == "Edit":
        return proposal.tool in _WRITING
    if rule.tool == "Read":
        return proposal.tool in _READING | _WRITING and (
            bool(rule.what) or proposal.tool in _READING
        )
    pattern = rule.tool.replace("*", ".*")
    return "*" in rule.tool and re.fullmatch(pattern, proposal.tool) is not None


def _touches(rule: Rule, proposal: Proposal, place: Place) -> bool:
    """For deny and ask: either spelling of any path, anything that might be the command."""
    if not rule.what:
        return True
    if rule.tool == "Bash":
        texts = [effect.command for effect in proposal.effects if isinstance(effect, Runs)]
        return any(_fits(rule.what, command) for text in texts for command in suspects(text))
    pattern = compiled(rule.what, place.cwd, place.home, anywhere=True)
    paths = _paths(rule, proposal, also_writes=True)
    return any(pattern.match(spelling) for path in paths for spelling in spellings(path))


def _proves(rule: Rule, proposal: Proposal, place: Place) -> bool:
    """For allow: every path, by its name and by the place it leads to."""
    pattern = compiled(rule.what, place.cwd, place.home, anywhere=False)
    paths = _paths(rule, proposal, also_writes=False)
    return bool(paths) and all(
        pattern.match(spelling) for path in paths for spelling in spellings(path)
    )


def _paths(rule: Rule, proposal: Proposal, *, also_writes: bool) -> list[str]:
    """A read deny also blocks writing; a read allow permits reading only."""
    wants_writes = rule.tool in _WRITING or also_writes
    wants_reads = rule.tool not in _WRITING
    return [
        effect.path
        for effect in proposal.effects
        if (isinstance(effect, Writes) and wants_writes)
        or (isinstance(effect, Reads) and wants_reads)
    ]


def _fits(what: str, command: Command) -> bool:
    """`x:*` and `x *` are the words of x and then anything; without `*` the exact words."""
    line = " ".join(command)
    if what.endswith((":*", " *")) and "*" not in what[:-2]:
        prefix = " ".join(what[:-2].split())
        return line == prefix or line.startswith(prefix + " ")
    if "*" in what:
        return re.fullmatch(re.escape(what).replace(r"\*", ".*"), line, re.DOTALL) is not None
    return line == " ".join(what.split())
