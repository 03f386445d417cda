"""Whether a call is beyond what the kind of an agent holds it to."""

from detent.gate.terms import KindLimits, Policy, Rule, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.verdicts import Allow


def objection(limits: KindLimits, proposal: Proposal, workspace: Workspace) -> str:
    """For the model; empty where there is none."""
    if limits.reads_only:
        from detent.gate.only_reading import may_change

        if why := may_change(proposal, workspace):
            return f"You only look: {why}."
    own = tuple(rule for rule in limits.only if rule.tool == proposal.tool)
    if not own or _covers(own, proposal, workspace):
        return ""
    return f"Of {proposal.tool} you have only {', '.join(rule.text for rule in own)}."


def _covers(rules: tuple[Rule, ...], proposal: Proposal, workspace: Workspace) -> bool:
    from detent.gate.judging import decide

    policy = Policy(RuleSet(allow=rules), "dontAsk", workspace)
    return isinstance(decide(policy, proposal).verdict, Allow)
