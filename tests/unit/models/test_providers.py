"""Which model, where and as whom: the contract of `cli.md`, section Models."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from detent.models.build import Wishes, author_of, build_route, manner_of
from detent.models.catalog import Above, Catalog, Family, ModelFacts, catalog
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.chat_writing import QUIRKS
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.providers import Choice, choose
from detent.models.watch import Timers
from detent.types.errors import BadInput, NoModel
from detent.types.usage import Usage

KNOWN = catalog()
WIRES = ("anthropic", "chat", "responses", "gemini", "bedrock", "vertex")
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
        ("acme/gpt-x", O_URL, "openai", "acme/gpt-x"),
        ("gpt-x", {**A_KEY, **O_URL}, "openai", "gpt-x"),
        ("grok-x", {**A_KEY, "XAI_API_KEY": "k"}, "xai", "grok-x"),
        ("gemini-x", {**A_KEY, "GEMINI_API_KEY": "k"}, "gemini", "gemini-x"),
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
    assert choice.endpoint.headers == (("anthropic-version", "2023-06-01"),)
    assert choice.secret == (("x-api-key", "a-key"),)
    assert chosen(**A_TOKEN).secret == (("authorization", "Bearer a-token"),)
    assert chosen(**A_KEY, **A_TOKEN).secret == (("x-api-key", "a-key"),)
    assert chosen(**A_KEY, **A_URL).endpoint.base_url == "http://127.0.0.1:1"
    choice = chosen(**O_KEY)
    assert choice.endpoint.base_url == "https://api.openai.com/v1"
    assert choice.secret == (("authorization", "Bearer o-key"),)
    choice = chosen(**O_URL)
    assert choice.endpoint.base_url == "http://127.0.0.1:2/v1"
    assert (choice.wire, choice.secret, choice.endpoint.headers) == ("chat", (), ())
    assert chosen("anthropic/x", **A_URL).secret == ()
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
    wishes = Wishes(timers=Timers(1.0, 2.0))
    route = build_route(chosen(**A_KEY, **A_URL), wishes, {})
    assert route.name == SONNET
    assert (route.bounds.window, route.bounds.max_output) == (
        KNOWN.facts(SONNET).window,
        KNOWN.facts(SONNET).max_output,
    )
    assert route._url == "http://127.0.0.1:1/v1/messages"
    assert route._headers["content-type"] == "application/json"
    assert isinstance(route._wire, AnthropicMessages)
    chat = build_route(chosen(**O_URL), wishes, {})
    assert chat._url == "http://127.0.0.1:2/v1/chat/completions"
    assert isinstance(chat._wire, OpenAIChat)


@pytest.mark.parametrize(
    ("wanted", "environ", "wire", "url"),
    [
        ("openai/gpt-5", {"OPENAI_API_KEY": "k"}, "responses", "https://api.openai.com/v1"),
        ("openai/gpt-4o", {"OPENAI_API_KEY": "k"}, "chat", "https://api.openai.com/v1"),
        # A server of one's own speaks Chat Completions, whatever its models are called.
        ("openai/gpt-5", O_URL, "chat", "http://127.0.0.1:2/v1"),
        ("openai-responses/x", O_URL, "responses", "http://127.0.0.1:2/v1"),
        ("gemini/x", {"GEMINI_API_KEY": "k"}, "gemini", None),
        (
            "gemini/x",
            {"GEMINI_BASE_URL": "http://127.0.0.1:3"},
            "gemini",
            "http://127.0.0.1:3/v1beta",
        ),
        (
            "azure/x",
            {"AZURE_OPENAI_ENDPOINT": "https://h.example", "AZURE_OPENAI_API_KEY": "k"},
            "chat",
            "https://h.example/openai/v1",
        ),
        ("lmstudio/x", {}, "chat", "http://127.0.0.1:1234/v1"),
    ],
)
def test_each_provider_has_its_wire(
    wanted: str, environ: dict[str, str], wire: str, url: str | None
) -> None:
    choice = chosen(wanted, **environ)
    assert choice.wire == wire
    assert choice.endpoint.base_url == url or url is None


@pytest.mark.parametrize(
    ("wanted", "environ", "header"),
    [
        ("gemini/x", {"GEMINI_API_KEY": "k"}, ("x-goog-api-key", "k")),
        ("gemini/x", {"GOOGLE_API_KEY": "k"}, ("x-goog-api-key", "k")),
        (
            "azure/x",
            {"AZURE_OPENAI_ENDPOINT": "https://h.example", "AZURE_OPENAI_API_KEY": "k"},
            ("api-key", "k"),
        ),
        ("groq/x", {"GROQ_API_KEY": "k"}, ("authorization", "Bearer k")),
    ],
)
def test_each_provider_is_told_the_key_its_way(
    wanted: str, environ: dict[str, str], header: tuple[str, str]
) -> None:
    assert chosen(wanted, **environ).secret == (header,)


def test_a_misspelt_provider_is_named() -> None:
    with pytest.raises(BadInput, match="no provider antropic; did you mean anthropic/"):
        chosen("antropic/claude-sonnet-5-5", **A_KEY)


def test_a_server_of_ones_own_names_its_models_as_it_likes() -> None:
    choice = chosen("Qwen/Qwen3-Coder", **O_URL)
    assert (choice.provider, choice.model) == ("openai", "Qwen/Qwen3-Coder")


def test_the_environment_says_what_an_alias_means() -> None:
    choice = chosen("sonnet", ANTHROPIC_DEFAULT_SONNET_MODEL="mine", **A_KEY)
    assert choice.model == "mine"


def test_headers_of_ones_own_are_sent_on_the_anthropic_wire() -> None:
    choice = chosen(ANTHROPIC_CUSTOM_HEADERS="X-Team: core team\nbroken\nX-B: 2", **A_KEY)
    assert dict(choice.endpoint.headers) == {
        "anthropic-version": "2023-06-01",
        "x-team": "core team",
        "x-b": "2",
    }
    with pytest.raises(BadInput, match="x-evil"):
        chosen(ANTHROPIC_CUSTOM_HEADERS="X-Evil: a\x00b", **A_KEY)


def test_betas_are_sent_as_a_header() -> None:
    route = build_route(chosen(**A_KEY), Wishes(betas=("a", "b")), {})
    assert route._headers["anthropic-beta"] == "a,b"


def test_a_helper_stands_for_the_key() -> None:
    helped = replace(KNOWN.providers["anthropic"], key_helper="my-helper")
    known = replace(KNOWN, providers={**KNOWN.providers, "anthropic": helped})
    choice = choose("", {}, known)
    assert (choice.provider, choice.secret) == ("anthropic", ())


def test_a_model_of_a_maker_without_a_key_says_so() -> None:
    with pytest.raises(NoModel, match=r"gpt-5 is a model of openai.*OPENAI_API_KEY"):
        chosen("gpt-5", **A_KEY)
    assert chosen("claude-x", **O_URL).provider == "openai", "a server of one's own has anything"
    assert chosen("claude-x", OPENROUTER_API_KEY="k").provider == "openrouter"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("opus[1m]", KNOWN.aliases["opus"]),
        ("opusplan", KNOWN.aliases["opus"]),
        ("default", SONNET),
        ("claude-x[1m]", "claude-x"),
    ],
)
def test_names_that_others_use(name: str, model: str) -> None:
    assert chosen(name, **A_KEY).model == model


def test_at_another_address_it_is_somebody_else_who_answers() -> None:
    home, away = chosen(**A_KEY), chosen(**A_KEY, **A_URL)
    assert author_of(home) == "anthropic"
    assert author_of(away) == "anthropic at http://127.0.0.1:1"


def test_what_the_user_says_of_a_model_is_said_of_one_provider() -> None:
    own = ModelFacts(window=5_000)
    known = replace(KNOWN, models={**KNOWN.models, f"house/{SONNET}": own})
    assert known.facts(SONNET, "house") == own
    assert known.facts(SONNET, "anthropic") == KNOWN.facts(SONNET)


def test_the_manner_is_the_providers_and_the_users() -> None:
    deepseek = chosen("deepseek/deepseek-reasoner", DEEPSEEK_API_KEY="k")
    manner = manner_of(deepseek, Wishes(effort="high", thinking_budget=5, caching=False))
    assert manner.provider == "deepseek"
    assert "reasoning_back" in manner.quirks
    assert (manner.effort, manner.thinking_budget, manner.caching) == ("", 5, False)
    assert manner_of(deepseek, Wishes()).replay == "tool_turns"
    assert manner_of(deepseek, Wishes(replay="never")).replay == "never"
    gpt = chosen("openai/gpt-5", OPENAI_API_KEY="k")
    assert manner_of(gpt, Wishes()).replay == "always"
    assert manner_of(chosen(**A_KEY), Wishes()).thinks == "adaptive"
    assert manner_of(chosen("claude-3-7-sonnet-20250219", **A_KEY), Wishes()).thinks == "budget"


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


def test_what_is_kept_for_an_hour_costs_twice_its_input() -> None:
    facts = ModelFacts(price=(2.0, 10.0, 0.2, 2.5))
    assert facts.cost(Usage(0, 0, 0, 1_000_000, 400_000)) == pytest.approx(0.6 * 2.5 + 0.4 * 4.0)
    total = Usage(0, 0, 0, 3, 2) + Usage(0, 0, 0, 3, 1)
    assert (total.cache_write, total.cache_write_1h, total.context) == (6, 3, 6)


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
    ("pattern", "fits", "does_not"),
    [
        ("a-*", ["a-", "a-b"], ["a", "b-a-"]),
        ("a", ["a"], ["ab", ""]),
        ("a-*-4-5*", ["a-x-4-5", "a-x-4-5-20250101"], ["a-4-5", "a-x-4-6"]),
        ("*-mini", ["o4-mini"], ["o4-minimal", "mini"]),
    ],
)
def test_a_family_is_a_pattern_of_names(pattern: str, fits: list[str], does_not: list[str]) -> None:
    known = Catalog("", {}, {}, {}, (Family(match=(pattern,), thinks="effort"),))
    assert [known.traits_of(name).thinks for name in fits] == ["effort"] * len(fits)
    assert [known.traits_of(name).thinks for name in does_not] == [""] * len(does_not)


@pytest.mark.parametrize(
    ("name", "thinks"),
    [
        ("claude-3-5-haiku", ""),
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-opus-4-1-20250805", "budget"),
        ("claude-sonnet-4-5-20250929", "budget"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-5-5", "adaptive"),
        ("gpt-5.3-codex", "effort"),
        ("gpt-4o", ""),
        ("gemini-2.5-pro", "budget"),
        ("gemini-3-pro-preview", "effort"),
        ("openai/gpt-oss-120b", "effort"),
    ],
)
def test_each_family_thinks_in_its_way(name: str, thinks: str) -> None:
    assert KNOWN.traits_of(name).thinks == thinks


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
        assert provider.wire in WIRES, name
        assert provider.base_url.startswith("http") or provider.cloud or provider.path, name
        assert not provider.base_url.endswith("/")
        assert not provider.model or KNOWN.facts(provider.model).price is not None, name
    for name, facts in KNOWN.models.items():
        assert facts.window > facts.max_output >= 0, name
        assert facts.price is None or min(facts.price) >= 0


@pytest.mark.parametrize(
    ("wanted", "wishes", "told"),
    [
        ("claude-sonnet-5-5", Wishes(effort="high"), ("high", None)),
        ("claude-3-7-sonnet", Wishes(effort="high"), ("", 16_384)),
        ("claude-3-7-sonnet", Wishes(effort="high", thinking_budget=0), ("", 0)),
        ("claude-3-5-haiku", Wishes(effort="high"), ("", None)),
        ("claude-3-5-haiku", Wishes(thinking_budget=9), ("", 9)),
    ],
)
def test_effort_is_a_budget_where_only_tokens_count(
    wanted: str, wishes: Wishes, told: tuple[str, int | None]
) -> None:
    manner = manner_of(chosen(wanted, **A_KEY), wishes)
    assert (manner.effort, manner.thinking_budget) == told


def test_every_quirk_in_the_catalog_is_known_to_its_wire() -> None:
    for name, facts in KNOWN.providers.items():
        assert set(facts.quirks) <= (set(QUIRKS) if facts.wire == "chat" else set()), name
    for family in KNOWN.traits:
        assert set(family.quirks) <= set(QUIRKS)


@pytest.mark.parametrize(
    ("dated", "plain"),
    [
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-opus-4@20250514", "claude-opus-4-0"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-0"),
        ("anthropic/claude-sonnet-4", "claude-sonnet-4-0"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
    ],
)
def test_the_first_of_a_generation_is_known_by_its_date(dated: str, plain: str) -> None:
    assert KNOWN.facts(dated) == KNOWN.facts(plain)
    assert KNOWN.facts(dated).price is not None
    assert KNOWN.traits_of(dated).thinks == "budget"


def test_every_gemini_has_its_window_and_its_limit() -> None:
    for name, facts in KNOWN.models.items():
        if name.startswith("gemini"):
            assert (facts.window >= 1_000_000, facts.max_output) == (True, 65_536), name


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("sonnet", "is a model of anthropic, which needs a key: set ANTHROPIC_API_KEY"),
        ("grok-4", "is a model of xai, which needs a key: set XAI_API_KEY"),
        ("foo/bar", "there is no provider foo; known are"),
        ("antropic/x", "did you mean anthropic/"),
        ("ollama", "name the model: --model ollama/NAME"),
        ("embeded", "did you mean embedded"),
        ("", "no model is configured"),
        ("nonsense-model", "no model is configured"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_why(wanted: str, told: str) -> None:
    with pytest.raises(NoModel) as caught:
        chosen(wanted)
    assert told in str(caught.value)
