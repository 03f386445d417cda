"""Broken variables, settings and folders: a sentence, never a traceback, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DETENT = Path(sys.executable).with_name("detent")


def run(cwd: Path | bytes, home: Path, *arguments: str, **environ: str) -> tuple[int, str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "ANTHROPIC_API_KEY": "k", **environ}
    env.setdefault("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    done = subprocess.run(
        [DETENT, "-p", "hi", *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert b"Traceback" not in done.stderr
    assert not (home / ".detent").exists(), "nothing is written"
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("key", ["k\r\nx-injected: yes", "k\nk", "k\x07", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused(tmp_path: Path, key: str) -> None:
    code, said = run(tmp_path, tmp_path / "home", ANTHROPIC_API_KEY=key)
    assert code == 2
    assert "ANTHROPIC_API_KEY" in said


@pytest.mark.parametrize("url", ["http://", "http://exa mple", "ftp://host/x", "http://:80"])
def test_an_address_that_is_none_is_named(tmp_path: Path, url: str) -> None:
    code, said = run(tmp_path, tmp_path / "home", ANTHROPIC_BASE_URL=url)
    assert code == 2
    assert "ANTHROPIC_BASE_URL" in said


@pytest.mark.parametrize("value", ["5", '["a", 5]', '{"a": 1}'])
def test_a_fallback_that_is_no_name_is_named(tmp_path: Path, value: str) -> None:
    code, said = run(tmp_path, tmp_path / "home", "--settings", f'{{"fallbackModel": {value}}}')
    assert code == 2
    assert "fallbackModel" in said


def test_a_folder_to_add_must_exist(tmp_path: Path) -> None:
    code, said = run(tmp_path, tmp_path / "home", "--add-dir", "/no/such/folder")
    assert code == 2
    assert "/no/such/folder" in said


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes only text as names")
    code, said = run(folder, tmp_path / "home")
    assert code == 2
    assert "UTF-8" in said


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ('{"permissions": {"ask": ["Bash("]}}', "permissions.ask"),
        ('{"permissions": {"deny": ["!!"]}}', "permissions.deny"),
        ('{"permissions": {"defaultMode": "yolo"}}', "defaultMode"),
        ('{"idleTimeout": -1}', "idleTimeout"),
        ('{"maxTurns": "many"}', "maxTurns"),
        ('{"streamingToolExecution": 1}', "streamingToolExecution"),
    ],
)
def test_a_bad_setting_is_named_with_its_file(tmp_path: Path, settings: str, named: str) -> None:
    file = tmp_path / "home" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(settings)
    code, said = run(tmp_path, tmp_path / "home")
    assert code == 2
    assert str(file) in said
    assert named in said


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf", "soon"])
def test_a_timeout_that_is_none(tmp_path: Path, seconds: str) -> None:
    code, said = run(tmp_path, tmp_path / "home", DETENT_IDLE_TIMEOUT=seconds)
    assert code == 2
    assert "DETENT_IDLE_TIMEOUT" in said


def test_a_budget_for_a_model_without_a_price(tmp_path: Path) -> None:
    code, said = run(tmp_path, tmp_path / "home", "--max-budget-usd", "1", ANTHROPIC_MODEL="mine")
    assert code == 2
    assert "price" in said


def test_a_fallback_that_could_not_serve_is_told_at_once(tmp_path: Path) -> None:
    code, said = run(tmp_path, tmp_path / "home", "--fallback-model", "openai/gpt-5")
    assert code == 2
    assert "OPENAI_API_KEY" in said
