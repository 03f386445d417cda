"""The environment that child processes get: the user's, without the keys to the model."""

from collections.abc import Mapping

MODEL_PROVIDERS = frozenset(
    {
        "ANTHROPIC",
        "AZURE_OPENAI",
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
        "KIMI",
        "MINIMAX",
        "MISTRAL",
        "MOONSHOT",
        "NVIDIA",
        "OPENAI",
        "OPENROUTER",
        "PERPLEXITY",
        "TOGETHER",
        "VOYAGE",
        "XAI",
        "ZAI",
        "ZHIPU",
    }
)
CREDENTIAL_ENDINGS = ("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_CUSTOM_HEADERS")
CREDENTIALS = frozenset({"CLAUDE_CODE_OAUTH_TOKEN"})

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


def child_environment(base: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in base.items() if _may_pass(name)}
    return {**WHEN_UNSET, **kept, **ALWAYS}


def _may_pass(name: str) -> bool:
    changes_shell = name in SHELL_START or name.startswith(SHELL_FUNCTION)
    return not changes_shell and not is_credential(name)


def is_credential(name: str) -> bool:
    if name in CREDENTIALS:
        return True
    return any(
        name.endswith(ending) and name.removesuffix(ending) in MODEL_PROVIDERS
        for ending in CREDENTIAL_ENDINGS
    )
