"""Rules that mean less, or more, than they seem to: what to tell whoever wrote one."""

import re
from typing import Literal

from detent.gate.matching import read
from detent.gate.rules import is_ignored_in_allow
from detent.gate.shell.programs import INTERPRETERS, SHELLS
from detent.gate.shell.prover import prove
from detent.gate.terms import Rule
from detent.gate.wrappers import runs_its_arguments


def lint_rule(rule: Rule, listed: Literal["allow", "ask", "deny"] = "allow") -> str:
    """One line of warning, or nothing."""
    if listed == "allow" and (why := is_ignored_in_allow(rule)):
        return f"{rule.text} permits nothing: {why}"
    if rule.tool != "Bash" or not rule.what:
        return ""
    if ":*" in rule.what[:-2]:
        return f"{rule.text}: `:*` is special only at the end; elsewhere write a blank and `*`"
    if "*" not in rule.what and _is_several(rule.what):
        return f"{rule.text} matches nothing: every part of a command is looked at by itself"
    return _too_wide(rule) if listed == "allow" else ""


def _is_several(what: str) -> bool:
    script = prove(what)
    return script is not None and len(script.commands) > 1


def _too_wide(rule: Rule) -> str:
    """An exact command is what it is; a `*` behind an interpreter is any program."""
    if "*" not in rule.what:
        return ""
    if rule.what.endswith("*") and not rule.what.endswith((" *", ":*")):
        return f"{rule.text} has no word boundary: {rule.what.replace('*', 'x')} fits it, too"
    words = read(rule.what).words
    if not words:
        return f"{rule.text} permits every program that fits; name the program first"
    name = re.sub(r"[\d.]+$", "", words[0].rpartition("/")[2]) or words[0]
    if runs_its_arguments(words):
        return f"{rule.text} does not permit what {words[0]} runs: write a rule for that command"
    if len(words) == 1 and name in INTERPRETERS | SHELLS:
        return f"{rule.text} permits any program at all, as {words[0]} runs what it is given"
    return ""
