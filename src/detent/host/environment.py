"""The environment that child processes get: the user's, without the keys to the model."""

from collections.abc import Collection, Mapping

MODEL_PROVIDERS = frozenset(
    {
        "ANTHROPIC",
        "AZURE_OPENAI",
        "BRAVE",
        "CEREBRAS",
        "CLAUDE",
        "COHERE",
        "DASHSCOPE",
        "DEEPSEEK",
        "DETENT",
        "FIREWORKS",
        "GEMINI",
        "GOOGLE",
        "GROQ",
        "HUGGINGFACE",
        "KIMI",
        "LLAMA",
        "MINIMAX",
        "MISTRAL",
        "MOONSHOT",
        "NVIDIA",
        "OPENAI",
        "OPENROUTER",
        "PERPLEXITY",
        "TAVILY",
        "TOGETHER",
        "VLLM",
        "VOYAGE",
        "XAI",
        "ZAI",
        "ZHIPU",
    }
)
CREDENTIAL_ENDINGS = ("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_CUSTOM_HEADERS")
CREDENTIALS = frozenset(
    {
        "ANTHROPIC_FOUNDRY_API_KEY",
        "AWS_BEARER_TOKEN_BEDROCK",
        "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "DETENT_CLIENT_KEY_PASSPHRASE",
    }
)

SHELL_START = frozenset({"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS"})
"""What a shell would run or switch before the command: it would no longer be what was judged."""
SHELL_FUNCTION = "BASH_FUNC_"

ALWAYS = {
    "DETENT": "1",
    "CLAUDECODE": "1",  # scripts and test runners in the field look for this name
    # Nobody can answer a question or leave a pager: there is no terminal.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
}
WHEN_UNSET = {"TERM": "dumb"}


def child_environment(
    base: Mapping[str, str],
    *,
    withheld: Collection[str] = (),
    passed: Collection[str] = (),
) -> dict[str, str]:
    """`withheld`: more variables with keys; `passed`: keys that the user wants children to have."""
    kept = {
        name: value
        for name, value in base.items()
        if not _changes_shell(name)
        and (name in passed or not (name in withheld or is_credential(name)))
    }
    return {**WHEN_UNSET, **kept, **ALWAYS}


def _changes_shell(name: str) -> bool:
    return name in SHELL_START or name.startswith(SHELL_FUNCTION)


def is_credential(name: str) -> bool:
    if name in CREDENTIALS:
        return True
    return any(
        name.endswith(ending) and name.removesuffix(ending) in MODEL_PROVIDERS
        for ending in CREDENTIAL_ENDINGS
    )
