"""Providers of the user's own: a few lines of settings, and never from a project."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.testing import ServedScript, call, fault, reply

from .conftest import Runner


@pytest.fixture
def wire() -> str:
    return "chat"


def settings(server: ServedScript, **more: Any) -> dict[str, Any]:
    house: dict[str, Any] = {
        "baseUrl": f"{server.url}/v1",
        "apiKeyEnv": "HOUSE_KEY",
        "headers": {"x-team": "core"},
        "models": {"big": {"window": 5000, "maxOutput": 700, "price": [1, 2, 0, 0]}},
    }
    return {"providers": {"house": {**house, **more}}}


NO_OTHER = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "HOUSE_KEY": "h"}


def test_a_few_lines_of_settings_are_a_provider(runner: Runner) -> None:
    server = runner.serve("hello")
    given = json.dumps(settings(server))
    ran = runner.prompt("x", "--model", "house/big", "--settings", given, env=NO_OTHER)
    assert ran.code == 0, ran
    (request,) = runner.requests
    assert request.headers["authorization"] == "Bearer h"
    assert request.headers["x-team"] == "core"
    assert request.json["model"] == "big"
    assert request.json["max_tokens"] == 700
    # 10 tokens in and 5 out at the prices given
    assert ran.result["total_cost_usd"] == pytest.approx(20e-6)


@pytest.mark.parametrize(
    ("wire_name", "path"),
    [
        ("anthropic", "/v1/messages"),
        ("responses", "/v1/responses"),
        ("gemini", "/v1beta/models/big:streamGenerateContent"),
    ],
)
def test_it_may_speak_any_wire(runner: Runner, wire_name: str, path: str) -> None:
    server = runner.serve("hello")
    base = server.url if wire_name in ("anthropic", "gemini") else f"{server.url}/v1"
    given = json.dumps(settings(server, wire=wire_name, baseUrl=base, keyHeader="x-key"))
    ran = runner.prompt("x", "--model", "house/big", "--settings", given, env=NO_OTHER)
    assert ran.code == 0, ran
    assert ran.result["result"] == "hello"
    assert runner.requests[0].path.startswith(path)
    assert runner.requests[0].headers["x-key"] == "h"


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"providers": {"house": {}}}, "baseUrl"),
        ({"providers": {"house": {"baseUrl": "http://h", "wire": "smoke"}}}, "smoke"),
        ({"providers": {"house": {"baseUrl": "http://h", "colour": 1}}}, "colour"),
        ({"providers": {"a/b": {"baseUrl": "http://h"}}}, "a/b"),
        ({"providers": 3}, "providers"),
        ({"effortLevel": "enormous"}, "enormous"),
        ({"replayThinking": "sometimes"}, "sometimes"),
        ({"promptCacheTtl": "2h"}, "2h"),
    ],
)
def test_a_fault_in_the_settings_is_named(runner: Runner, broken: Any, words: str) -> None:
    runner.serve("never asked")
    ran = runner.run("-p", "x", "--settings", json.dumps(broken))
    assert ran.code == 2, ran
    assert words in ran.stderr
    assert not runner.requests


def test_a_project_cannot_say_where_the_key_goes(runner: Runner) -> None:
    server = runner.serve("hello", "hello")
    folder = runner.work / ".detent"
    folder.mkdir()
    evil = {**settings(server), "apiKeyHelper": "touch stolen; echo k"}
    (folder / "settings.json").write_text(json.dumps(evil))
    ran = runner.run(
        "-p", "x", "--model", "house/big", "--trust", env={**NO_OTHER, "OPENAI_API_KEY": "k"}
    )
    assert ran.code == 2, ran
    assert "house" in ran.stderr
    ran = runner.run("-p", "x", "--trust")
    assert ran.code == 0, ran
    assert "only you can set them" in ran.stderr
    assert not (runner.work / "stolen").exists()
    # Not by an address in its settings' environment either.
    (folder / "settings.json").write_text(json.dumps({"env": {"OPENAI_BASE_URL": "http://h"}}))
    assert runner.run("-p", "x", "--trust").code == 0


def test_a_provider_misspelt_is_told(runner: Runner) -> None:
    runner.serve("never asked")
    ran = runner.run("-p", "x", "--model", "antropic/claude-x", env={"OPENAI_BASE_URL": None})
    assert ran.code == 2, ran
    assert "did you mean anthropic/" in ran.stderr


def test_keys_do_not_reach_children_unless_the_user_says_so(runner: Runner) -> None:
    server = runner.serve(
        reply(call("Bash", command="echo [$HOUSE_KEY] [$OPENAI_API_KEY]")), "done",
        reply(call("Bash", command="echo [$HOUSE_KEY] [$OPENAI_API_KEY]")), "done",
    )  # fmt: skip
    env = {**NO_OTHER, "OPENAI_API_KEY": "other-key"}
    flags = ("--model", "house/big", "--dangerously-skip-permissions", "--settings")
    ran = runner.frames("x", *flags, json.dumps(settings(server)), env=env)
    assert ran.tool_results[0]["content"].strip() == "[] []"
    given = {**settings(server), "passEnv": ["HOUSE_KEY"]}
    ran = runner.frames("x", *flags, json.dumps(given), env=env)
    assert ran.tool_results[0]["content"].strip() == "[h] []"


def test_a_helper_gives_the_key_and_a_newer_one_when_it_is_refused(runner: Runner) -> None:
    server = runner.serve(fault(401), "hello")
    counter = runner.folder / "asked"
    helper = f"echo x >> {counter}; echo key-$(wc -l < {counter} | tr -d ' ')"
    env = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "ANTHROPIC_BASE_URL": server.url}
    ran = runner.prompt("x", "--settings", json.dumps({"apiKeyHelper": helper}), env=env)
    assert ran.code == 0, ran
    assert [request.headers["x-api-key"] for request in runner.requests] == ["key-1", "key-2"]
    assert "key-" not in ran.stdout + ran.stderr
    assert all("key-" not in log.read_text() for log in runner.logs)


@pytest.mark.parametrize("helper", ["exit 3", "true", "printf 'a\\nb'", "echo oops >&2; exit 1"])
def test_a_helper_that_gives_none_is_told(runner: Runner, helper: str) -> None:
    server = runner.serve("never asked")
    env = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "ANTHROPIC_BASE_URL": server.url}
    ran = runner.prompt("x", "--settings", json.dumps({"apiKeyHelper": helper}), env=env)
    assert ran.code == 7, ran
    assert "apiKeyHelper" in ran.stderr + ran.stdout
    assert not runner.requests


def test_a_server_that_repeats_the_key_does_not_make_us_tell_it(runner: Runner) -> None:
    secret = "sk-very-secret-key"
    runner.serve(fault(401, body={"error": {"message": f"bad key {secret}"}}))
    ran = runner.frames("x", env={"OPENAI_API_KEY": secret})
    assert ran.code == 7, ran
    assert secret not in ran.stdout + ran.stderr
    assert all(secret not in log.read_text() for log in runner.logs)
    assert "bad key" in ran.stdout


def test_the_helper_is_asked_for_its_own_provider_only(runner: Runner) -> None:
    server = runner.serve("hello")
    lab = {"wire": "anthropic", "baseUrl": server.url, "models": {"m": {}}}
    given = {"apiKeyHelper": "echo sk-secret-key", "providers": {"lab": lab}}
    env = {"ANTHROPIC_CUSTOM_HEADERS": "x-gateway: secret", "OPENAI_API_KEY": None}
    ran = runner.prompt("x", "--model", "lab/m", "--settings", json.dumps(given), env=env)
    assert ran.code == 0, ran
    head = json.dumps(dict(runner.requests[0].headers))
    assert "secret" not in head
    assert runner.requests[0].headers["anthropic-version"] == "2023-06-01"


def test_a_provider_may_have_a_helper_of_its_own(runner: Runner) -> None:
    server = runner.serve("hello")
    given = settings(server, apiKeyEnv="", apiKeyHelper="echo lab-key")
    ran = runner.prompt("x", "--model", "house/big", "--settings", json.dumps(given))
    assert ran.code == 0, ran
    assert runner.requests[0].headers["authorization"] == "Bearer lab-key"


def test_a_quirk_that_does_not_exist_is_named(runner: Runner) -> None:
    server = runner.serve("never asked")
    given = json.dumps(settings(server, quirks=["text_cals"]))
    ran = runner.run("-p", "x", "--model", "house/big", "--settings", given)
    assert ran.code == 2, ran
    assert "text_cals" in ran.stderr and "text_calls" in ran.stderr


def test_a_provider_with_a_variable_for_its_key_needs_it(runner: Runner) -> None:
    server = runner.serve("never asked")
    given = json.dumps(settings(server))
    env = {**NO_OTHER, "HOUSE_KEY": None}
    ran = runner.run("-p", "x", "--model", "house/big", "--settings", given, env=env)
    assert ran.code == 7, ran
    assert "house needs a key: set HOUSE_KEY" in ran.stderr


@pytest.mark.parametrize("name", ["embedded", "scripted:x.json"])
def test_what_is_no_route_is_no_fallback(runner: Runner, name: str) -> None:
    runner.serve("never asked")
    ran = runner.run("-p", "x", "--fallback-model", name)
    assert ran.code == 2, ran
    assert "cannot be a fallback" in ran.stderr


def test_the_list_of_models_knows_providers_of_ones_own(runner: Runner) -> None:
    server = runner.serve("never asked")
    (runner.state).mkdir()
    (runner.state / "settings.json").write_text(json.dumps(settings(server)))
    ran = runner.run("models")
    assert "HOUSE_KEY" not in ran.stdout
    ran = runner.run("models", env={"HOUSE_KEY": "very-secret"})
    assert "HOUSE_KEY" in ran.stdout and "very-secret" not in ran.stdout
    assert "OPENAI_BASE_URL" in ran.stdout
