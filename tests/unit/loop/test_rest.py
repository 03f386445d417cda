"""What unusual stop reasons mean for the turn."""

from __future__ import annotations

from detent.loop.limits import MOST_PAUSES
from detent.loop.rest import CONTINUE
from detent.testing.script import reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import Compacted, Notice, Reminded
from kitbench import Bench, check_valid


def test_a_paused_answer_goes_on() -> None:
    b = Bench(ScriptedModel(reply("searching", stop="pause_turn"), "found"))
    assert b.run().reason == "end_turn"
    assert len(b.model.requests) == 2  # type: ignore[attr-defined]


def test_endless_pauses_end_the_turn() -> None:
    b = Bench(ScriptedModel(*[reply("wait", stop="pause_turn")] * (MOST_PAUSES + 5)))
    assert b.run().reason == "invalid_response"
    assert len(b.model.requests) == MOST_PAUSES + 1  # type: ignore[attr-defined]


def test_a_full_window_makes_room_once_and_goes_on() -> None:
    full = reply("half", stop="model_context_window_exceeded")
    b = Bench(ScriptedModel("old", full, "the rest"))
    assert b.run().reason == "end_turn"
    assert b.run().reason == "end_turn"
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    assert [r.text for r in b.of(Reminded)] == [CONTINUE]
    for request in b.model.requests:  # type: ignore[attr-defined]
        check_valid(request.messages)


def test_a_window_that_stays_full_ends_the_turn() -> None:
    full = reply("half", stop="model_context_window_exceeded")
    b = Bench(ScriptedModel("old", full, full, full))
    b.run()
    assert b.run().reason == "prompt_too_long"
    assert len(b.of(Compacted)) == 1


def test_an_unknown_stop_reason_is_the_end_and_is_told() -> None:
    b = Bench(ScriptedModel(reply("done", stop="cosmic_ray")))
    assert b.run().reason == "end_turn"
    (notice,) = b.of(Notice)
    assert "cosmic_ray" in notice.text
