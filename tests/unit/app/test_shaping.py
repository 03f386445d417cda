"""What options, environment and settings make of the pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.options import Options
from detent.app.settings.record import Source
from detent.app.settings.sources import merge
from detent.app.shaping import shaping_of, starts_calls_early
from detent.context.shaping import ORDER, Shaping
from detent.types.errors import BadInput


def merged(*values: dict[str, Any]) -> Any:
    return merge(
        [Source("user", f"s{n}.json", one, False) for n, one in enumerate(values)], trusted=False
    )


def shaped(
    settings: dict[str, Any] | None = None, environ: dict[str, str] | None = None, **options: Any
) -> Shaping:
    return shaping_of(Options(**options), merged(settings or {}), environ or {})


def test_nothing_said_is_the_usual() -> None:
    assert shaped() == Shaping()
    assert shaped({"compaction": {}}) == Shaping()


def test_what_settings_say_of_compaction() -> None:
    wished = {
        "percent": 90, "tokens": 150_000, "inputTokens": 7, "keep": 8, "summariser": "local",
        "order": ["micro", "auto"], "projected": True,
    }  # fmt: skip
    assert shaped({"compaction": wished, "autoCompactWindow": 300_000}) == Shaping(
        order=("micro", "auto"), share=0.9, tokens=150_000, cumulative=7, window=300_000, keep=8,
        summariser="local", is_projected=True,
    )  # fmt: skip


def test_the_stronger_file_counts_key_by_key() -> None:
    settings = merged(
        {"compaction": {"percent": 50, "keep": 6}, "features": {"micro": False, "collapse": False}},
        {"compaction": {"percent": 70}, "features": {"micro": True}, "autoCompactEnabled": False},
    )
    found = shaping_of(Options(), settings, {})
    assert (found.share, found.keep, found.is_automatic) == (0.7, 6, False)
    assert "micro" in found.order and "collapse" not in found.order


@pytest.mark.parametrize(
    ("feature", "stage"),
    [("HISTORY_SNIP", "snip_window"), ("CONTEXT_COLLAPSE", "collapse"), ("micro", "micro"),
     ("snip_messages", "snip_messages"), ("result_budget", "result_budget"), ("auto", "auto")],
)  # fmt: skip
def test_each_stage_is_switched_off_by_its_name(feature: str, stage: str) -> None:
    without = tuple(one for one in ORDER if one != stage)
    assert shaped({"features": {feature: False}}).order == without
    assert shaped({"features": {feature: True}}).order == ORDER
    assert shaped(environ={"EXPERIMENTAL_FEATURES": f"other,-{feature}"}).order == without
    assert shaped(environ={"EXPERIMENTAL_FEATURES": f"{feature.lower()}=0"}).order == without
    both = {"features": {feature: False}}
    assert shaped(both, {"EXPERIMENTAL_FEATURES": feature}).order == ORDER, (
        "the environment counts more"
    )


def test_reactive_compaction_has_two_names() -> None:
    assert shaped({"reactiveCompact": False}).reactive is False
    assert shaped({"features": {"REACTIVE_COMPACT": False}}).reactive is False
    assert shaped({"reactiveCompact": False, "features": {"micro": False}}).reactive is False
    assert shaped(environ={"EXPERIMENTAL_FEATURES": "-REACTIVE_COMPACT"}).reactive is False


@pytest.mark.parametrize(
    ("settings", "features", "early"),
    [
        ({}, "", True),
        ({"streamingToolExecution": False}, "", False),
        ({"features": {"streamingToolExecution": False}}, "", False),
        ({}, "-streamingToolExecution", False),
        ({"streamingToolExecution": False}, "streamingtoolexecution", True),
    ],
)
def test_calls_that_start_early(settings: dict[str, Any], features: str, early: bool) -> None:
    assert starts_calls_early(merged(settings), {"EXPERIMENTAL_FEATURES": features}) is early


@pytest.mark.parametrize(
    ("text", "share"), [("50", 0.5), ("99.5", 0.995), ("0", None), ("101", None), ("x", None)]
)
def test_the_percentage_of_the_environment(text: str, share: float | None) -> None:
    assert shaped(environ={"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": text}).share == share


def test_the_environment_counts_more_than_settings() -> None:
    environ = {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "95"}
    assert shaped({"compaction": {"percent": 40}}, environ).share == 0.95


@pytest.mark.parametrize(
    ("environ", "automatic", "manual", "reactive"),
    [
        ({"DISABLE_AUTO_COMPACT": "1"}, False, True, True),
        ({"DISABLE_COMPACT": "true"}, False, False, False),
        ({"DISABLE_AUTO_COMPACT": "0", "DISABLE_COMPACT": "false"}, True, True, True),
    ],
)
def test_switched_off_by_the_environment(
    environ: dict[str, str], automatic: bool, manual: bool, reactive: bool
) -> None:
    found = shaped(environ=environ)
    assert (found.is_automatic, found.manual, found.reactive) == (automatic, manual, reactive)


@pytest.mark.parametrize(
    ("text", "threshold"), [("100", 100), ("0", None), ("x", None), ("", None)]
)
def test_the_cumulative_threshold(text: str, threshold: int | None) -> None:
    environ = {"CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS": text}
    assert shaped(environ=environ).cumulative == threshold
    assert shaped(environ=environ, auto_compact_input_tokens=7).cumulative == 7
    assert shaped(environ=environ, auto_compact_input_tokens=0).cumulative == 0, "never"
    settings = {"compaction": {"inputTokens": 9}}
    assert shaped(settings, environ).cumulative == (threshold or 9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"compaction": 1}, "compaction must be an object"),
        ({"compaction": {"percent": 101}}, "compaction: percent must lie between 0 and 100"),
        ({"compaction": {"percent": "80"}}, "compaction: percent must be a number"),
        ({"compaction": {"tokens": -1}}, "compaction: tokens must not be negative"),
        ({"compaction": {"summariser": "x"}}, "summariser is one of model, local"),
        ({"compaction": {"order": ["micro", "micro"]}}, "each once"),
        ({"compaction": {"order": ["nano"]}}, "order names stages"),
        ({"features": {"micro": "no"}}, "features: micro must be true or false"),
        ({"autoCompactEnabled": 1}, "autoCompactEnabled must be true or false"),
        ({"autoCompactWindow": "big"}, "autoCompactWindow must be a number"),
    ],
)
def test_a_bad_value_is_named_with_its_file(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"s0.json: .*{message}|s0.json: {message}"):
        merged(settings)


def test_unknown_names_are_hinted_at() -> None:
    settings = merged({"compaction": {"percents": 1}, "features": {"HISTORY_SNAP": False}})
    assert list(settings.hints) == [
        "s0.json: features: unknown HISTORY_SNAP",
        "s0.json: compaction: unknown setting percents",
    ]


def test_a_project_that_nobody_trusts_sets_none_of_it() -> None:
    values = {
        "autoCompactEnabled": False,
        "compaction": {"percent": 1},
        "features": {"auto": False},
    }
    settings = merge([Source("project", "p.json", values, True)], trusted=False)
    assert shaping_of(Options(), settings, {}) == Shaping()
    assert "autoCompactEnabled, compaction, features ignored" in settings.notices[0]
