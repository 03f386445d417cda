"""Why a call would be allowed, asked about or denied, as people read it."""

from collections.abc import Iterator

from detent.sdk.permissions import Explanation, RuleSeen


def explained(found: Explanation) -> Iterator[str]:
    yield f"{found.decision}: {found.layer}" + (f" {place_of(found.rule)}" if found.rule else "")
    if found.reason:
        yield f"  {found.reason}"
    yield f"  mode {found.mode}, in {found.cwd}"
    if found.proven is not None:
        yield "Commands" + (":" if found.proven else " (not all of the text is understood):")
        yield from (f"  {' '.join(words)}" for words in found.commands)
    if found.permits or found.permits_together:
        yield "Would permit it:" if found.permits else "Would permit it, all together:"
        yield from (f"  {text}" for text in found.permits or found.permits_together)
    elif found.decision != "allow":
        yield "No further rule would permit it."
    yield "Rules considered:" if found.considered else "There are no rules."
    for rule in found.considered:
        fits = "matches" if rule.matched else "does not match"
        yield f"  {rule.list:<5}  {fits:<14}  {place_of(rule)}"
    yield from (f"Note: {text}" for text in found.notices)


def place_of(rule: RuleSeen) -> str:
    where = f"{rule.path}:{rule.line}" if rule.line else rule.path
    return f"{rule.text}  ({', '.join(filter(None, (where, rule.scope)))})"
