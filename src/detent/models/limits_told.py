"""What a server says of a model's window when a prompt was too long, in the words of each."""

import re

_NUMBER = r"(\d[\d,_]*)"
_WINDOWS = (
    rf"['\"]n_ctx['\"]\s*:\s*{_NUMBER}",  # llama.cpp, as a field
    rf"n_ctx:?\s*=?\s*{_NUMBER}",  # LM Studio
    rf"exceed context limit: {_NUMBER} \+ \d[\d,]* > (?P<window>\d[\d,]*)",  # Anthropic
    rf"> {_NUMBER} maximum",  # Anthropic
    rf"available context size \({_NUMBER} tokens\)",  # llama.cpp
    # OpenAI, vLLM, Fireworks, SGLang
    r"maximum (?:context|prompt|model|input|allowed) length:?(?: for this model)? (?:is|of)?"
    rf"\s*\(?{_NUMBER}",
    rf"configured limit of {_NUMBER}",  # OpenAI
    rf"while limit is {_NUMBER}",  # Groq, Cerebras
    rf"{_NUMBER} maximum context length",  # Mistral
    rf"maximum number of tokens allowed \(?{_NUMBER}",  # Gemini
    rf"max(?:imum)? input tokens:? (?:is )?{_NUMBER}",  # Bedrock
    rf"context length of only {_NUMBER}",  # LM Studio, Ollama
    # llama-cpp-python, SGLang, Together
    rf"context (?:window|length|size|limit)(?: limit)?(?: of| is)?(?: only)? \(?{_NUMBER}",
    rf"exceeds the (?:limit|maximum) of {_NUMBER}",  # Copilot, Databricks
    rf"cannot exceed {_NUMBER}",  # Cohere
    rf"limit for this model is {_NUMBER}",  # Cohere
    rf"only supports up to {_NUMBER}",  # Vertex
    rf"input length should be \[\d+, ?{_NUMBER}\]",  # DashScope
    rf"max size: {_NUMBER} tokens",  # GitHub
    rf"max_seq_len {_NUMBER}",  # TabbyAPI
    rf"model token limit: {_NUMBER}",  # Moonshot
    rf"must be <= {_NUMBER}",  # text-generation-inference
    rf"\bmax {_NUMBER}\)",  # llama.cpp, old
)
_PROMPTS = (
    rf"['\"]n_prompt_tokens['\"]\s*:\s*{_NUMBER}",
    rf"exceed context limit: {_NUMBER} \+",
    rf"prompt is too long:? \(?{_NUMBER}",
    # OpenRouter
    rf"\({_NUMBER} of text input(?:, {_NUMBER} of \w+ input)?(?:, {_NUMBER} of \w+ input)?",
    rf"\({_NUMBER} in (?:the|your) (?:messages|prompt)(?:, {_NUMBER} in the functions)?",  # OpenAI
    rf"(?:request|prompt) has {_NUMBER} input tokens",  # vLLM
    rf"you passed {_NUMBER} input tokens",  # vLLM
    rf"prompt contains (?:at least )?{_NUMBER} (?:input )?(?:tokens|characters)",  # vLLM, Mistral
    rf"messages resulted in {_NUMBER} tokens",  # OpenAI
    rf"request \({_NUMBER} tokens\)",  # llama.cpp
    rf"prompt \(length {_NUMBER}\)",  # vLLM
    rf"input token (?:count|length):? (?:of |is )?\(?{_NUMBER}",  # Gemini, Bedrock, Vertex
    rf"(?<!maximum )input(?: length)? \({_NUMBER}",  # SGLang
    rf"{_NUMBER} tokens from the input",  # SGLang
    rf"current length is {_NUMBER}",  # Groq, Cerebras
    rf"\(received {_NUMBER}\)",  # Cohere
    rf"\(requested: {_NUMBER}\)",  # Moonshot
    rf"requested tokens \({_NUMBER}\)",  # llama-cpp-python
    rf"prompt length \(?{_NUMBER}",  # TensorRT, TabbyAPI
    rf"request contains {_NUMBER} tokens",  # xAI
    rf"token count of {_NUMBER}",  # Copilot
    rf"n_keep: {_NUMBER}",  # LM Studio
    rf"given: {_NUMBER} `inputs` tokens",  # text-generation-inference
    rf"you requested (?:about )?{_NUMBER} tokens",  # with the answer's: better than nothing
)
SMALLEST, LARGEST = 256, 100_000_000
"""What is no window is taken for some other number."""


def limits_told(text: str) -> tuple[int, int]:
    """The window and how many tokens the prompt has; 0 where it is not said."""
    window = _first(_WINDOWS, text)
    return (window if SMALLEST <= window <= LARGEST else 0), _first(_PROMPTS, text)


def _first(patterns: tuple[str, ...], text: str) -> int:
    for pattern in patterns:
        if found := re.search(pattern, text, re.IGNORECASE):
            named = found.groupdict().get("window")
            return sum(map(_value, [named] if named else found.groups()))
    return 0


def _value(digits: str | None) -> int:
    return int(re.sub(r"\D", "", digits)) if digits else 0
