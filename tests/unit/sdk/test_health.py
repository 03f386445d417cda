"""The checks of `detent doctor`, one by one, and that none raises or hangs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.settings.sources import where_of
from detent.sdk.doctor import LOOKS, examine
from detent.sdk.health import git, languages, mcp, memory, model, ripgrep, settings, store
from detent.sdk.health.key_lines import key_lines, located
from detent.sdk.health.record import Check, Place
from detent.sdk.health.running import look_at_all
from detent.sdk.health.terminal import Screen, colours, judged
from detent.types.errors import BadInput

run = asyncio.run


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("work", "user"):
        (tmp_path / name).mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "user"),
        "DETENT_HOME": str(tmp_path / "state"),
        "DETENT_DISCOVERY_PORTS": "none",
    }


def place_in(tmp_path: Path, environ: Mapping[str, str], **more: object) -> Place:
    cwd = str(tmp_path / "work")
    options = Options(cwd=cwd, environ=environ, managed_folders=(), **more)  # type: ignore[arg-type]
    where = where_of(cwd, environ, ())
    try:
        return Place(options, environ, cwd, where, grounds_of(options))
    except BadInput as error:
        return Place(options, environ, cwd, where, fault=str(error))


# Running


def test_a_check_that_raises_is_a_finding(tmp_path: Path, environ: dict[str, str]) -> None:
    async def broken(place: Place) -> list[Check]:
        raise ZeroDivisionError

    found = run(look_at_all({"broken": broken}, place_in(tmp_path, environ)))
    assert found == (Check("broken", "warning", "not known: ZeroDivisionError"),)


def test_a_check_that_hangs_is_left_alone(tmp_path: Path, environ: dict[str, str]) -> None:
    """It blocks its thread, as a file system that has gone away does, and the others answer."""
    never = threading.Event()

    async def hangs(place: Place) -> list[Check]:
        never.wait()
        return []

    async def answers(place: Place) -> list[Check]:
        return [Check("other", "ok", "fine")]

    looks = {"hung": hangs, "other": answers}
    try:
        found = run(look_at_all(looks, place_in(tmp_path, environ), patience=0.2))
    finally:
        never.set()
    text = "not known: it took longer than 0.2 s"
    assert found[0] == Check("hung", "warning", text)
    assert found[1] == Check("other", "ok", "fine")


def test_they_look_at_once(tmp_path: Path, environ: dict[str, str]) -> None:
    """Each waits for the other: one after the other they would never come to an end."""
    both = threading.Barrier(2)

    async def look(place: Place) -> list[Check]:
        await asyncio.to_thread(both.wait)
        return [Check("x", "ok", "met")]

    found = run(look_at_all({"a": look, "b": look}, place_in(tmp_path, environ)))
    assert [check.text for check in found] == ["met", "met"]


def test_all_of_them_in_an_empty_folder(tmp_path: Path, environ: dict[str, str]) -> None:
    place = place_in(tmp_path, environ)
    found = run(look_at_all(LOOKS, place))
    assert {check.name for check in found} == set(LOOKS)
    assert not [check for check in found if check.text.startswith("not known")]
    assert {check.name for check in found if check.state != "ok"} == {"model"}
    assert not (tmp_path / "state").exists()


def test_settings_that_cannot_be_read_stop_no_check(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "settings.json").write_text('{\n  "model": "x",\n')
    cwd = str(tmp_path / "work")
    health = run(examine(Options(cwd=cwd, environ=environ, managed_folders=())))
    assert {check.name for check in health.checks} == {*LOOKS, "sandbox"}
    assert [check.name for check in health.checks if check.state == "problem"] == ["settings"]
    assert len(health.problems) == 1 and "settings.json: line 3" in health.problems[0]


# The model


@pytest.mark.parametrize(
    ("variables", "named", "state", "text"),
    [
        ({}, "", "warning", "no model is configured"),
        ({"ANTHROPIC_API_KEY": "k"}, "", "ok", "claude-sonnet-5-5 of anthropic, key: ANTHROPIC_"),
        ({"OPENAI_API_KEY": "k"}, "", "ok", "of openai, key: OPENAI_API_KEY"),
        ({}, "ollama/qwen", "ok", "qwen of ollama, no key needed"),
        ({}, "openai/x", "problem", "openai/x: openai needs a key: set OPENAI_API_KEY"),
        ({}, "scripted:/no/such", "problem", "/no/such"),
        ({"DETENT_MODEL": "embeded"}, "", "problem", "did you mean embedded?"),
    ],
)
def test_which_model_would_be_asked(
    tmp_path: Path,
    environ: dict[str, str],
    variables: dict[str, str],
    named: str,
    state: str,
    text: str,
) -> None:
    check = (run(model.look(place_in(tmp_path, environ | variables, model=named))))[0]
    assert (check.name, check.state) == ("model", state)
    assert text in check.text
    assert bool(check.advice) == (state != "ok")


def test_a_server_on_this_machine_is_offered(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from detent.models.discovery import Found

    async def servers(environ: Mapping[str, str]) -> list[Found]:
        return [Found("ollama", 11434, ("ollama/qwen3", "ollama/other"))]

    monkeypatch.setattr(model, "look_for_servers", servers)
    chosen, server = (run(model.look(place_in(tmp_path, environ))))[:2]
    assert chosen.advice.startswith("detent --model ollama/qwen3; or set ANTHROPIC_API_KEY")
    assert server.text == "Ollama on 127.0.0.1:11434: ollama/qwen3, ollama/other"


# Programs


def test_programs_that_are_not_there(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path, environ)
    for module, advice in ((ripgrep, "install ripgrep"), (git, "install git")):
        monkeypatch.setattr(module, "find", lambda name, place: "")
        (check,) = run(module.look(place))
        assert check.state == "warning" and check.advice.startswith(advice)


def test_a_program_that_says_nothing_is_not_believed(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    found = run(ripgrep.look(place_in(tmp_path, environ | {"PATH": f"{tmp_path}:/usr/bin:/bin"})))
    assert found[0].text == f"{program} does not tell its version"
    program.write_text("#!/bin/sh\necho 'ripgrep 99.1.2 (rev x)'\n")
    found = run(ripgrep.look(place_in(tmp_path, environ | {"PATH": f"{tmp_path}:/usr/bin:/bin"})))
    assert found == [Check("ripgrep", "ok", f"99.1.2, {program}")]


def test_a_repository_is_named_with_its_branch(tmp_path: Path, environ: dict[str, str]) -> None:
    import subprocess

    work = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=work, check=True)
    (check,) = run(git.look(place_in(tmp_path, environ)))
    assert check.state == "ok" and check.text.endswith(f"repository {work}, branch trunk")
    (work / ".git" / "HEAD").write_text("rubbish")
    (check,) = run(git.look(place_in(tmp_path, environ)))
    assert check.state == "warning" and check.advice.endswith(f"git -C {work} status")


# The terminal

FINE = {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}
SCREEN = Screen(True, True, 120, 40)


def test_a_terminal_that_can_do_everything() -> None:
    around = {"TMUX": "x", "SSH_TTY": "y", "TERM": "tmux-256color", "COLORTERM": "truecolor"}
    (check,) = judged(SCREEN, FINE | around)
    assert check.state == "ok"
    text = "tmux-256color, 120 × 40, all colours, en_US.UTF-8, in tmux, over SSH"
    assert check.text == text


@pytest.mark.parametrize(
    ("screen", "environ", "doubt"),
    [
        (SCREEN, {**FINE, "TERM": "dumb"}, "can do nothing"),
        (SCREEN, {"LANG": "C.UTF-8"}, "can do nothing"),
        (SCREEN, {**FINE, "LC_ALL": "C"}, "not UTF-8"),
        (SCREEN, {**FINE, "TMUX": "x"}, "inside of tmux"),
        (Screen(True, True, 20, 10), FINE, "only 20 columns"),
        (Screen(False, True, 80, 24), FINE, "standard input is no terminal"),
    ],
)
def test_what_is_doubtful_is_said_with_what_to_do(
    screen: Screen, environ: dict[str, str], doubt: str
) -> None:
    first, *doubts = judged(screen, environ)
    assert first.state == "ok"
    (check,) = doubts
    assert check.state == "warning" and doubt in check.text and check.advice


def test_without_a_terminal_nothing_is_wrong() -> None:
    (check,) = judged(Screen(False, False), {})
    assert check.state == "ok" and "no terminal" in check.text


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"TERM": "xterm"}, "16 colours"),
        ({"TERM": "xterm-256color"}, "256 colours"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, "all colours"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "no colours (NO_COLOR is set)"),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, "no colours"),
    ],
)
def test_colours(environ: dict[str, str], text: str) -> None:
    assert colours(environ) == text


# Settings

NESTED = b"""{
  "permissions": {
    "allow": ["x", {"deny": 1}],
    "deny": []
  },
  "sandbox": {"mode": "docker"}
}
"""


def test_the_line_of_a_key() -> None:
    assert key_lines(NESTED) == {
        "permissions": 2,
        "permissions.allow": 3,
        "permissions.deny": 4,
        "sandbox": 6,
        "sandbox.mode": 6,
    }
    assert key_lines(b'{"a": 1,\n "b": ]}}{{"c') == {"a": 1, "b": 2}
    assert key_lines(b"\xff[[[[{{{{") == {}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/s: sandbox.mode is one of auto", "/s:6: sandbox.mode is one of auto"),
        (
            "/s: unknown setting sandbox; did you mean",
            "/s:6: unknown setting sandbox; did you mean",
        ),
        ("/s: line 3, column 2: rubbish", "/s: line 3, column 2: rubbish"),
        ("/s: nothing known", "/s: nothing known"),
        ("/other: sandbox", "/other: sandbox"),
    ],
)
def test_faults_get_the_line_of_what_they_speak_of(said: str, told: str) -> None:
    assert located(said, {"/s": NESTED}) == told


def test_an_unknown_setting_is_told_with_its_line(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "state").mkdir()
    path = tmp_path / "state" / "settings.json"
    path.write_text('{\n  "model": "x",\n  "maxTurn": 3\n}\n')
    first, second = run(settings.look(place_in(tmp_path, environ)))
    assert first == Check("settings", "ok", "1 file")
    assert second.state == "warning"
    assert second.text == f"{path}:3: unknown setting maxTurn; did you mean maxTurns?"


# What else there is


def test_mcp_servers_are_named_and_not_started(tmp_path: Path, environ: dict[str, str]) -> None:
    work = tmp_path / "work"
    (work / ".mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}, "b": {"url": "y"}}}')
    (check,) = run(mcp.look(place_in(tmp_path, environ)))
    assert check.text == f"a, b in {work}/.mcp.json"
    assert "not part of this version" in check.advice
    (work / ".mcp.json").write_text("{")
    (check,) = run(mcp.look(place_in(tmp_path, environ)))
    assert check.state == "warning" and ".mcp.json: line 1" in check.text


def test_memory_files_are_counted(tmp_path: Path, environ: dict[str, str]) -> None:
    (check,) = run(memory.look(place_in(tmp_path, environ)))
    assert check.text == "no files here; detent init writes an AGENTS.md"
    (tmp_path / "work" / "AGENTS.md").write_text("be brief")
    (check,) = run(memory.look(place_in(tmp_path, environ)))
    assert check.state == "ok" and check.text.startswith("1 file, ")
    (tmp_path / "work" / "AGENTS.md").write_text("x" * 50_000)
    _, check = run(memory.look(place_in(tmp_path, environ)))
    assert check.state == "warning" and "only its beginning is read" in check.text


def test_language_servers_as_the_tools_find_them(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "no" / "python"))
    programs = tmp_path / "bin"
    programs.mkdir()
    environ = environ | {"PATH": str(programs)}
    (check,) = run(languages.look(place_in(tmp_path, environ)))
    assert check.text.startswith("none found")
    for name in ("gopls", "rust-analyzer"):
        (programs / name).touch()
        (programs / name).chmod(0o755)
    (check,) = run(languages.look(place_in(tmp_path, environ)))
    assert check.text == "go: gopls; only in a folder that you trust: rust-analyzer"
    (check,) = run(languages.look(place_in(tmp_path, environ, trust=True)))
    assert check.text == "go: gopls, rust: rust-analyzer"
    (check,) = run(languages.look(place_in(tmp_path, environ, settings={"lsp": False})))
    assert "switched off" in check.text
    wanted = {"lsp": {"go": ["no-such-server"]}}
    _, check = run(languages.look(place_in(tmp_path, environ, settings=wanted)))
    assert check.state == "problem" and "no-such-server, was not found" in check.text
    assert "Grep" not in check.text


def test_sessions_that_cannot_be_kept_are_a_problem(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    folder = state / "sessions" / "x"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"{number}.jsonl").touch()
    (check,) = run(store.look(place_in(tmp_path, environ)))
    assert check.state == "ok" and check.text.startswith(f"3 sessions in {state}, ")
    monkeypatch.setattr(store, "LITTLE", 1 << 62)
    (check,) = run(store.look(place_in(tmp_path, environ)))
    assert check.state == "warning" and "delete --older-than" in check.advice
    other = tmp_path / "file"
    other.touch()
    (check,) = run(store.look(place_in(tmp_path, environ | {"DETENT_HOME": str(other)})))
    assert check.state == "problem" and f"{other} is not a folder" in check.text
    assert check.advice == "set DETENT_HOME to a folder of yours"
