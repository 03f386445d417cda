"""Keys that the user has given us to keep, and whose they are. No answer and no error holds one."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from detent.app.key_file import IN_KEYRING, forget, keep, providers_kept
from detent.app.models import known_models
from detent.app.settings.sources import load_sources, merge, where_of
from detent.types.errors import BadInput

__all__ = [
    "IN_KEYRING",
    "KeyHolder",
    "forget_key",
    "known_providers",
    "provider_of_key",
    "store_key",
    "stored_providers",
]

TITLES = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "gemini": "Google Gemini",
    "azure": "Azure OpenAI",
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
    "openrouter": "OpenRouter",
    "deepseek": "DeepSeek",
    "qwen": "Qwen (DashScope)",
    "mistral": "Mistral",
    "moonshot": "Moonshot (Kimi)",
    "xai": "xAI",
    "groq": "Groq",
}
BEGINNINGS = {
    "sk-ant-": "anthropic",
    "sk-or-": "openrouter",
    "AIza": "gemini",
    "gsk_": "groq",
    "xai-": "xai",
    "sk-": "openai",
}
"""How keys begin, the longest first: several providers have keys that begin with `sk-`."""


class KeyHolder(NamedTuple):
    name: str
    title: str
    variable: str
    """That holds the key where it is not stored."""


def known_providers(environ: Mapping[str, str] | None = None) -> tuple[KeyHolder, ...]:
    """Those that take a key, the user's own included; one for each variable."""
    environ = os.environ if environ is None else environ
    sources = load_sources(where_of(os.getcwd(), environ), ("user",))
    found: dict[str, KeyHolder] = {}
    for name, facts in known_models(merge(sources, trusted=False)).providers.items():
        if variables := facts.variables:
            holder = KeyHolder(name, TITLES.get(name, name), variables[0])
            found.setdefault(variables[0], holder)
    return tuple(found.values())


def provider_of_key(key: str) -> str:
    """Whose it seems to be by its beginning; empty where nobody can tell."""
    text = key.strip()
    return next((name for start, name in BEGINNINGS.items() if text.startswith(start)), "")


def store_key(provider: str, key: str, environ: Mapping[str, str] | None = None) -> str:
    """Where it lies now: the system's keyring, or a file of mode 0600. Counts from the next session
    on, where no variable holds another one. Raises BadInput."""
    environ = os.environ if environ is None else environ
    if provider not in (known := [holder.name for holder in known_providers(environ)]):
        raise BadInput(f"{provider[:80]!r} takes no key; known are {', '.join(known)}")
    return keep(provider, key.strip(), environ)


def forget_key(provider: str, environ: Mapping[str, str] | None = None) -> bool:
    """Whether there was one. Raises BadInput."""
    return forget(provider, os.environ if environ is None else environ)


def stored_providers(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Whose keys are stored; no keyring is opened to find out."""
    return providers_kept(os.environ if environ is None else environ)
