"""What a model reads when a person did not want a call."""

from detent.ports import Answer
from detent.types.verdicts import Ask

SPOKESMEN = ("person", "user", "host")
"""Whoever answers so gives the words of the user."""


def why_not(said: Answer, verdict: Ask) -> str:
    """The model must be able to tell whose words are whose: those of a person come first."""
    hint = f"The rule {verdict.rules[0]} would permit it." if verdict.rules else ""
    answer = said.reason.strip() or "The user denied it."
    if said.by not in SPOKESMEN or not said.reason.strip():
        return " ".join(filter(None, (verdict.reason, answer, hint)))
    stop = "" if answer[-1] in ".!?…" else "."
    return " ".join(filter(None, (f"The user said: {answer}{stop}", verdict.reason, hint)))
