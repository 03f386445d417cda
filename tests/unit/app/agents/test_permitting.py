"""Whether a kind of agent may be started, and what it is denied."""

from __future__ import annotations

import pytest

from detent.app.agents.kinds.record import AgentKind
from detent.app.agents.permitting import denied_to, why_not_started
from detent.gate.gate import Gatekeeper
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet, Workspace
from detent.tools.registry import canonical_name
from detent.types.errors import BadInput

FINDER = AgentKind(name="tools:finder", description="finds", source="plugin")


def gate(**rules: str) -> Gatekeeper:
    given = {kind: (parse_rule(text, canonical_name),) for kind, text in rules.items()}
    return Gatekeeper(Workspace("/p", ("/p",), "/h"), rules=RuleSet(**given))


def test_a_short_name_is_no_way_round_a_denial() -> None:
    denied = gate(deny="Agent(tools:finder)")
    for wanted in ("finder", "tools:finder", "Tools:Finder"):
        assert "denies it" in why_not_started(denied, FINDER, wanted)
    assert why_not_started(gate(deny="Agent(other)"), FINDER, "finder") == ""


def test_nor_round_a_question() -> None:
    asking = gate(ask="Task(tools:finder)")
    why = why_not_started(asking, FINDER, "finder")
    assert "asks first" in why and "Call it by its name: tools:finder." in why
    assert why_not_started(asking, FINDER, "tools:finder") == ""  # the person was asked


def test_what_a_kind_denies_is_read_as_rules() -> None:
    kind = AgentKind(name="k", description="d", disallowed_tools=("Bash(git push:*)", "Task"))
    push, task = denied_to(kind, "/p")
    assert (push.tool, push.what, push.origin.folder) == ("Bash", "git push:*", "/p")
    assert task.tool == "Agent"
    bad = AgentKind(name="k", description="d", disallowed_tools=("Bash(",), path="/a/k.md")
    with pytest.raises(BadInput, match=r"^/a/k\.md: disallowedTools: not a permission rule"):
        denied_to(bad, "/p")
