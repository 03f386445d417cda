"""What servers say when a prompt is too long: recognised, and the window learned from it."""

from __future__ import annotations

import json

import pytest

from detent.models.failures import failure_from_http, failure_in_stream
from detent.models.limits_told import limits_told

SAID = [
    ("anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000, 213_462),
    (
        "anthropic, with the answer",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease "
        "input length or `max_tokens` and try again",
        200_000,
        188_240,
    ),
    (
        "openai",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in "
        "131205 tokens. Please reduce the length of the messages.",
        128_000,
        131_205,
    ),
    (
        "openai, with functions",
        "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens "
        "(4000 in the messages, 1100 in the functions, and 4000 in the completion).",
        8_192,
        5_100,
    ),
    ("openai responses", "Your input exceeds the context window of this model.", 0, 0),
    (
        "vllm",
        "This model's maximum context length is 32768 tokens. However, your request has 40123 "
        "input tokens. Please reduce the length of the input messages.",
        32_768,
        40_123,
    ),
    (
        "vllm, the answer",
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context "
        "length is 4096 tokens and your request has 2778 input tokens (8000 > 4096 - 2778).",
        4_096,
        2_778,
    ),
    (
        "vllm, newer",
        "You passed 40961 input tokens and requested 0 output tokens. However, the model's context "
        "length is only 40960 tokens, resulting in a maximum input length of 40960 tokens. Please "
        "reduce the length of the input prompt. This model's maximum context length is 40960.",
        40_960,
        40_961,
    ),
    (
        "vllm, the engine",
        "The decoder prompt (length 15083) is longer than the maximum model length of 8192. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens.",
        8_192,
        15_083,
    ),
    (
        "llama.cpp",
        "request (5021 tokens) exceeds the available context size (4096 tokens), try increasing it",
        4_096,
        5_021,
    ),
    ("llama.cpp, older", "the request exceeds the available context size", 0, 0),
    (
        "openrouter",
        "This endpoint's maximum context length is 131072 tokens. However, you requested about "
        "139521 tokens (138021 of text input, 1500 in the output). Please reduce the length.",
        131_072,
        138_021,
    ),
    (
        "openrouter, with tools",
        "This endpoint's maximum context length is 256000 tokens. However, you requested about "
        "424983 tokens (358454 of text input, 56529 of tool input, 10000 in the output).",
        256_000,
        414_983,
    ),
    ("ollama", "the input length exceeds the context length", 0, 0),
    ("ollama, newer", "prompt too long; exceeded max context length by 512 tokens", 0, 0),
    (
        "lm studio",
        "Trying to keep the first 6120 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens, which is not enough.",
        4_096,
        0,
    ),
    (
        "gemini",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_048_575,
        1_196_265,
    ),
    ("bedrock", "Input is too long for requested model.", 0, 0),
    (
        "bedrock, other models",
        "too many input tokens. Max input tokens: 42000, request input token count: 42201",
        42_000,
        42_201,
    ),
    (
        "mistral",
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        32_768,
        65_673,
    ),
    (
        "xai",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131_072,
        537_812,
    ),
]


@pytest.mark.parametrize(
    ("text", "window", "tokens"), [one[1:] for one in SAID], ids=[one[0] for one in SAID]
)
def test_a_prompt_too_long_is_known_by_the_words_of_each_server(
    text: str, window: int, tokens: int
) -> None:
    body = json.dumps({"error": {"message": text, "type": "invalid_request_error"}}).encode()
    failure = failure_from_http(400, {}, body)
    assert failure.kind == "prompt_too_long"
    assert (failure.window, failure.tokens) == (window, tokens)
    streamed = failure_in_stream({"error": {"message": text}})
    assert (streamed.kind, streamed.window) == ("prompt_too_long", window)


def test_numbers_beside_the_message_count_as_well() -> None:
    error = {
        "code": 400,
        "message": "the request exceeds the available context size. try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 5021,
        "n_ctx": 4096,
    }
    failure = failure_from_http(400, {}, json.dumps({"error": error}).encode())
    assert (failure.kind, failure.window, failure.tokens) == ("prompt_too_long", 4096, 5021)
    failure = failure_in_stream({"error": error})
    assert (failure.kind, failure.window, failure.tokens) == ("prompt_too_long", 4096, 5021)


def test_an_ollama_server_says_it_with_500() -> None:
    failure = failure_from_http(500, {}, b'{"error":"the input length exceeds the context length"}')
    assert failure.kind == "prompt_too_long"


@pytest.mark.parametrize("text", ["", "no numbers", "maximum context length is 12 tokens"])
def test_what_is_no_window_is_none(text: str) -> None:
    assert limits_told(text)[0] == 0


def test_other_failures_tell_no_window() -> None:
    body = b'{"error":{"message":"rate limit: maximum context length is 4096 tokens"}}'
    failure = failure_from_http(429, {}, body)
    assert (failure.kind, failure.window) == ("rate_limit", 0)
