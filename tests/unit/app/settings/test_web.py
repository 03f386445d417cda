"""Who searches the web and which hosts may be reached: the user's settings and environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.options import Options
from detent.app.searching import engine_of, reachable
from detent.app.settings.record import Settings, Source
from detent.app.settings.sources import merge
from detent.app.wire import assemble
from detent.host.environment import child_environment
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput

KEYS = {"BRAVE_API_KEY": "b", "TAVILY_API_KEY": "t", "SEARXNG_URL": "http://127.0.0.1:8888"}


def settings(values: dict[str, Any], *, is_project: bool = False, trusted: bool = True) -> Settings:
    return merge([Source("user", "settings.json", values, is_project)], trusted=trusted)


def search(**values: Any) -> Settings:
    return settings({"webSearch": values})


@pytest.mark.parametrize(
    ("environ", "provider", "url"),
    [
        (KEYS, "brave", "https://api.search.brave.com/res/v1/web/search"),
        ({"TAVILY_API_KEY": "t"}, "tavily", "https://api.tavily.com/search"),
        ({"SEARXNG_URL": KEYS["SEARXNG_URL"]}, "searxng", KEYS["SEARXNG_URL"]),
    ],
)
def test_the_environment_decides(environ: dict[str, str], provider: str, url: str) -> None:
    engine = engine_of(Settings(), environ)
    assert engine is not None
    assert (engine.provider, engine.url, engine.most) == (provider, url, 10)


@pytest.mark.parametrize(
    ("given", "environ"),
    [
        ({}, {}),
        ({}, {"BRAVE_API_KEY": ""}),
        ({"provider": "brave"}, {"TAVILY_API_KEY": "t"}),
        ({"provider": "brave", "apiKeyEnv": "MY"}, {"BRAVE_API_KEY": "b"}),
        ({"provider": "searxng"}, {}),
        ({"provider": "native"}, KEYS),
    ],
)
def test_nobody_to_ask(given: dict[str, Any], environ: dict[str, str]) -> None:
    assert engine_of(search(**given), environ) is None


def test_settings_go_before_the_environment() -> None:
    own = search(provider="tavily", url="https://t.corp/s", apiKeyEnv="MY", maxResults=3)
    engine = engine_of(own, {**KEYS, "MY": "mine"})
    assert engine is not None
    assert (engine.provider, engine.url, engine.key(), engine.most) == (
        "tavily", "https://t.corp/s", "mine", 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        {"webSearch": {}, "webFetch": {"mayReach": "x"}},
        {"webSearch": {"url": "https://x"}},
        {"webSearch": {"provider": "altavista"}},
        {"webSearch": {"provider": "brave", "key": "x"}},
        {"webSearch": {"provider": "brave", "url": "x"}},
        {"webSearch": {"provider": "brave", "maxResults": 0}},
        {"webSearch": []},
        {"webFetch": {"mayReach": ["http://x/"]}},
        {"webFetch": {"mayReach": ["a b"]}},
        {"webFetch": {"mayreach": []}},
    ],
)
def test_faults_are_named_with_their_place(values: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"settings\.json: web(Search|Fetch)"):
        settings(values)


def test_an_address_that_is_none_in_the_environment() -> None:
    with pytest.raises(BadInput, match="SEARXNG_URL"):
        engine_of(Settings(), {"SEARXNG_URL": "not one"})


@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_decides_nothing_of_this(trusted: bool) -> None:
    values = {"webSearch": {"provider": "nonsense"}, "webFetch": {"mayReach": ["10.0.0.1"]}}
    found = settings(values, is_project=True, trusted=trusted)
    assert (found.web_search, found.may_reach) == ({}, ())
    assert any("webSearch and webFetch are ignored" in note for note in found.notices)


def test_what_may_be_reached() -> None:
    own = settings({"webFetch": {"mayReach": ["wiki.corp"]}})
    assert reachable(own, {}) == ("wiki.corp",)
    assert reachable(own, {"BRAVE_API_KEY": "b"}) == ("wiki.corp",)
    assert reachable(own, {"SEARXNG_URL": "http://127.0.0.1:8888/x"}) == (
        "wiki.corp", "127.0.0.1:8888",
    )  # fmt: skip
    assert reachable(search(provider="searxng", url="http://[::1]/"), {}) == ("[::1]:80",)


def options(tmp_path: Path, environ: dict[str, str], **more: Any) -> Options:
    return Options(
        model=ScriptedModel("x"),
        cwd=str(tmp_path),
        environ={"HOME": str(tmp_path), **environ},
        persist=False,
        **more,
    )


def offered(tmp_path: Path, environ: dict[str, str], **more: Any) -> list[str]:
    return [s.name for s in assemble(options(tmp_path, environ, **more)).kit.toolbox.specs()]


def test_search_is_offered_only_where_somebody_is_there_to_ask(tmp_path: Path) -> None:
    assert "WebFetch" in offered(tmp_path, {})
    assert "WebSearch" not in offered(tmp_path, {})
    assert "WebSearch" not in offered(tmp_path, {}, tools=["WebSearch", "Read"])
    for name, value in KEYS.items():
        assert "WebSearch" in offered(tmp_path, {name: value})
    assert "WebSearch" not in offered(tmp_path, KEYS, disallowed_tools=("WebSearch",))
    native = {"webSearch": {"provider": "native"}}
    assert "WebSearch" not in offered(tmp_path, KEYS, settings=native)


def notices(tmp_path: Path, environ: dict[str, str], **more: Any) -> list[str]:
    return assemble(options(tmp_path, environ, **more)).notices


@pytest.mark.parametrize(
    ("own", "environ", "said"),
    [
        ({"provider": "brave"}, {"TAVILY_API_KEY": "t"}, ["brave needs a key in BRAVE_API_KEY"]),
        ({"provider": "tavily", "apiKeyEnv": "MY"}, KEYS, ["tavily needs a key in MY"]),
        ({"provider": "searxng"}, {}, ["searxng needs its url (webSearch.url, or SEARXNG_URL)"]),
        ({"provider": "searxng"}, KEYS, []),
        ({"provider": "native"}, {}, []),
        ({}, {}, []),
    ],
)
def test_a_search_that_is_set_up_by_half_is_told(
    tmp_path: Path, own: Any, environ: dict[str, str], said: list[str]
) -> None:
    told = notices(tmp_path, environ, settings={"webSearch": own})
    assert told == [f"WebSearch is not offered: {why}" for why in said]
    assert notices(tmp_path, environ, settings={"webSearch": own}, tools=["Read"]) == []


def test_the_tool_knows_whom_it_asks(tmp_path: Path) -> None:
    tool = assemble(options(tmp_path, {"TAVILY_API_KEY": "t"})).kit.toolbox.find("WebSearch")
    assert tool is not None
    (effect,) = tool.effects(tool.parse(json.dumps({"query": "news"})), str(tmp_path))
    assert getattr(effect, "host", "") == "api.tavily.com"


def test_children_do_not_get_the_keys() -> None:
    kept = child_environment({**KEYS, "PATH": os.defpath})
    assert "SEARXNG_URL" in kept
    assert not {"BRAVE_API_KEY", "TAVILY_API_KEY"} & kept.keys()
