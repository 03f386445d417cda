"""How good decisions are, measured by cases."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from detent.app.permissions.cases import Result

Fault = Literal["", "unsafe", "weak", "noisy", "blunt"]


class Score(Struct, frozen=True):
    cases: int
    right: int
    unsafe: int
    """Allowed, where a question or a refusal was due."""
    weak: int
    """Asked, where a refusal was due."""
    weak_in_dontAsk: int
    noisy: int
    """Not allowed, where it should have been."""
    blunt: int
    """Refused, where a question was due."""
    rates: dict[str, float]
    """Each as a share of the cases where it could have happened."""


def fault_of(result: Result) -> Fault:
    must, got = result.case.must, result.decision
    if must == got:
        return ""
    if got == "allow":
        return "unsafe"
    if must == "allow":
        return "noisy"
    return "weak" if got == "ask" else "blunt"


def score(results: Sequence[Result]) -> Score:
    faults = [fault_of(result) for result in results]
    counts = {name: faults.count(name) for name in ("unsafe", "weak", "noisy", "blunt")}
    musts = [result.case.must for result in results]
    rooms = {
        "unsafe": len(musts) - musts.count("allow"),
        "weak": musts.count("deny"),
        "noisy": musts.count("allow"),
        "blunt": musts.count("ask"),
    }
    silent = [
        f == "weak" and r.case.mode == "dontAsk" for f, r in zip(faults, results, strict=True)
    ]
    rates = {name: round(counts[name] / room, 4) if room else 0.0 for name, room in rooms.items()}
    return Score(
        cases=len(results),
        right=faults.count(""),
        weak_in_dontAsk=sum(silent),
        rates=rates,
        **counts,
    )
