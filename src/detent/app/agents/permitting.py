"""What a kind of agent may do: whether it may be started, and what its gate holds it to."""

from detent.app.agents.kinds.record import AgentKind
from detent.gate.gate import Gatekeeper
from detent.gate.rules import agent_key, parse_rule
from detent.gate.terms import KindLimits, Origin, Rule
from detent.ports import Proposal
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Spawns
from detent.types.errors import BadInput
from detent.types.verdicts import Ask, Deny


def why_not_started(gate: Gatekeeper, kind: AgentKind, wanted: str | None) -> str:
    """Rules name agents as they are called: what a model calls them is no way round; empty where
    nothing is against it. A question was asked already, if by that name; None: there was none."""
    starting = Proposal(Call("", "Agent", ""), "Agent", {}, (Spawns(kind.name),))
    verdict = gate.judge(starting)
    if isinstance(verdict, Deny):
        return verdict.reason
    if isinstance(verdict, Ask) and wanted is None:
        return f"{verdict.reason} Let it go on with Agent: `resume`, and its kind {kind.name}."
    if isinstance(verdict, Ask) and agent_key(wanted or "") != agent_key(kind.name):
        return f"{verdict.reason} Call it by its name: {kind.name}."
    return ""


def denied_to(kind: AgentKind, folder: str) -> tuple[Rule, ...]:
    """Its `disallowedTools`. Raises BadInput."""
    return _rules(kind, kind.disallowed_tools, "disallowedTools", folder)


def held_to(kind: AgentKind, folder: str) -> KindLimits:
    """Raises BadInput."""
    return KindLimits(kind.reads_only, _rules(kind, kind.only, "tools", folder))


def _rules(kind: AgentKind, texts: tuple[str, ...], field: str, folder: str) -> tuple[Rule, ...]:
    try:
        origin = Origin("agent", kind.path, folder=folder)
        return tuple(parse_rule(text, canonical_name, origin) for text in texts)
    except BadInput as error:
        raise BadInput(f"{kind.path or kind.name}: {field}: {error}") from None
