"""Why a model stopped, in whatever word."""

from __future__ import annotations

import pytest

from detent.models.protocols.stops import stop_of
from detent.types.errors import ModelFailure


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        *((word, word) for word in ("end_turn", "max_tokens", "refusal", "tool_use")),
        *((word, "end_turn") for word in ("stop", "STOP")),
        *((word, "tool_use") for word in ("tool_calls", "function_call")),
        *((word, "max_tokens") for word in ("length", "max_output_tokens", "model_length")),
        *((word, "refusal") for word in ("content_filter", "SAFETY", "sensitive", "MODEL_ARMOR")),
    ],
)
def test_a_word_of_any_wire_is_known_on_all(word: str, stop: str) -> None:
    assert stop_of(word) == stop
    assert stop_of(word, "max_tokens") == stop


@pytest.mark.parametrize(
    "word", ["pause_turn", "stop_sequence", "model_context_window_exceeded", "Novel"]
)
def test_any_other_word_is_kept(word: str) -> None:
    assert stop_of(word) == word
    assert stop_of(word, "max_tokens") == "max_tokens"


@pytest.mark.parametrize(
    "word", ["error", "abort", "insufficient_system_resource", "network_error", "OTHER"]
)
def test_an_answer_that_broke_off_is_none(word: str) -> None:
    with pytest.raises(ModelFailure, match=f"stopped with {word}") as caught:
        stop_of(word)
    assert caught.value.kind == "server"
