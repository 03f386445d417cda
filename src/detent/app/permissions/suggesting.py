"""The fewest rules that permit what people have permitted, and nothing of what they have refused.

A call is taken apart into pieces that need a permission each: `npm test && npm run lint` is two.
Then the rule that covers the most pieces is taken, again and again (ties go to the narrower one),
and each is tried on everything that was refused before it is taken.
"""

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from detent.app.permissions.calls import NotTaken, Proposer
from detent.app.permissions.candidates import candidates
from detent.app.permissions.past import PastCall
from detent.app.permissions.policies import decided
from detent.gate.commands import look
from detent.gate.refusing import SPOKESMEN
from detent.gate.terms import Policy, Rule
from detent.ports import Proposal
from detent.types.effects import Runs
from detent.types.verdicts import Allow

NOBODY = "nobody to ask"
"""Refused for want of somebody to ask: no word against the same call when somebody was there."""


class Suggested(Struct, frozen=True):
    rule: str
    calls: int
    """Approved calls that need it."""


class Suggestion(Struct, frozen=True):
    rules: tuple[Suggested, ...]
    approved: int
    """Different calls that a person has permitted and that are not permitted yet."""
    covered: int
    refused: int
    uncovered: tuple[str, ...]
    """Those that no rule can be offered for."""


class Cover:
    """A rule that may be suggested, and the pieces that it would permit."""

    def __init__(self, rule: Rule, rank: int) -> None:
        self.rule = rule
        self.rank = rank
        """How wide it is: 0 is the narrowest."""
        self.pieces: set[str] = set()


def suggest(calls: Sequence[PastCall], policy: Policy) -> Suggestion:
    """Without its mode: a rule is for good."""
    policy = replace(policy, mode="default")
    proposer = Proposer()
    approved = _proposals((c for c in calls if c.allowed and c.by in SPOKESMEN), proposer)
    refusals = [c for c in calls if not c.allowed]
    firm = _proposals((c for c in refusals if c.by != NOBODY), proposer)
    soft = _proposals((c for c in refusals if c.by == NOBODY), proposer)
    wanted = {
        key: each for key, each in approved.items() if key not in firm and not _allows(policy, each)
    }
    refused = {**firm, **{key: each for key, each in soft.items() if key not in approved}}
    guarded = [each for each in refused.values() if not _allows(policy, each)]
    needs = {key: _pieces(each, policy, proposer) for key, each in wanted.items()}
    rules = _cover({k: p for pieces in needs.values() for k, p in pieces.items()}, policy, guarded)
    final = _with(policy, [cover.rule for cover in rules])
    covered = {key for key, each in wanted.items() if _allows(final, each)}
    kept = [(c, {k for k in covered if c.pieces & needs[k].keys()}) for c in rules]
    return Suggestion(
        rules=tuple(Suggested(c.rule.text, len(keys)) for c, keys in kept if keys),
        approved=len(wanted),
        covered=len(covered),
        refused=len(refused),
        uncovered=tuple(key for key in wanted if key not in covered),
    )


def covering(call: Proposal, policy: Policy, proposer: Proposer) -> tuple[str, ...]:
    """Rules that permit one call all together; none when there are none."""
    covers = _cover(_pieces(call, policy, proposer), policy, ())
    rules = [cover.rule for cover in covers]
    return tuple(r.text for r in rules) if _allows(_with(policy, rules), call) else ()


def _proposals(calls: Iterator[PastCall], proposer: Proposer) -> dict[str, Proposal]:
    """Each different call once, by what it is called."""
    found: dict[str, Proposal] = {}
    for call in calls:
        try:
            each = proposer.propose(call.tool, call.arguments, call.cwd, call.effects)
        except NotTaken:
            continue
        found.setdefault(name_of(each), each)
    return found


def name_of(proposal: Proposal) -> str:
    given = proposal.arguments
    main = given.get("command") if proposal.tool == "Bash" else proposal.call.arguments
    return f"{proposal.tool}({main})"


def _pieces(call: Proposal, policy: Policy, proposer: Proposer) -> dict[str, Proposal]:
    """The simple commands of a proven text that are not permitted anyway; else the call whole."""
    texts = [effect.command for effect in call.effects if isinstance(effect, Runs)]
    script = look(texts[0]).script if texts else None
    if script is None or len(script.commands) < 2:
        return {name_of(call): call}
    found = {}
    for simple in script.commands:
        text = shlex.join(word.text for word in simple.words)
        piece = proposer.propose("Bash", {"command": text}, call.cwd)
        if text and not _allows(policy, piece):
            found[name_of(piece)] = piece
    return found


def _cover(pieces: dict[str, Proposal], policy: Policy, guarded: Sequence[Proposal]) -> list[Cover]:
    left, taken = set(pieces), list[Cover]()
    offers = _offers(pieces, policy)
    while left:
        useful = [offer for offer in offers if offer.pieces & left]
        useful.sort(key=lambda offer: (-len(offer.pieces & left), offer.rank, offer.rule.text))
        rules = [cover.rule for cover in taken]
        best = next((o for o in useful if not _admits([*rules, o.rule], policy, guarded)), None)
        if best is None:
            break
        taken.append(best)
        left -= best.pieces
        offers.remove(best)
    return taken


def _offers(pieces: dict[str, Proposal], policy: Policy) -> list[Cover]:
    """A rule counts for a piece only when it is tried and does permit it."""
    offers: dict[str, Cover] = {}
    for key, piece in pieces.items():
        for rank, (text, rule) in enumerate(candidates(piece, policy.workspace)):
            if _allows(_with(policy, [rule]), piece):
                offers.setdefault(text, Cover(rule, rank)).pieces.add(key)
    return list(offers.values())


def _admits(rules: Sequence[Rule], policy: Policy, guarded: Sequence[Proposal]) -> bool:
    wider = _with(policy, rules)
    return any(_allows(wider, call) for call in guarded)


def _with(policy: Policy, rules: Sequence[Rule]) -> Policy:
    allow = (*policy.rules.allow, *rules)
    return replace(policy, rules=replace(policy.rules, allow=allow))


def _allows(policy: Policy, proposal: Proposal) -> bool:
    return isinstance(decided(policy, proposal).verdict, Allow)
