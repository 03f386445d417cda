"""The sandbox around the commands of the installed command: what it holds back, what it says of
it, and who can open it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import DETENT, Ran, Runner
from .sandboxes import BWRAP, CONFINED, needs_bwrap

FREELY = ("--permission-mode", "bypassPermissions")


def bash(command: str, **more: Any) -> object:
    return reply(call("Bash", command=command, **more))


def settings(runner: Runner, **sandbox: Any) -> None:
    """The user's own."""
    runner.state.mkdir(exist_ok=True)
    (runner.state / "settings.json").write_text(json.dumps({"sandbox": sandbox}))


def ran(runner: Runner, *replies: object, args: tuple[str, ...] = FREELY) -> Ran:
    runner.serve(*replies, "done")
    return runner.frames("go", *args)


def results(found: Ran) -> list[tuple[str, str]]:
    """Text and backend of each command."""
    return [(str(one["content"]), one["data"]["sandbox"]) for one in found.tool_results]


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is no part of the workspace, and not in /tmp, of which a sandbox has its
    own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def local_server() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"reached")

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@needs_bwrap
def test_a_write_outside_is_refused_and_it_is_said_why(runner: Runner, elsewhere: Path) -> None:
    target = elsewhere / "x"
    found = ran(runner, bash(f"echo no > {target}"), bash("echo yes > inside; cat inside"))
    assert found.code == 0, found
    (refused, one), (inside, other) = results(found)
    assert one == other == "bwrap"
    assert not target.exists()
    assert f"[Sandbox (bwrap): {target} may not be touched." in refused
    assert "sandbox.filesystem.allowWrite" in refused
    assert "dangerouslyDisableSandbox" not in refused
    assert inside == "yes"
    log = runner.entries(found.result["session_id"])
    ended = [entry for entry in log if entry["type"] == "callended"]
    assert [entry["outcome"]["data"]["sandbox"] for entry in ended] == ["bwrap", "bwrap"]


IDENTITY = "-c user.name=x -c user.email=x@x"
WORK = f"echo x > file && git add file && git {IDENTITY} commit -qm two && git checkout -qb new"


@pytest.mark.parametrize("kind", ["subfolder", "worktree"])
@pytest.mark.parametrize("backend", CONFINED)
def test_git_works_where_its_repository_lies_elsewhere(
    runner: Runner, kind: str, backend: str
) -> None:
    """And what git would run stays closed."""
    repository = runner.folder / "repository"
    make = f"git init -q {repository} && cd {repository} && mkdir sub && "
    make += f"git {IDENTITY} commit -q --allow-empty -m one && git worktree add -q tree"
    subprocess.run(make, shell=True, check=True, cwd=runner.folder, capture_output=True)
    config = (repository / ".git" / "config").read_text()
    runner.work = repository / ("sub" if kind == "subfolder" else "tree")
    hook = f"echo evil > {repository}/.git/hooks/post-commit"
    stash = f"echo y > file && git {IDENTITY} stash -q && git stash pop -q && git log --oneline"
    found = ran(
        runner,
        *map(bash, (WORK, stash, "git config user.name y", hook)),
        args=(*FREELY, "--sandbox", backend),
    )
    (_, held), (log, _), (refused, _), (hooked, _) = results(found)
    assert held == backend
    assert [line.split()[1] for line in log.splitlines()] == ["two", "one"]
    if backend == "bwrap":  # the other cannot close what lies in a folder that is written
        assert "config is protected" in refused and "post-commit is protected" in hooked
        assert (repository / ".git" / "config").read_text() == config
        assert not (repository / ".git" / "hooks" / "post-commit").exists()


@needs_bwrap
def test_the_network_is_off_and_a_host_is_named(runner: Runner, local_server: int) -> None:
    direct = f"exec 3<>/dev/tcp/127.0.0.1/{local_server} && echo reached"
    found = ran(runner, bash("curl -sS https://pypi.org/simple/"), bash(direct))
    (curl, _), (tcp, _) = results(found)
    assert "it refused to connect to pypi.org" in curl
    assert "sandbox.network.allowedDomains" in curl
    assert "reached" not in tcp.replace(direct, "")


@needs_bwrap
def test_a_permitted_host_is_reached_through_the_proxy(runner: Runner, local_server: int) -> None:
    settings(runner, network={"allowedDomains": [f"localhost:{local_server}"]})
    found = ran(
        runner,
        bash(f"curl -sS http://localhost:{local_server}/x"),
        bash(f"curl -sS http://127.0.0.1:{local_server}/x"),
    )
    (reached, _), (other, _) = results(found)
    assert reached == "reached"
    assert "Exit code" in other  # by another name it is another host, here one of the sandbox


@needs_bwrap
def test_git_and_temporary_files_work_in_it(runner: Runner) -> None:
    commit = (
        "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m one "
        "&& git log --oneline | wc -l"
    )
    found = ran(
        runner,
        bash(commit),
        bash("mkdir sub && cd sub && echo kept > /tmp/file && mktemp -u"),
        bash("pwd; cat /tmp/file"),
    )
    assert found.code == 0, found
    (committed, _), (moved, _), (after, _) = results(found)
    assert committed == "1"
    assert f"[Working folder: {runner.work}/sub]" in moved
    assert after == f"{runner.work}/sub\nkept"
    assert not Path("/tmp/file").exists()


@needs_bwrap
def test_nothing_is_left_in_the_workspace(runner: Runner) -> None:
    found = ran(runner, bash("echo a > a"))
    assert found.code == 0, found
    assert os.listdir(runner.work) == ["a"]


@needs_bwrap
def test_a_job_in_the_background_is_held_too(runner: Runner, elsewhere: Path) -> None:
    target = elsewhere / "x"
    found = ran(
        runner,
        bash(f"echo out; echo no > {target}; echo end", run_in_background=True),
        reply(call("TaskOutput", task_id="job_1")),
    )
    started, output = found.tool_results
    assert started["data"]["sandbox"] == "bwrap"
    assert "Read-only file system" in str(output["content"]) and "end" in str(output["content"])
    assert not target.exists()


def test_the_flag_switches_it_off(runner: Runner, elsewhere: Path) -> None:
    target = elsewhere / "x"
    found = ran(runner, bash(f"echo yes > {target}"), args=(*FREELY, "--sandbox", "off"))
    assert found.code == 0, found
    assert results(found) == [("(no output)", "none")]
    assert target.read_text() == "yes\n"


def test_a_project_cannot_switch_it_off(runner: Runner, elsewhere: Path) -> None:
    (runner.work / ".detent").mkdir()
    wide = {"enabled": False, "mode": "off", "allowUnsandboxedCommands": True}
    wide["filesystem"] = {"allowWrite": [str(elsewhere)]}
    (runner.work / ".detent" / "settings.json").write_text(json.dumps({"sandbox": wide}))
    target = elsewhere / "x"
    found = ran(runner, bash(f"echo no > {target}", dangerouslyDisableSandbox=True))
    assert not target.exists()
    assert results(found)[0][1] != "none"
    assert "sandbox.enabled" in found.stderr


@needs_bwrap
def test_the_argument_has_no_effect_unless_the_user_permits_asking(
    runner: Runner, elsewhere: Path
) -> None:
    target = elsewhere / "x"
    found = ran(runner, bash(f"echo no > {target}", dangerouslyDisableSandbox=True))
    (text, backend) = results(found)[0]
    assert backend == "bwrap" and not target.exists()
    assert "dangerouslyDisableSandbox had no effect" in text
    assert "sandbox.allowUnsandboxedCommands" in text


@needs_bwrap
def test_with_the_setting_one_retry_is_offered_and_asked_about(
    runner: Runner, elsewhere: Path
) -> None:
    settings(runner, allowUnsandboxedCommands=True)
    target = elsewhere / "x"
    command = f"echo yes > {target}"
    allow = ("--permission-mode", "bypassPermissions", "--on-ask", "deny")
    found = ran(runner, bash(command), bash(command, dangerouslyDisableSandbox=True), args=allow)
    first, second = found.tool_results
    assert "send the same call once more with dangerouslyDisableSandbox: true" in str(
        first["content"]
    )
    assert second["is_error"] and "outside the sandbox" in str(second["content"])
    assert not target.exists()
    assert found.code == 3, found


def test_an_approved_command_runs_outside(runner: Runner, elsewhere: Path) -> None:
    settings(runner, allowUnsandboxedCommands=True)
    target = elsewhere / "x"
    runner.serve(bash(f"echo yes > {target}", dangerouslyDisableSandbox=True), "done")
    live = runner.converse("--permission-prompt-tool", "stdio", *FREELY)
    live.say("go")
    live.answer(live.next("control_request"), behavior="allow")
    data = live.next("user")["tool_use_result"]
    live.next("result")
    live.finish()
    assert target.read_text() == "yes\n"
    assert data["sandbox"] == "none"


def test_an_excluded_command_is_asked_about_and_only_alone(runner: Runner, elsewhere: Path) -> None:
    settings(runner, excludedCommands=["touch:*"])
    alone, joined = elsewhere / "a", elsewhere / "b"
    found = ran(runner, bash(f"touch {alone}"), bash(f"touch {joined}; true"))
    first, second = found.tool_results
    assert "outside the sandbox" in str(first["content"])
    assert second["data"]["sandbox"] != "none"
    assert not alone.exists() and not joined.exists()


@needs_bwrap
def test_the_read_only_profile_keeps_the_workspace_as_it_is(runner: Runner) -> None:
    settings(runner, profile="read-only")
    found = ran(runner, bash("echo no > x"), bash("echo yes > /tmp/x && cat /tmp/x"))
    (refused, _), (fine, _) = results(found)
    assert "[Sandbox (bwrap)" in refused and fine == "yes"
    assert not (runner.work / "x").exists()


@needs_bwrap
def test_commands_that_simply_fail_are_not_blamed_on_it(runner: Runner) -> None:
    (runner.work / "plain").write_text("no program")
    found = ran(
        runner,
        bash("false"),
        bash("./plain"),
        bash("cat missing"),
        bash("ls /nowhere"),
        bash("grep x plain"),
        bash('python3 -c \'raise PermissionError(13, "Permission denied", "plain")\''),
    )
    for text, backend in results(found):
        assert backend == "bwrap" and "[Sandbox" not in text, text


@needs_bwrap
def test_keys_and_our_own_files_are_not_read(runner: Runner) -> None:
    (runner.home / ".ssh").mkdir()
    (runner.home / ".ssh" / "id_rsa").write_text("KEY")
    settings(runner, filesystem={"denyRead": ["~/private"]})
    (runner.home / "private").write_text("KEY")
    found = ran(
        runner,
        bash(f"cat {runner.home}/.ssh/id_rsa"),
        bash(f"cat {runner.state}/settings.json"),
        bash(f"cat {runner.home}/private"),
    )
    for text, _ in results(found):
        assert "KEY" not in text and "denyRead" not in text
    assert "is not to be seen in it" in results(found)[0][0]


@needs_bwrap
def test_one_that_is_named_must_work(runner: Runner, tmp_path: Path) -> None:
    """Seen from a machine on which bubblewrap is not installed."""
    runner.serve("never")
    hiding = [BWRAP, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", BWRAP, "--"]
    words = [*hiding, str(DETENT), "-p", "go", "--output-format", "json", "--sandbox", "bwrap"]
    done = subprocess.run(
        words, env=runner.env(), cwd=runner.work, capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 2, done
    assert b"bubblewrap is not installed" in done.stderr and b"apt install" in done.stderr
    assert runner.requests == []


@needs_bwrap
def test_without_bubblewrap_another_holds_and_nobody_is_bothered(
    runner: Runner, elsewhere: Path
) -> None:
    target = elsewhere / "x"
    runner.serve(bash(f"echo no > {target}"), "done")
    hiding = [BWRAP, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", BWRAP, "--"]
    words = [*hiding, str(DETENT), "-p", "go", "--output-format", "stream-json", *FREELY]
    done = subprocess.run(
        words, env=runner.env(), cwd=runner.work, capture_output=True, timeout=30, check=False
    )
    found = Ran(done.returncode, done.stdout, done.stderr)
    assert found.code == 0 and found.stderr == "", found
    text, backend = results(found)[0]
    assert backend == "landlock" and not target.exists()
    assert "[Sandbox (landlock)" in text


def test_an_unknown_word_for_the_flag_is_a_mistake(runner: Runner) -> None:
    found = runner.run("-p", "go", "--sandbox", "docker")
    assert found.code == 2 and "--sandbox takes auto, bwrap, landlock, off" in found.stderr


@needs_bwrap
def test_with_the_setting_held_commands_need_no_question(runner: Runner) -> None:
    settings(runner, autoAllowBashIfSandboxed=True)
    found = ran(runner, bash("echo yes > x; cat x"), args=())
    assert found.code == 0, found
    assert results(found) == [("yes", "bwrap")]
    shutil.rmtree(runner.state)
    found = ran(runner, bash("echo yes > y; cat y"), args=())
    assert found.code == 3 and not (runner.work / "y").exists()


def test_with_landlock_nothing_is_reached_and_it_is_said(
    runner: Runner, elsewhere: Path, local_server: int
) -> None:
    settings(runner, network={"allowedDomains": [f"localhost:{local_server}"]})
    doctor = json.loads(runner.run("doctor", "--json").stdout)
    if not all(row["held"]["landlock"] for row in doctor["sandbox"]["promises"][:7]):
        pytest.skip("needs Landlock")
    found = ran(
        runner,
        bash(f"curl -sS http://localhost:{local_server}/x"),
        bash("curl -sS http://example.org/x"),
        bash("python3 -c 'import socket; socket.socket()'"),
        bash(f"cd / && touch {elsewhere}/x"),
        bash(f"echo hi > /tmp/{elsewhere.name}; touch /tmp/{elsewhere.name}.2"),
        args=(*FREELY, "--sandbox", "landlock"),
    )
    assert "No host is reached" in found.stderr
    local, named, raw, outside, tmp = results(found)
    assert {backend for _, backend in results(found)} == {"landlock"}
    assert "reached" not in local[0]
    assert "[Sandbox (landlock): there is no network in it, not even" in named[0], named
    assert "not even among commands" in raw[0], raw
    assert "Operation not permitted" in raw[0]
    assert f"{elsewhere}/x may not be touched" in outside[0]
    both = f"/tmp/{elsewhere.name} and /tmp/{elsewhere.name}.2"
    assert f"[Sandbox (landlock): {both} may not be touched. " in tmp[0] and "$TMPDIR" in tmp[0]


@needs_bwrap
def test_what_a_command_leaves_in_tmp_is_explained_to_file_tools(
    runner: Runner, elsewhere: Path
) -> None:
    name = f"/tmp/{elsewhere.name}"
    found = ran(runner, bash(f"echo hi > {name}"), reply(call("Read", file_path=name)))
    assert not Path(name).exists()
    said = str(found.tool_results[1]["content"])
    assert f"{name} is not here: commands of Bash have temporary files of their own" in said
    assert f"$TMPDIR/{elsewhere.name}." in said
