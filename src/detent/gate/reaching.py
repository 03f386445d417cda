"""Hosts that a call reaches: which need permission, and which are refused whatever the mode."""

from collections.abc import Iterator

from detent.gate.hosts import (
    UNKNOWN,
    has_odd_scheme,
    is_metadata,
    is_near,
    names_exactly,
    names_host,
)
from detent.gate.permitting import Need, Permits
from detent.gate.rules import permits_tool
from detent.gate.scene import Scene
from detent.gate.terms import Policy, Rule
from detent.types.verdicts import Deny


def forbidden_host(policy: Policy, scene: Scene) -> Deny | None:
    if has_odd_scheme(scene.proposal):
        return Deny("address", "It is not reached: only http:// and https:// are fetched.")
    for host in scene.hosts:
        if host == UNKNOWN or not is_metadata(host):
            continue
        tool = scene.proposal.tool
        allow = (rule for rule in policy.rules.allow if permits_tool(rule, tool))
        if not any(names_exactly(rule.what, host) for rule in allow):
            hint = f"only the rule {tool}(domain:{host}) would permit it"
            return Deny("address", f"{host} is not reached: it gives out a machine's keys; {hint}.")
    return None


def reaching(permits: Permits) -> Iterator[Need]:
    is_fetch = permits.scene.proposal.tool == "WebFetch"
    for host in permits.scene.hosts:
        if permits.mode == "bypassPermissions" or permits.by(_host_rule(host, permits)):
            continue
        reason = f"Reaching {host} needs permission."
        if host == UNKNOWN:
            reason = "This tool may reach outside the workspace."
        elif is_near(host):
            reason = f"Reaching {host}, on this machine's own network, needs permission."
        rules = (f"WebFetch(domain:{host})",) if is_fetch and host != UNKNOWN else ()
        yield Need(permits.source, reason, rules or _tool_rule(permits))


def _tool_rule(permits: Permits) -> tuple[str, ...]:
    tool = permits.scene.proposal.tool
    return () if tool == "WebFetch" else (tool,)


def _host_rule(host: str, permits: Permits) -> Rule | None:
    """A rule for any host means those of the world, not those of this network."""
    is_fetch = permits.scene.proposal.tool == "WebFetch"
    for rule in permits.rules:
        if not rule.what or rule.what == "domain:*":
            if not (is_fetch and (host == UNKNOWN or is_near(host))):
                return rule
        elif rule.what.startswith("domain:") and host != UNKNOWN and names_host(rule.what, host):
            return rule
    return None
