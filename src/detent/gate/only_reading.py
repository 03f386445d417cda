"""Agents that only look: whether a call might change something."""

from detent.gate.parts import command_needs
from detent.gate.permitting import SECRET, Permits
from detent.gate.scene import Scene
from detent.gate.terms import Policy, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.effects import Runs, Writes


def may_change(proposal: Proposal, workspace: Workspace) -> str:
    """Why it might; empty when it does not. Where it reads is another question."""
    everywhere = Workspace(workspace.cwd, ("/",), workspace.home, project=workspace.project)
    scene = Scene(proposal, everywhere)
    permits = Permits(Policy(RuleSet(), "default", everywhere), scene)
    for effect in proposal.effects:
        if isinstance(effect, Writes):
            return f"{effect.path} is not to be written"
        if isinstance(effect, Runs):
            needs = command_needs(effect.command, permits)
            if effect.outside or any(need.source != SECRET for need in needs):
                return "a command must be one that is known to change nothing"
    return ""
