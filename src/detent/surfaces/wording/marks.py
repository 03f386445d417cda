"""How a call went, in one character."""

from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused


def mark(outcome: Outcome) -> str:
    match outcome:
        case Done():
            return "✓"
        case Failed():
            return "✗"
        case Refused():
            return "⊘"
        case Cut():
            return "✂"
