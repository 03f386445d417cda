"""Which models get the small profile: the user decides, then the catalog, then the name."""

from __future__ import annotations

import pytest

from detent.models.small.profile import is_small


@pytest.mark.parametrize(
    "name",
    ["qwen2.5-coder:1.5b", "ollama/llama3.2:3b", "Qwen/Qwen2.5-Coder-7B-Instruct", "gemma-2b-it",
     "deepseek-r1:8b", "phi-0.5B"],
)  # fmt: skip
def test_up_to_eight_billion_is_small(name: str) -> None:
    assert is_small(name)


@pytest.mark.parametrize(
    "name",
    ["qwen2.5-coder:14b", "llama3.3:70b", "mixtral-8x7b", "qwen3-coder", "gpt-6-luna",
     "claude-haiku-5-5", "qwen3-30b-a3b", "", "gpt-oss-120b", "8bit-model", "1b/large"],
)  # fmt: skip
def test_larger_or_unknown_is_not(name: str) -> None:
    assert not is_small(name)


def test_a_setting_beats_the_catalog_and_the_name() -> None:
    assert is_small("gpt-6-luna", setting="small")
    assert not is_small("qwen:1.5b", setting="full")
    assert not is_small("qwen:1.5b", setting="full", fact="small")
    assert is_small("qwen3-coder", fact="small")
    assert not is_small("qwen:1.5b", fact="full")
