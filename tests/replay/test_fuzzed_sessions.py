"""200 random sessions come out of the loop again, byte for byte."""

from __future__ import annotations

from collections import Counter

import pytest

from detent.app.replay.session import replayed
from detent.session.log import frame
from detent.types.agents import AgentStarted
from detent.types.durable import Durable
from detent.types.events import Event, TurnEnded
from replay.fuzzed import fuzzed

SESSIONS, CREWS, AT_ONCE = 200, 60, 20


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


@pytest.mark.parametrize("first", range(0, CREWS, AT_ONCE))
def test_so_is_one_that_has_set_others_to_work(first: int) -> None:
    """But for turns that met a limit while somebody worked beside them: nobody knows when."""
    for seed in range(first, first + AT_ONCE):
        entries = fuzzed(seed, has_crew=True)
        report = replayed(entries)
        assert report.difference is None, f"seed {seed}: {report.difference}"
        ends = [entry.reason for entry in entries if isinstance(entry, TurnEnded)]
        beside = any(isinstance(entry, AgentStarted) and entry.background for entry in entries)
        assert not report.unchecked or (beside and "budget_exceeded" in ends), f"seed {seed}"


def test_some_sessions_with_others_meet_a_limit_and_are_checked_all_the_same() -> None:
    checked = 0
    for seed in range(CREWS):
        entries = fuzzed(seed, has_crew=True)
        begun = sum(isinstance(entry, AgentStarted) for entry in entries)
        ends = [entry.reason for entry in entries if isinstance(entry, TurnEnded)]
        if begun and "budget_exceeded" in ends and not replayed(entries).unchecked:
            checked += 1
    assert checked > 2


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
