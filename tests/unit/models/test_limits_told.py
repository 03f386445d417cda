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
    (
        "openai responses, configured",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages "
        "resulted in 280123 tokens. Please reduce the length of the messages.",
        272_000,
        280_123,
    ),
    (
        "azure/openai completions",
        "This model's maximum context length is 4097 tokens, however you requested 5360 "
        "tokens (1360 in your prompt; 4000 for the completion). Please reduce your "
        "prompt; or completion length.",
        4_097,
        1_360,
    ),
    (
        "groq/cerebras",
        "Please reduce the length of the messages or completion. Current length is 9048 "
        "while limit is 8192",
        8_192,
        9_048,
    ),
    (
        "fireworks",
        "The prompt is too long: 140123, model maximum context length: 131072",
        131_072,
        140_123,
    ),
    (
        "sglang",
        "The input (12345 tokens) is longer than the model's context length (8192 tokens).",
        8_192,
        12_345,
    ),
    (
        "sglang 2",
        "Requested token count exceeds the model's maximum context length of 8192 tokens."
        " You requested a total of 9000 tokens: 8500 tokens from the input messages and "
        "500 tokens for the completion. Please reduce the number of tokens in the input "
        "messages or the completion to fit within the limit.",
        8_192,
        8_500,
    ),
    (
        "cohere",
        "too many tokens: total number of tokens in this request cannot exceed 128000 "
        "(received 130001). Try using shorter or fewer inputs, or setting "
        "prompt_truncation='AUTO'.",
        128_000,
        130_001,
    ),
    (
        "cohere 2",
        "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer"
        " inputs. The limit for this model is 132096 tokens.",
        132_096,
        0,
    ),
    (
        "vertex",
        "Unable to submit request because the input token count is 40001 but model only "
        "supports up to 32768. Reduce the input token count and try again.",
        32_768,
        40_001,
    ),
    (
        "dashscope",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        129_024,
        0,
    ),
    (
        "minimax",
        "invalid params, context window exceeds limit (2013)",
        0,
        0,
    ),
    (
        "z.ai",
        "Prompt exceeds max length",
        0,
        0,
    ),
    (
        "moonshot",
        "Invalid request: Your request exceeded model token limit: 131072 (requested: 140001)",
        131_072,
        140_001,
    ),
    (
        "llama-cpp-python",
        "Requested tokens (2102) exceed context window of 2048",
        2_048,
        2_102,
    ),
    (
        "tabby",
        "Prompt length 9000 is greater than max_seq_len 8192",
        8_192,
        9_000,
    ),
    (
        "tensorrt",
        "Prompt length (9000) exceeds maximum input length (8192). Set log level to info",
        8_192,
        9_000,
    ),
    (
        "lm studio, what is kept",
        "The number of tokens to keep from the initial prompt is greater than the context"
        " length (n_keep: 6120>= n_ctx: 4096). Try to load the model with a larger "
        "context length",
        4_096,
        6_120,
    ),
    (
        "bedrock, without numbers",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please "
        "update the input to try again.",
        0,
        0,
    ),
    (
        "deepseek",
        "This model's maximum context length is 131072 tokens. However, you requested "
        "140003 tokens (132003 in the messages, 8000 in the completion). Please reduce "
        "the length of the messages or completion.",
        131_072,
        132_003,
    ),
    (
        "together",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. "
        "Given: 4074 `inputs` tokens and 512 `max_new_tokens`",
        4_097,
        4_074,
    ),
    (
        "together 2",
        "The input token count 9000 and max_tokens 1000 exceed the model's context length 8192",
        8_192,
        9_000,
    ),
    (
        "databricks",
        "BAD_REQUEST: Input token length 9000 exceeds the maximum of 8192 tokens",
        8_192,
        9_000,
    ),
    (
        "vllm max",
        "max_tokens must be at least 1, got -300. This model's maximum context length is "
        "8192 tokens and your request has 8492 input tokens",
        8_192,
        8_492,
    ),
    (
        "perplexity",
        "The maximum context length for this model is 127072 tokens",
        127_072,
        0,
    ),
    (
        "sglang, newer",
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a "
        "shorter input or enable --allow-auto-truncate.",
        59_862,
        160_062,
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


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens is too large: 200000. This model supports at most 8192 completion tokens.",
        "Rate limit reached: limit 30000 tokens per minute, requested 31000.",
        "Invalid schema: maxLength of `name` is 64",
        "tools.0.name: string should have at most 64 characters",
    ],
)
def test_other_limits_are_not_taken_for_the_window(text: str) -> None:
    body = json.dumps({"error": {"message": text}}).encode()
    assert failure_from_http(400, {}, body).kind == "invalid_request"
