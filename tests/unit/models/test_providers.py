"""Which model, where and as whom: the contract of `cli.md`, section Models."""

from __future__ import annotations

from typing import Any

import pytest

from detent.models.catalog import Above, Catalog, ModelFacts, catalog
from detent.models.client import Timers
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.providers import Choice, Wishes, build, choose
from detent.types.errors import BadInput, NoModel
from detent.types.usage import Usage
from kitbench import FakeClock

KNOWN = catalog()
SONNET = KNOWN.aliases["sonnet"]
OPENAI = KNOWN.providers["openai"].model
A_KEY = {"ANTHROPIC_API_KEY": "a-key"}
A_TOKEN = {"ANTHROPIC_AUTH_TOKEN": "a-token"}
A_URL = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/v1/"}
O_KEY = {"OPENAI_API_KEY": "o-key"}
O_URL = {"OPENAI_BASE_URL": "http://127.0.0.1:2/v1"}


def chosen(wanted: str = "", **environ: str) -> Choice:
    return choose(wanted, environ, KNOWN)


@pytest.mark.parametrize(
    ("environ", "provider", "model"),
    [
        (A_KEY, "anthropic", SONNET),
        (A_TOKEN, "anthropic", SONNET),
        (O_KEY, "openai", OPENAI),
        (O_URL, "openai", OPENAI),
        ({**A_KEY, **O_KEY}, "anthropic", SONNET),
        ({**A_TOKEN, **O_URL}, "anthropic", SONNET),
        ({**A_KEY, "ANTHROPIC_MODEL": "claude-x"}, "anthropic", "claude-x"),
        ({**A_KEY, "ANTHROPIC_MODEL": "opus"}, "anthropic", KNOWN.aliases["opus"]),
        ({**A_KEY, "OPENAI_MODEL": "gpt-x"}, "anthropic", SONNET),
        ({**O_KEY, "OPENAI_MODEL": "gpt-x"}, "openai", "gpt-x"),
        ({**O_URL, "OPENAI_MODEL": "qwen/qwen3"}, "openai", "qwen/qwen3"),
        ({**A_KEY, "DETENT_MODEL": "haiku"}, "anthropic", KNOWN.aliases["haiku"]),
        (
            {**A_KEY, **O_KEY, "ANTHROPIC_MODEL": "claude-x", "DETENT_MODEL": "openai/gpt-y"},
            "openai",
            "gpt-y",
        ),
        ({"DEEPSEEK_API_KEY": "k"}, "deepseek", KNOWN.providers["deepseek"].model),
        ({"OLLAMA_HOST": "127.0.0.1:9", "DETENT_MODEL": "qwen3"}, "ollama", "qwen3"),
        ({**A_KEY, "ANTHROPIC_API_KEY": ""} | O_KEY, "openai", OPENAI),
    ],
)
def test_the_environment_decides_when_nobody_names_a_model(
    environ: dict[str, str], provider: str, model: str
) -> None:
    choice = choose(environ.get("DETENT_MODEL", ""), environ, KNOWN)
    assert (choice.provider, choice.model) == (provider, model)


@pytest.mark.parametrize(
    ("wanted", "environ", "provider", "model"),
    [
        ("sonnet", A_KEY, "anthropic", SONNET),
        ("anthropic/opus", A_KEY, "anthropic", KNOWN.aliases["opus"]),
        ("anthropic/claude-x", {**A_KEY, **O_KEY}, "anthropic", "claude-x"),
        ("openai/gpt-x", {**A_KEY, **O_KEY}, "openai", "gpt-x"),
        ("claude-x", {**A_KEY, **O_KEY}, "anthropic", "claude-x"),
        ("gpt-x", {**A_KEY, **O_KEY}, "openai", "gpt-x"),
        ("o3-mini", {**A_KEY, **O_KEY}, "openai", "o3-mini"),
        ("gpt-x", O_URL, "openai", "gpt-x"),
        ("something-local", O_URL, "openai", "something-local"),
        ("opus", {**A_KEY, "DETENT_MODEL": "haiku"}, "anthropic", KNOWN.aliases["opus"]),
        ("opus", {**A_KEY, "ANTHROPIC_MODEL": "claude-x"}, "anthropic", KNOWN.aliases["opus"]),
        ("ollama/llama", {}, "ollama", "llama"),
        ("openrouter/openai/gpt-x", {"OPENROUTER_API_KEY": "k"}, "openrouter", "openai/gpt-x"),
        # An unknown prefix is part of the name: gateways have such names.
        ("acme/gpt-x", O_KEY, "openai", "acme/gpt-x"),
        ("openai/", O_KEY, "openai", OPENAI),
    ],
)
def test_a_name_decides(wanted: str, environ: dict[str, str], provider: str, model: str) -> None:
    choice = choose(wanted, environ, KNOWN)
    assert (choice.provider, choice.model) == (provider, model)


@pytest.mark.parametrize("wanted", ["", "sonnet", "gpt-x", "acme/gpt-x"])
def test_without_any_key_there_is_no_model(wanted: str) -> None:
    with pytest.raises(NoModel):
        choose(wanted, {}, KNOWN)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("anthropic/opus", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
        ("openai/gpt-x", ["OPENAI_API_KEY"]),
        ("groq/x", ["GROQ_API_KEY"]),
    ],
)
def test_a_missing_key_is_named(wanted: str, words: list[str]) -> None:
    with pytest.raises(NoModel) as caught:
        choose(wanted, {}, KNOWN)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("environ", [{"OLLAMA_HOST": "h:1"}, {"OPENROUTER_API_KEY": "k"}])
def test_where_only_the_user_can_know_the_model_is_asked_for(environ: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="--model"):
        choose("", environ, KNOWN)


def test_headers_and_addresses() -> None:
    choice = chosen(**A_KEY)
    assert choice.wire == "anthropic"
    assert choice.endpoint.base_url == "https://api.anthropic.com"
    assert choice.endpoint.headers == (("x-api-key", "a-key"), ("anthropic-version", "2023-06-01"))
    assert chosen(**A_TOKEN).endpoint.headers[0] == ("authorization", "Bearer a-token")
    assert chosen(**A_KEY, **A_TOKEN).endpoint.headers[0] == ("x-api-key", "a-key")
    assert chosen(**A_KEY, **A_URL).endpoint.base_url == "http://127.0.0.1:1"
    choice = chosen(**O_KEY)
    assert choice.wire == "chat"
    assert choice.endpoint.base_url == "https://api.openai.com/v1"
    assert choice.endpoint.headers == (("authorization", "Bearer o-key"),)
    choice = chosen(**O_URL)
    assert choice.endpoint.base_url == "http://127.0.0.1:2/v1"
    assert choice.endpoint.headers == ()
    assert chosen("anthropic/x", **A_URL).endpoint.headers == (("anthropic-version", "2023-06-01"),)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://h:1/", "http://h:1/v1"),
        ("https://h/v1", "https://h/v1"),
    ],
)
def test_a_local_server_is_found_by_its_host(host: str, url: str) -> None:
    assert chosen("ollama/x", OLLAMA_HOST=host).endpoint.base_url == url


def test_the_choice_is_built_as_it_says() -> None:
    wishes = Wishes(fallbacks=("n",), timers=Timers(1.0, 2.0))
    model = build(chosen(**A_KEY, **A_URL), wishes, FakeClock(), {})
    assert model.name == SONNET
    assert (model.window, model.max_output) == (
        KNOWN.facts(SONNET).window,
        KNOWN.facts(SONNET).max_output,
    )
    assert model._url == "http://127.0.0.1:1/v1/messages"
    assert model._headers["content-type"] == "application/json"
    assert isinstance(model._wire, AnthropicMessages)
    assert model._conduct.fallbacks == ("n",)
    chat = build(chosen(**O_URL), wishes, FakeClock(), {})
    assert chat._url == "http://127.0.0.1:2/v1/chat/completions"
    assert isinstance(chat._wire, OpenAIChat)


def test_caching_can_be_switched_off() -> None:
    off: Any = build(chosen(**A_KEY), Wishes(), FakeClock(), {"DISABLE_PROMPT_CACHING": "1"})
    assert off._wire._caching is False


# The catalog

PRICED = ModelFacts(price=(1.0, 10.0, 0.1, 2.0), above=Above(100_000, (2.0, 20.0, 0.2, 4.0)))


def test_an_unknown_price_is_not_a_price_of_zero() -> None:
    assert ModelFacts().cost(Usage(1_000_000, 1)) is None
    assert KNOWN.facts("never-heard-of").cost(Usage(1)) is None


def test_every_kind_of_token_has_its_price() -> None:
    assert PRICED.cost(Usage(50_000, 2_000, 20_000, 10_000)) == pytest.approx(
        0.05 + 0.02 + 0.002 + 0.02
    )
    assert PRICED.cost(Usage()) == 0.0


@pytest.mark.parametrize(
    ("usage", "dear"),
    [
        (Usage(100_000, 1_000_000), False),
        (Usage(100_001, 0), True),
        (Usage(1, 0, 100_000, 0), True),
        (Usage(1, 0, 0, 100_000), True),
        (Usage(0, 500_000), False),
    ],
)
def test_a_long_prompt_costs_more_from_the_first_token(usage: Usage, dear: bool) -> None:
    assert PRICED.above is not None
    price = PRICED.above.price if dear else PRICED.price
    assert price is not None
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    expected = sum(n * each for n, each in zip(counts, price, strict=True)) / 1e6
    assert PRICED.cost(usage) == pytest.approx(expected)


@pytest.mark.parametrize(
    "name",
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5"],
)
def test_a_dated_name_is_the_model(name: str) -> None:
    assert KNOWN.facts(name) == KNOWN.models["claude-sonnet-4-5"]


def test_an_unknown_model_gets_safe_assumptions() -> None:
    assert KNOWN.facts("never-heard-of") == ModelFacts(128_000, 0, None, None)


def test_the_catalog_holds_together() -> None:
    assert catalog() is catalog()
    assert isinstance(KNOWN, Catalog)
    for alias, model in KNOWN.aliases.items():
        assert model in KNOWN.models, alias
        assert model not in KNOWN.aliases
    for name, provider in KNOWN.providers.items():
        assert provider.wire in ("anthropic", "chat"), name
        assert provider.base_url.startswith("http")
        assert not provider.base_url.endswith("/")
        assert not provider.model or KNOWN.facts(provider.model).price is not None, name
    for name, facts in KNOWN.models.items():
        assert facts.window > facts.max_output >= 0, name
        assert facts.price is None or min(facts.price) >= 0
