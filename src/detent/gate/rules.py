"""The rule language: `Tool` or `Tool(what)`."""

import re
from collections.abc import Callable

from detent.gate.terms import Origin, Rule
from detent.types.errors import BadInput

WRITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
READING = frozenset({"Read", "Grep", "Glob", "LS", "LSP", "NotebookRead"})
SPAWNING = frozenset({"Agent", "Task"})

_RULE = re.compile(r"^([A-Za-z_*][\w.\-*]*)(?:\((.*)\))?$", re.DOTALL)


def parse_rule(text: str, canonical: Callable[[str], str], origin: Origin | None = None) -> Rule:
    """`Tool()` and `Tool(*)` are the whole tool, as `Tool` is."""
    match = _RULE.match(text.strip())
    if match is None:
        raise BadInput(f"not a permission rule: {text!r} (write Tool or Tool(what))")
    what = (match[2] or "").strip()
    what = "" if what in ("*", ":*") else what
    return Rule(canonical(match[1]), what, text.strip(), origin or Origin())


def agent_key(name: str) -> str:
    """By which names of agents are the same: models do not keep to how we write them."""
    key = name.strip().casefold().replace("_", "-").replace(" ", "-")
    return "general-purpose" if key in ("", "general") else key


def is_ignored_in_allow(rule: Rule) -> str:
    """Why an allow rule covers nothing; empty when it does."""
    parts = rule.tool.split("__", 2)
    if parts[0] == "mcp" and len(parts) > 1 and parts[1] and "*" not in parts[1]:
        return ""
    if "*" in rule.tool:
        return "an allow rule must name its tool or MCP server; a `*` before that permits nothing"
    if rule.what and rule.tool in (WRITING | READING) - {"Edit", "Read"}:
        kind = "Edit" if rule.tool in WRITING else "Read"
        return f"paths are permitted by {kind} rules for every such tool: write {kind}({rule.what})"
    return ""


def permits_tool(rule: Rule, tool: str) -> bool:
    """Whether an allow rule is about a tool. It names it; only an MCP server's tools may be named
    all at once, `Edit` stands for every tool that writes and `Read` for every one that reads."""
    if is_ignored_in_allow(rule):
        return False
    family = WRITING if rule.tool == "Edit" else READING if rule.tool == "Read" else ()
    if rule.tool == tool or tool in family or {rule.tool, tool} <= SPAWNING:
        return True
    return rule.tool.startswith("mcp__") and names_tool(rule.tool, tool)


def names_tool(name: str, tool: str) -> bool:
    """By its name, a `*` in it being anything; `mcp__s` is every tool of server s."""
    if name == tool or {name, tool} <= SPAWNING:
        return True
    if name.startswith("mcp__") and "__" not in name[5:] and tool.startswith(f"{name}__"):
        return True
    return "*" in name and re.fullmatch(re.escape(name).replace(r"\*", ".*"), tool) is not None
