"""200 random sessions come out of the loop again, byte for byte."""

from __future__ import annotations

from collections import Counter

import pytest

from detent.app.replay.session import replayed
from detent.session.log import frame
from detent.types.durable import Durable
from detent.types.events import Event
from replay.fuzzed import fuzzed

SESSIONS, AT_ONCE = 200, 20


@pytest.mark.parametrize("first", range(0, SESSIONS, AT_ONCE))
def test_a_replayed_session_is_the_recorded_one(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        entries = fuzzed(seed)
        shown: list[Event] = []
        report = replayed(entries, shown.append)
        assert report.difference is None, f"seed {seed}: {report.difference}"
        assert (report.made + report.given, report.unchecked) == (len(entries), 0)
        recorded = b"".join(frame(entry) for entry in entries)
        again = b"".join(frame(event) for event in shown if isinstance(event, Durable))
        assert again == recorded, f"seed {seed}"


def test_the_sessions_hold_everything_that_can_happen() -> None:
    """Else the test above would say little."""
    seen: Counter[str] = Counter()
    for seed in range(0, SESSIONS, 2):
        for entry in fuzzed(seed):
            kind = type(entry).__name__
            seen[kind] += 1
            for name in ("reason", "stop", "what", "by", "trigger", "kind"):
                value = getattr(entry, name, "")
                seen[f"{kind} {value}"] += isinstance(value, str) and bool(value)
    wanted = (
        "Unanswered", "Lost failed", "Lost compaction", "Lost cut", "Compacted model",
        "Compacted local", "Compacted auto", "Trimmed", "Learned", "Withheld", "Rewound",
        "Classified", "HooksRan", "Budgeted", "Estimated", "Switched", "Replied cancelled",
        "Replied broken_off", "Replied max_tokens", "TurnEnded user_cancelled",
        "TurnEnded budget_exceeded", "TurnEnded hook_stopped", "TurnEnded max_turns",
        "TurnEnded api_error", "TurnEnded end_turn", "TurnEnded prompt_too_long",
    )  # fmt: skip
    assert not [kind for kind in wanted if not seen[kind]]
