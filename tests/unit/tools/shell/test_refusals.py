"""When a command has failed because of the sandbox, it is said; when for other reasons, not."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.ports import Desk, Finished
from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.tools.shell.refusals import ignored_wish, refusal


class Place:
    """A workspace, and something of the same user beside it, both outside any /tmp."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        # The rule about the sandbox's own /tmp is not for what a test keeps there.
        monkeypatch.setattr("detent.tools.shell.refusals.TMP", str(folder / "tmp"))
        self.work, self.other, self.tmp = folder / "work", folder / "other", folder / "tmp"
        for made in (self.work, self.other, self.tmp):
            made.mkdir()
        self.host = MemoryHost()

    def told(
        self, *printed: str, code: int = 1, refused: tuple[str, ...] = (), **more: bool
    ) -> str:
        finished = Finished(code, sandbox="bwrap", refused=refused)
        return self.about(finished, *printed, **more)

    def about(self, finished: Finished, *printed: str, may_ask: bool = False) -> str:
        desk = Desk(
            call_id="c",
            cwd=str(self.work),
            host=self.host,
            files=None,  # type: ignore[arg-type]
            progress=lambda text: None,
            shop=BareShop(),  # type: ignore[arg-type]
            settings={"sandbox_writable": str(self.work)},
        )
        return refusal(finished, printed, desk, may_ask=may_ask)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/bash: line 1: {}: Read-only file system",
        "touch: cannot touch '{}': Read-only file system",
        "mkdir: cannot create directory ‘{}’: Permission denied",
        "cp: cannot create regular file '{}': Operation not permitted",
        "OSError: [Errno 30] Read-only file system: '{}'",
        "PermissionError: [Errno 13] Permission denied: '{}'",
        "Error: EROFS: read-only file system, open '{}'",
        "Error: EACCES: permission denied, mkdir '{}'",
        "open {}: read-only file system",
        "error: could not lock config file {}: Read-only file system",
        "fatal: Unable to create '{}': Read-only file system",
    ],
)
def test_what_we_could_write_and_the_command_not_was_kept_from_it(place: Place, line: str) -> None:
    path = place.other / "new" / "file"
    told = place.told("", "some output\n" + line.format(path) + "\n")
    assert told.startswith(f"[Sandbox (bwrap): {path} may not be touched.")
    assert "sandbox.filesystem.allowWrite" in told


@pytest.mark.parametrize(
    "line",
    [
        "bash: line 1: ./script: Permission denied",
        "bash: line 1: {work}/x: Permission denied",
        "cat: missing: No such file or directory",
        "cat: {work}/missing: No such file or directory",
        "cat: {other}/missing: No such file or directory",
        "ls: cannot access '/nowhere/at/all': No such file or directory",
        "Permission denied (publickey).",
        "sudo: Operation not permitted",
        "Error: Permission denied",
        "assert result == 'Read-only file system'",
        "grep: x: Is a directory",
        "make: *** [all] Error 2",
        "",
    ],
)
def test_what_fails_for_reasons_of_its_own_is_not_blamed_on_it(place: Place, line: str) -> None:
    (place.work / "x").touch()
    printed = line.format(work=place.work, other=place.other)
    assert place.told(printed) == ""


def test_a_protected_place_inside_the_workspace_is_named_as_such(place: Place) -> None:
    hooks = place.work / ".git" / "hooks"
    hooks.mkdir(parents=True)
    told = place.told(f"bash: line 1: {hooks}/pre-commit: Read-only file system")
    assert f"{hooks}/pre-commit is protected" in told and "Edit" in told


@pytest.mark.parametrize("code", [0, 4])
def test_that_git_could_not_change_its_settings_is_said_even_after_success(
    place: Place, code: int
) -> None:
    line = "error: could not write config file .git/config: Device or resource busy\n"
    told = place.told("branch 'x' set up", line, code=code)
    assert told.startswith("[Sandbox (bwrap): .git/config is protected")


def test_what_cannot_be_moved_is_protected(place: Place) -> None:
    told = place.told("mv: cannot move 'conf' to 'conf2': Device or resource busy")
    assert told.startswith(f"[Sandbox (bwrap): {place.work / 'conf'}, or something in it, is prot")
    assert place.told(f"umount: {place.other}/mount: device or resource busy") == ""


def test_a_name_from_elsewhere_is_not_taken_for_one_of_the_workspace(place: Place) -> None:
    told = place.told(
        "fatal: could not create leading directories of 'sub/../x/.git': Read-only file system"
    )
    assert told.startswith(f"[Sandbox (bwrap): it may write in {place.work} only.")


def test_a_git_folder_elsewhere_is_protected_and_not_to_be_permitted(place: Place) -> None:
    (place.other / ".git" / "hooks").mkdir(parents=True)
    told = place.told(f"bash: line 1: {place.other}/.git/hooks/x: Read-only file system")
    assert "is protected" in told and "allowWrite" not in told


@pytest.mark.parametrize(
    "line",
    [
        "Get ...: dial unix /var/run/docker.sock: socket: operation not permitted",
        "Error connecting to agent: Operation not permitted",
        "Error: connect EPERM /var/run/docker.sock",
    ],
)
def test_a_service_that_is_out_of_reach_is_explained(place: Place, line: str) -> None:
    told = place.told(line)
    assert "sandbox.network.allowUnixSockets" in told and "sandbox.excludedCommands" in told


def test_up_to_three_refused_paths_are_named(place: Place) -> None:
    names = [str(place.other / name) for name in "abcd"]
    lines = [f"touch: cannot touch '{name}': Read-only file system\n" for name in names]
    told = place.told("".join([*lines[:2], *lines[:2]]))
    assert told.startswith(f"[Sandbox (bwrap): {names[0]} and {names[1]} may not be touched. The ")
    told = place.told("".join(lines))
    assert f" {' and '.join(names[:3])} may not" in told and names[3] not in told


def test_refusals_for_different_reasons_are_all_told(place: Place) -> None:
    hooks = place.work / ".git" / "hooks"
    hooks.mkdir(parents=True)
    lines = [f"bash: {path}/x: Read-only file system\n" for path in (hooks, place.other, hooks)]
    lines.append(lines[0].replace("/x:", "/y:"))
    told = place.told("".join(lines))
    assert f"{hooks}/x and {hooks}/y are protected: commands may read them." in told
    assert f" {place.other}/x may not be touched." in told


def test_the_machines_tmp_is_closed_with_landlock(place: Place) -> None:
    line = f"bash: line 1: {place.tmp}/x: Permission denied"
    told = place.about(Finished(1, sandbox="landlock"), line)
    assert told.startswith(f"[Sandbox (landlock): {place.tmp}/x may not be touched.")
    assert "$TMPDIR" in told and "allowWrite" not in told
    assert place.told(line) == "", "with bwrap it is the sandbox's own, and the mode's doing"
    place.host.temporary = str(place.tmp)
    assert place.about(Finished(1, sandbox="landlock"), line) == "", "so it is there"


def test_what_lies_in_the_machines_tmp_is_not_seen_with_bwrap(place: Place) -> None:
    (place.tmp / "x").touch()
    told = place.told(f"cat: {place.tmp}/x: No such file or directory")
    assert "a /tmp of their own" in told and "workspace" in told and "allowRead" not in told


def test_what_exists_and_was_not_seen_was_hidden(place: Place) -> None:
    hidden = place.other / "key"
    hidden.touch()
    told = place.told(f"cat: {hidden}: No such file or directory")
    assert f"{hidden} is not to be seen in it" in told
    assert "sandbox.filesystem.allowRead" in told


def test_a_program_that_cannot_be_executed_is_its_own_trouble(place: Place) -> None:
    path = place.other / "script"
    path.touch()
    line = f"bash: line 1: {path}: Permission denied"
    assert place.told(line, code=126) == ""
    assert place.told(line, code=1) != ""


def test_what_we_could_not_do_either_is_not_the_sandboxs_doing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert place.told(f"touch: cannot touch '{place.other}/x': Permission denied") == ""
    assert place.told(f"touch: cannot touch '{place.other}/x': Read-only file system") == ""


def test_refused_hosts_are_named_once(place: Place) -> None:
    told = place.told("curl: (56)", refused=("pypi.org", "pypi.org", "a.net"))
    assert "it refused to connect to pypi.org, a.net." in told
    assert "sandbox.network.allowedDomains" in told


def test_a_path_is_named_beside_a_host(place: Place) -> None:
    line = f"EROFS: read-only file system, mkdtemp '{place.other}/x'"
    told = place.told(line, refused=("registry.example",))
    assert f"{place.other}/x may not be touched." in told and "registry.example" in told


def test_after_success_a_host_counts_only_when_it_is_spoken_of(place: Place) -> None:
    assert place.told("fine", code=0, refused=("pypi.org",)) == ""
    assert place.told("", code=0, refused=("pypi.org",)) == ""
    assert "pypi.org" in place.told("no pypi.org here", code=0, refused=("pypi.org",))


@pytest.mark.parametrize(
    "line",
    [
        "curl: (6) Could not resolve host: example.org",
        "ssh: Could not resolve hostname x: Temporary failure in name resolution",
        "socket.gaierror: [Errno -2] Name or service not known",
        "connect: Network is unreachable",
        "getaddrinfo EAI_AGAIN registry.npmjs.org",
    ],
)
def test_programs_that_know_no_proxy_are_explained(place: Place, line: str) -> None:
    assert "there is no network in it" in place.told(line)
    assert place.told(line, code=0) == ""


def test_with_landlock_a_server_cannot_listen_and_that_is_told(place: Place) -> None:
    trace = "x = socket.socket(family)\nPermissionError: [Errno 1] Operation not permitted"
    assert "not even among commands" in place.about(Finished(1, sandbox="landlock"), trace)
    assert place.told(trace) == "", "in bubblewrap it is something else"
    assert place.about(Finished(0, sandbox="landlock"), trace) == ""


def test_with_landlock_there_is_no_proxy_to_name(place: Place) -> None:
    told = place.about(Finished(1, sandbox="landlock"), "connect: Network is unreachable")
    assert "HTTP_PROXY" not in told and "bubblewrap" in told


def test_a_retry_is_offered_where_it_may_be_asked_for(place: Place) -> None:
    printed = f"bash: {place.other}/x: Read-only file system"
    assert "dangerouslyDisableSandbox" not in place.told(printed)
    told = place.told(printed, may_ask=True)
    assert told.count("dangerouslyDisableSandbox: true") == 1 and "user will be asked" in told


@pytest.mark.parametrize("sandbox", ["", "none"])
def test_without_a_sandbox_nothing_is_said(place: Place, sandbox: str) -> None:
    finished = Finished(1, sandbox=sandbox, refused=("a.net",))
    assert place.about(finished, f"bash: {place.other}/x: Read-only file system") == ""
    assert ignored_wish(finished) == ""


def test_success_needs_no_explanation(place: Place) -> None:
    assert place.told(f"bash: {place.other}/x: Read-only file system", code=0) == ""
    assert ignored_wish(Finished(0, sandbox="bwrap")) == ""
    assert "allowUnsandboxedCommands" in ignored_wish(Finished(1, sandbox="bwrap"))


def test_long_and_odd_output_is_looked_through_in_no_time(place: Place) -> None:
    assert place.told("'" * 500_000 + "\n" + "x: " * 200_000 + "permission denied\n" * 10_000) == ""
