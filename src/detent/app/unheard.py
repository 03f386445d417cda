"""Rules given with a flag that name no tool: a typing error in a deny rule must not go unheard."""

from collections.abc import Iterable

from detent.gate.rules import parse_rule
from detent.tools.registry import canonical_name, catalogue

ELSEWHERE = frozenset(
    {"Agent", "LS", "Monitor", "NotebookRead", "SendMessage", "Skill", "SlashCommand", "Task",
     "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "delegate_agent"}
)  # fmt: skip
"""Tools that other programs have, or we in a later version: such rules are no mistake."""


def unheard(rules: Iterable[str], offered: Iterable[str]) -> list[str]:
    """A line for each rule whose tool nobody knows."""
    known = {name.lower(): name for name in (*catalogue(), *offered)}
    notes = []
    for text in rules:
        tool = parse_rule(text, canonical_name).tool
        if tool in ELSEWHERE or tool in known.values() or "*" in tool or tool.startswith("mcp__"):
            continue
        from difflib import get_close_matches

        near = get_close_matches(tool.lower(), known, n=1)
        hint = f"; did you mean {known[near[0]]}?" if near else ""
        notes.append(f"the rule {text} names no tool that there is{hint}")
    return notes
