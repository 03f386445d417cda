"""What settings, flags and environment say about the use of models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.app.models import known_models, open_model, prices
from detent.app.options import Options
from detent.app.settings.record import Settings, Source
from detent.app.settings.sources import merge
from detent.app.wishes import lengthened, timers
from detent.models.client import HttpModel
from detent.models.watch import Timers
from detent.types.errors import BadInput
from detent.types.usage import Usage
from kitbench import FakeClock

KEY = {"ANTHROPIC_API_KEY": "k"}


def settings(project: bool = False, **values: Any) -> Settings:
    return merge([Source("user", "settings.json", values, project)], trusted=True)


def opened(environ: dict[str, str] | None = None, values: Any = None, **options: Any) -> HttpModel:
    given = settings(**(values or {}))
    model = open_model(Options(**options), given, {**KEY, **(environ or {})}, FakeClock())
    assert isinstance(model, HttpModel)
    return model


def body(model: HttpModel) -> dict[str, Any]:
    from detent.types.content import Text
    from detent.types.messages import Request, User

    asked = Request(("system",), [User((Text("hi"),))])
    route = model._routes[0]
    return json.loads(route._wire.body(asked, route.name, 4000))


@pytest.mark.parametrize(
    ("times", "delays"),
    [
        (0, ()),
        (2, (0.2, 0.4)),
        (4, (0.2, 0.4, 0.8, 2.0)),
        (6, (0.2, 0.4, 0.8, 2.0, 4.0, 8.0)),
    ],
)
def test_so_many_retries_are_so_many_delays(times: int, delays: tuple[float, ...]) -> None:
    assert lengthened((0.2, 0.4, 0.8, 2.0), times) == delays
    assert opened({"CLAUDE_CODE_MAX_RETRIES": str(times)})._retry.delays == delays


def test_later_delays_are_capped_and_their_number_too() -> None:
    many = lengthened((1.0,), 1_000_000)
    assert max(many) == 30.0
    assert len(many) == 100


def test_the_settings_delays_win_over_the_number() -> None:
    model = opened({"CLAUDE_CODE_MAX_RETRIES": "9"}, {"retryDelays": [1], "retryJitter": 0.5})
    assert (model._retry.delays, model._retry.jitter) == ((1.0,), 0.5)


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf"])
def test_a_number_that_is_none_is_named(text: str) -> None:
    for name in ("CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS"):
        with pytest.raises(BadInput, match=name):
            opened({name: text})


def test_the_time_of_a_request_may_come_in_milliseconds() -> None:
    assert timers(Settings(), {"API_TIMEOUT_MS": "1500"}) == Timers(90.0, 1.5)
    both = {"API_TIMEOUT_MS": "1500", "DETENT_REQUEST_TIMEOUT": "7"}
    assert timers(Settings(), both) == Timers(90.0, 7.0)


def test_effort_comes_from_the_flag_else_from_the_settings() -> None:
    values = {"effortLevel": "low"}
    assert body(opened(values=values))["output_config"] == {"effort": "low"}
    assert body(opened(values=values, effort="max"))["output_config"] == {"effort": "max"}
    assert "output_config" not in body(opened())
    with pytest.raises(BadInput, match="enormous"):
        opened(effort="enormous")


def test_a_budget_of_zero_is_no_thinking() -> None:
    values = {"maxThinkingTokens": 2000}
    old = {"model": "claude-3-7-sonnet-20250219"}
    assert body(opened(values=values, **old))["thinking"]["budget_tokens"] == 2000
    assert body(opened(values=values, thinking_budget=0, **old))["thinking"] == {"type": "disabled"}
    assert "thinking" not in body(opened())


def test_a_body_of_ones_own_is_added() -> None:
    assert body(opened({"CLAUDE_CODE_EXTRA_BODY": '{"metadata": {"a": 1}}'}))["metadata"] == {
        "a": 1
    }
    with pytest.raises(BadInput, match="CLAUDE_CODE_EXTRA_BODY"):
        opened({"CLAUDE_CODE_EXTRA_BODY": "[1]"})


def test_betas_come_from_flag_and_environment() -> None:
    model = opened({"ANTHROPIC_BETAS": "b, c"}, betas=("a",))
    assert model._routes[0]._headers["anthropic-beta"] == "a,b,c"


def test_the_cache_may_be_kept_longer_or_not_at_all() -> None:
    text = json.dumps(body(opened(values={"promptCacheTtl": "1h"})))
    assert '"ttl": "1h"' in text
    assert "cache_control" not in json.dumps(body(opened({"DISABLE_PROMPT_CACHING": "1"})))


def test_server_tools_are_passed_on() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert search in body(opened(server_tools=(search,)))["tools"]


HOUSE = {"house": {"baseUrl": "http://h/v1", "models": {"big": {"price": [1, 2, 3, 4]}}}}


def test_providers_of_the_user_join_the_catalog() -> None:
    known = known_models(settings(providers=HOUSE))
    assert known.providers["house"].base_url == "http://h/v1"
    assert "anthropic" in known.providers
    assert prices(settings(providers=HOUSE))("big", Usage(input=1_000_000)) == 1.0


def test_where_requests_go_is_not_for_a_project() -> None:
    project = settings(project=True, providers=HOUSE, apiKeyHelper="steal")
    assert (project.providers, project.models, project.key_helper) == ({}, {}, "")
    assert "its providers and apiKeyHelper are ignored; only you" in project.notices[0]
    (note,) = settings(project=True, apiKeyHelper="steal").notices
    assert note.endswith("its apiKeyHelper is ignored; only you can set it")
    mine = settings(providers=HOUSE, apiKeyHelper="ask")
    assert (set(mine.providers), mine.key_helper) == ({"house"}, "ask")


def stranger(**values: Any) -> Settings:
    mine = Source("user", "mine.json", {"maxTurns": 3, "model": "sonnet"}, False)
    theirs = Source("project", "theirs.json", values, True)
    return merge([mine, theirs], trusted=False)


@pytest.mark.parametrize(
    ("values", "taken"),
    [
        ({"model": "opus"}, False),
        ({"effortLevel": "max"}, False),
        ({"model": "openai/gpt-5"}, False),
        ({"model": "gpt-5"}, False),
        ({"model": "scripted:evil.json"}, False),
        ({"fallbackModel": ["haiku", "openrouter/x"]}, False),
        ({"maxTurns": 2}, True),
        ({"maxTurns": 50}, False),
        ({"requestTimeout": 9999}, False),
        ({"retryDelays": [3600]}, False),
    ],
)
def test_a_project_without_trust_does_not_decide_who_reads_along(
    values: dict[str, Any], taken: bool
) -> None:
    found = stranger(**values)
    (key,) = values
    assert any(key in notice for notice in found.notices) is not taken
    if not taken:
        assert (found.model, found.max_turns, found.fallback_models) == ("sonnet", 3, ())
        assert (found.request_timeout, found.retry_delays) == (None, None)


def test_effort_that_others_leave_to_the_model() -> None:
    assert "output_config" not in body(opened(values={"effortLevel": "auto"}))


def test_a_fallback_without_a_price_breaks_no_budget_in_silence() -> None:
    with pytest.raises(BadInput, match="price of mystery"):
        opened(
            {"OPENAI_API_KEY": "k"}, max_budget_usd=1.0, fallback_models=("openai-chat/mystery",)
        )


def test_wishes_of_one_provider_are_not_told_to_another() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    model = opened(
        {"OPENAI_API_KEY": "k", "CLAUDE_CODE_EXTRA_BODY": '{"metadata": {}}'},
        server_tools=(search,),
        betas=("b",),
        effort="max",
        fallback_models=("openai-chat/gpt-4o",),
    )
    _home, other = model._routes
    assert "web_search" in json.dumps(body(model))
    from detent.types.content import Text
    from detent.types.messages import Request, User

    sent = other._wire.body(Request((), [User((Text("hi"),))]), other.name, 0)
    assert set(json.loads(sent)) == {"model", "stream", "stream_options", "messages"}
    assert "anthropic-beta" not in other._headers
