"""The providers' own clients against the scripted server: if they agree, the server is right."""

from __future__ import annotations

import pytest

from detent.testing import RedactedThink, Reply, call, reply, say, think


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, an address or a proxy of the machine must not leak into a test."""
    for vendor in ("ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE"):
        for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "ORG_ID", "PROJECT_ID"):
            monkeypatch.delenv(f"{vendor}_{name}", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def rich() -> Reply:
    """Everything an answer can hold, in fragments."""
    return reply(
        think("let me ", "see", signature="signed"),
        RedactedThink("sealed"),
        say("Hello ", "wörld 😀"),
        call("Bash", {"command": "ls"}, id="one", pieces=["", '{"comm', 'and": "ls"}']),
        call(
            "Read",
            {"path": "ü", "lines": [1, 2]},
            id="two",
            pieces=['{"path": "ü", ', '"lines": [1, 2]}'],
        ),
        input=100,
        output=20,
        cache_read=7,
        cache_write=3,
        reasoning=4,
    )
