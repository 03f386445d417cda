"""The first five minutes in a real terminal: nothing is configured, one screen, one question."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]

KEY = "sk-ant-test-pasted-0123456789"
NO_KEY = {"ANTHROPIC_API_KEY": None}
NOTHING = {**NO_KEY, "ANTHROPIC_BASE_URL": None}
NO_MODEL = "There is no model yet: /model names one"
QUESTION = "No model is known yet"


def test_a_key_is_pasted_kept_and_used(runner: Runner, sit: Sit) -> None:
    """No screen shows it, and no file but one holds it, which only its owner may read."""
    runner.serve("Hello to you.", "And again.")
    term = sit(env=NO_KEY)
    term.see(QUESTION, "Paste a key", "Use the embedded model", "Look around without a model")
    term.type("1")
    term.see("Paste a key and press enter")
    term.paste(KEY)
    term.see("•" * len(KEY))
    term.press("enter")
    term.rest("The key for anthropic is kept in", READY)
    term.say("hello")
    term.rest("Hello to you.")
    assert runner.requests[0].headers["x-api-key"] == KEY
    term.press("ctrl+d")
    assert term.ended() == 0
    assert KEY.encode() not in term.raw
    (holding,) = (file for file in runner.folder.rglob("*")
                  if file.is_file() and KEY.encode() in file.read_bytes())  # fmt: skip
    assert stat.S_IMODE(holding.stat().st_mode) == 0o600
    assert runner.prompt("and you?", env=NO_KEY).result["result"] == "And again."


def test_a_seller_of_many_models_is_asked_for_one(runner: Runner, sit: Sit) -> None:
    """A key alone does not say which."""
    term = sit(env=NOTHING)
    term.see(QUESTION)
    term.type("1")
    term.see("Paste a key and press enter")
    term.paste("sk-or-test-0123456789")
    term.press("enter")
    term.see("Which model of openrouter?")
    term.say("maker/model-1")
    term.see(READY, "maker/model-1")
    settings = json.loads((runner.state / "settings.json").read_text())
    assert settings["model"] == "openrouter/maker/model-1"


def test_who_leaves_the_question_leaves_nothing_behind(runner: Runner, sit: Sit) -> None:
    term = sit(env=NOTHING)
    term.see(QUESTION)
    term.type("1")
    term.see("Paste a key and press enter")
    term.type("half a key")
    term.see("••••••••••")
    term.press("escape")
    term.see(QUESTION)
    term.press("escape")
    assert term.ended() == 0
    assert not runner.state.exists()
    assert "half a key" not in term.past


def test_a_server_that_is_found_is_offered_and_used(runner: Runner, sit: Sit) -> None:
    runner.serve("From this very machine.")
    local = {"DETENT_DISCOVERY_PORTS": f"ollama={runner.server.port}"}
    address = {"providers": {"ollama": {"baseUrl": f"{runner.server.url}/v1"}}}
    runner.state.mkdir()
    (runner.state / "settings.json").write_text(json.dumps(address))
    term = sit(env={**NOTHING, **local})
    term.see(QUESTION, f"Use Ollama on 127.0.0.1:{runner.server.port}")
    assert runner.requests == []
    term.type("1")
    term.see(READY)
    term.say("hello")
    term.see("From this very machine.")
    term.press("ctrl+d")
    assert term.ended() == 0
    settings = json.loads((runner.state / "settings.json").read_text())
    assert settings["model"].startswith("ollama/"), "the next time nobody is asked"


def test_looking_around_without_a_model(runner: Runner, sit: Sit) -> None:
    """What needs no model works; what needs one says so; what is unknown has a neighbour."""
    term = sit(env=NOTHING, rows=60)
    term.see(QUESTION)
    term.type("3")
    term.rest("No model: commands work", READY)
    term.say("/help")
    term.rest("/compact", "/export")
    term.say("/status")
    term.rest("❯ /status")
    term.say("/doctor")
    term.rest("ripgrep")
    term.say("/hellp")
    term.see("did you mean /help?")
    term.say("hello")
    term.rest(NO_MODEL, "❯ hello")
    term.press("ctrl+c", "ctrl+d")
    assert term.ended() == 0
