"""The policy that a session of a folder would begin with."""

from msgspec.structs import replace

from detent.app.gating import permitted_mode, rules_of, workspace_of
from detent.app.grounds import Grounds, grounds_of
from detent.app.options import Options
from detent.gate.judging import decide
from detent.gate.terms import Decision, Policy
from detent.ports import Proposal


def policy_of(options: Options) -> tuple[Policy, Grounds]:
    grounds = grounds_of(options)
    settings = grounds.settings
    mode = permitted_mode(options.permission_mode or settings.mode or "default", settings)
    rules = rules_of(options, settings, grounds.cwd)
    return Policy(rules, mode, workspace_of(grounds, tuple)), grounds


def decided(policy: Policy, proposal: Proposal, *, explain: bool = False) -> Decision:
    """Seen from where the call stands."""
    here = replace(policy, workspace=policy.workspace.at(proposal.cwd))
    return decide(here, proposal, explain=explain)
