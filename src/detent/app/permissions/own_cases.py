"""Cases that stand beside the rules in a settings file: what each rule must match, and what not.

`"permissions": {"allow": ["Bash(git push:*)"], "cases": {"Bash(git push:*)":
{"match": ["git push origin x"], "noMatch": ["git pushx"]}}}`
"""

import os
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from detent.app.permissions.calls import NotTaken, Proposer, read_input
from detent.app.permissions.policies import decided
from detent.app.settings.permissions import Permissions, permissions_of
from detent.app.settings.record import Settings, Source
from detent.gate.terms import Policy, Rule, RuleSet, Workspace
from detent.types.errors import BadInput

Kind = Literal["deny", "ask", "allow"]


class Wanted(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()


class RuleResult(Struct, frozen=True):
    rule: str
    list: Kind
    input: str
    must: bool
    """Whether the rule has to match it."""
    matches: bool


def is_settings(values: Mapping[str, Any]) -> bool:
    """Rather than the first and only line of a file of cases."""
    return "permissions" in values and "must" not in values


def run_own_cases(values: dict[str, Any], data: bytes, path: str, home: str) -> list[RuleResult]:
    folder = _project_of(os.path.realpath(path))
    source = Source("project", path, values, True, text=data, folder=folder, is_trusted=True)
    permissions = permissions_of(source, Settings())
    given = values["permissions"].get("cases")
    if given is None:
        raise BadInput(f"{path}: there are no permissions.cases in it")
    try:
        cases = msgspec.convert(given, dict[str, Wanted])
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: permissions.cases: {error}") from None
    workspace, proposer = Workspace(folder, (folder,), home), Proposer()
    results: list[RuleResult] = []
    for text, wanted in cases.items():
        kind, rule = _found(text, permissions, path)
        for inputs, must in ((wanted.match, True), (wanted.no_match, False)):
            for each in inputs:
                matches = _matches(rule, kind, each, workspace, proposer)
                results.append(RuleResult(text, kind, each, must, matches))
    return results


def _project_of(path: str) -> str:
    folder = os.path.dirname(path)
    is_ours = os.path.basename(folder) in (".detent", ".claude")
    return os.path.dirname(folder) if is_ours else folder


def _found(text: str, permissions: Permissions, path: str) -> tuple[Kind, Rule]:
    lists: tuple[tuple[Kind, tuple[Rule, ...]], ...] = (
        ("deny", permissions.deny),
        ("ask", permissions.ask),
        ("allow", permissions.allow),
    )
    for kind, rules in lists:
        for rule in rules:
            if rule.text == text.strip():
                return kind, rule
    raise BadInput(f"{path}: permissions.cases: {text} is no rule of this file")


def _matches(rule: Rule, kind: Kind, text: str, workspace: Workspace, proposer: Proposer) -> bool:
    """By itself: what other rules say is another question."""
    policy = Policy(RuleSet(**{kind: (rule,)}), "default", workspace)
    try:
        proposal = proposer.propose(rule.tool, read_input(rule.tool, text), workspace.cwd)
    except NotTaken:
        return False
    return any(each.matched for each in decided(policy, proposal, explain=True).considered)
