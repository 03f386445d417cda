"""`detent` with nothing but a key that was stored."""

from __future__ import annotations

import sys

import pytest

from detent.sdk.keys import forget_key, store_key
from detent.testing import call, reply

from .conftest import Runner

KEY = "sk-ant-test-stored-0123456789"
NO_KEY = {"ANTHROPIC_API_KEY": None}


def test_a_stored_key_is_all_that_a_run_needs(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is in nothing that the run says or leaves behind, its export included."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    runner.serve(reply(call("Bash", command="env")), "done")
    path = store_key("anthropic", KEY, runner.env(NO_KEY))
    models = runner.run("models", env=NO_KEY)
    assert "anthropic (its key is stored)" in models.stdout
    ran = runner.frames("hi", "--allowedTools", "Bash", "--verbose", env=NO_KEY)
    assert ran.code == 0 and ran.result["result"] == "done", ran
    assert {request.headers["x-api-key"] for request in runner.requests} == {KEY}
    exported = runner.run("sessions", "export", env=NO_KEY)
    assert "done" in exported.stdout, exported
    for said in (models, ran, exported):
        assert KEY not in said.stdout + said.stderr
    holding = [str(file) for file in runner.folder.rglob("*")
               if file.is_file() and KEY.encode() in file.read_bytes()]  # fmt: skip
    assert holding == [path]
    assert forget_key("anthropic", runner.env(NO_KEY))
    assert runner.prompt("hi", env=NO_KEY).result["subtype"] != "success"
