"""What people call a subagent."""

from detent.ports.delegation import Assignment
from detent.types.agents import Lineage

LONGEST = 60


def called(lineage: Lineage, assignment: Assignment) -> str:
    """Its name, else its kind and what it is to do; short, and on one line."""
    if assignment.name:
        return _short(assignment.name)
    about = " ".join(assignment.description.split())
    return _short(f"{lineage.kind} ({about})" if about else lineage.kind)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
