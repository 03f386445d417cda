"""The first rounds of the fuzzer, in every run of the suite."""

from __future__ import annotations

import pytest

from .codecs import one_round

ROUNDS = 2_500


@pytest.mark.parametrize("batch", range(8))
def test_damaged_streams_are_answers_or_failures(batch: int) -> None:
    outcomes = {one_round(seed) for seed in range(batch * ROUNDS, (batch + 1) * ROUNDS)}
    assert {"answer", "network", "invalid_response"} <= outcomes
