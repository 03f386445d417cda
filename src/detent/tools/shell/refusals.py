"""What a model is told when a command failed because of the sandbox, and only then.

A program says no more than "Permission denied". Whether the sandbox was why is found out by looking
from outside: what we could write, or see, and the command could not, was kept from it.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from detent.ports import Desk, Finished

MOST_LINES = 200
MOST_IN_LINE = 500
NOT_EXECUTABLE = 126
MOST_PATHS = 3
DEVICES = "/dev"
TMP = "/tmp"
"""With bwrap it is the sandbox's own: what lies there outside is not seen."""

_FAULT = re.compile(
    r"(?P<fixed>read-only file system)|(?P<denied>permission denied|operation not permitted)"
    r"|(?P<missing>no such file or directory)|(?P<busy>device or resource busy|EBUSY)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"['\"‘`]([^'\"‘’`]+)['\"’`]")
_ABSOLUTE = re.compile(r"(?<![\w./~])/[^\s:;,'\"’`()]+")
_BEFORE = re.compile(r"([^\s:]+): $")
_NO_NETWORK = re.compile(
    r"could not resolve (?:host|proxy)|temporary failure in name resolution|name or service not "
    r"known|network is unreachable|name resolution|EAI_AGAIN|failed to resolve",
    re.IGNORECASE,
)
_GIT_CONFIG = re.compile(r"could not write config file (\S+): device or resource busy", re.I)
"""git goes on without it, and ends well."""
_NO_SOCKET = re.compile(
    r"(?:unix|socket|agent)\b.*(?:operation not permitted|EPERM)|EPERM.*\.sock", re.IGNORECASE
)
_NO_SERVER = re.compile(r"socket.*(?:operation not permitted|EPERM)", re.IGNORECASE | re.DOTALL)
"""Traces tell of the socket some lines before."""

NETWORK = "sandbox.network.allowedDomains"
WRITING = "sandbox.filesystem.allowWrite"
READING = "sandbox.filesystem.allowRead"
SOCKETS = "sandbox.network.allowUnixSockets"

AS_IT_IS = "{be} protected: commands may read {it}. Write and Edit can ask to change {it}."
PROTECTED = f"{{}} {AS_IT_IS}"
PINNED = f"{{}}, or something in {{it}}, {AS_IT_IS}"
UNSEEN = f"{{}} {{be}} not to be seen in it. The user's setting {READING} shows {{it}}."
OTHER_TMP = (
    "{} {be} not to be seen in it: commands have a /tmp of their own. Put {it} into the workspace."
)
UNTOUCHABLE = f"{{}} may not be touched. The user permits writing with the setting {WRITING}."
CLOSED_TMP = "{} may not be touched. Put temporary files into the folder $TMPDIR."


def refusal(finished: Finished, printed: Sequence[str], desk: Desk, *, may_ask: bool) -> str:
    """Empty when the sandbox had nothing to do with it. `may_ask`: the user's settings let a
    command ask to run outside."""
    if finished.sandbox in ("", "none"):
        return ""
    hosts, path = _refused_hosts(finished, printed), _kept_config(printed)
    if finished.exit_code != 0:
        path = path or _refused_paths(finished, printed, desk)
    what = " ".join(filter(None, (path, hosts)))
    if not what and finished.exit_code != 0:
        what = _no_socket(printed) or _no_network(printed, finished.sandbox)
    if not what:
        return ""
    retry = (
        " To run it outside the sandbox, send the same call once more with "
        "dangerouslyDisableSandbox: true; the user will be asked."
        if may_ask
        else ""
    )
    return f"[Sandbox ({finished.sandbox}): {what}{retry}]"


def ignored_wish(finished: Finished) -> str:
    """For a call that wanted to run outside, without the settings that would permit it."""
    if finished.exit_code == 0 or finished.sandbox in ("", "none"):
        return ""
    return (
        "[dangerouslyDisableSandbox had no effect: asking for it takes the user's setting "
        "sandbox.allowUnsandboxedCommands.]"
    )


def _refused_hosts(finished: Finished, printed: Sequence[str]) -> str:
    """Others may run at the same time: after success a host counts only when it is spoken of."""
    said = " ".join(printed) if finished.exit_code == 0 else ""
    hosts = [host for host in dict.fromkeys(finished.refused) if not said or host in said]
    if finished.exit_code == 0 and not said:
        return ""
    if not hosts:
        return ""
    return (
        f"it refused to connect to {', '.join(hosts[:5])}. The user permits hosts with the setting "
        f"{NETWORK}."
    )


def _kept_config(printed: Sequence[str]) -> str:
    for line in _lines(printed):
        if named := _GIT_CONFIG.search(line):
            return _sentence(PROTECTED, [named[1]])
    return ""


def _no_socket(printed: Sequence[str]) -> str:
    if not any(_NO_SOCKET.search(line) for line in _lines(printed)):
        return ""
    return (
        "services of this machine (docker, ssh-agent …) are not reached from it. The user permits "
        f"their sockets with the setting {SOCKETS}, or names commands that shall run outside in "
        "sandbox.excludedCommands."
    )


def _no_network(printed: Sequence[str], sandbox: str) -> str:
    is_alone = sandbox == "landlock"
    is_met = any(_NO_NETWORK.search(text) for text in printed)
    if not is_met and not (is_alone and any(_NO_SERVER.search(text) for text in printed)):
        return ""
    if is_alone:
        return (
            "there is no network in it, not even among commands. For servers on this machine, and "
            f"to reach hosts of {NETWORK}, it takes bubblewrap."
        )
    return (
        "there is no network in it but the proxy of HTTP_PROXY, which lets through the hosts of "
        f"the user's setting {NETWORK}."
    )


def _refused_paths(finished: Finished, printed: Sequence[str], desk: Desk) -> str:
    ground = _Ground(finished, desk)
    found: dict[str, list[str]] = {}
    for line, fault in _faults(printed):
        for path in _paths(line, fault.start(), desk.cwd):
            if reason := ground.reason(path, fault):
                found.setdefault(reason, []).append(path)
                break
        if len(set(chain(*found.values()))) == MOST_PATHS:
            break
    return " ".join(_sentence(reason, paths) for reason, paths in found.items())


def _sentence(reason: str, paths: Sequence[str]) -> str:
    names = list(dict.fromkeys(paths))
    be, it = ("are", "them") if len(names) > 1 else ("is", "it")
    return reason.format(" and ".join(names), be=be, it=it)


class _Ground:
    """What is where for a command that has failed."""

    def __init__(self, finished: Finished, desk: Desk) -> None:
        self._has_own_tmp = finished.sandbox == "bwrap"
        self._is_program_at_fault = finished.exit_code == NOT_EXECUTABLE
        self._writable = _writable(desk)
        own = TMP if self._has_own_tmp else desk.host.temporary
        self._open = (*self._writable, DEVICES, *filter(None, (own,)))

    def reason(self, path: str, fault: re.Match[str]) -> str:
        """Why it was kept from the command; empty when it was not."""
        if fault["busy"]:
            return PINNED if _is_inside(path, self._writable) else ""
        if fault["missing"]:
            is_hidden = not _is_inside(path, self._writable) and os.path.lexists(path)
            return self._unseen(path) if is_hidden else ""
        if fault["denied"] and (self._is_program_at_fault or _is_inside(path, self._open)):
            return ""  # there it is the file's own mode that forbids it
        return self._untouchable(path) if _could_write(path) else ""

    def _unseen(self, path: str) -> str:
        return OTHER_TMP if self._has_own_tmp and _is_inside(path, (TMP,)) else UNSEEN

    def _untouchable(self, path: str) -> str:
        is_writable = _is_inside(path, self._writable)
        if is_writable and not os.path.lexists(os.path.dirname(path)):
            # Not where it seems: git names places from the top of a repository.
            places = ", ".join(self._writable).replace("{", "{{").replace("}", "}}")
            return f"it may write in {places} only. The user permits more with {WRITING}."
        if is_writable or "/.git/" in path:
            return PROTECTED
        is_in_tmp = not self._has_own_tmp and _is_inside(path, (TMP,))
        return CLOSED_TMP if is_in_tmp else UNTOUCHABLE


def _faults(printed: Sequence[str]) -> Iterator[tuple[str, re.Match[str]]]:
    for line in _lines(printed):
        if match := _FAULT.search(line):
            yield line, match


def _lines(printed: Sequence[str]) -> Iterator[str]:
    for text in printed:
        for line in text.splitlines()[-MOST_LINES:]:
            yield line[:MOST_IN_LINE]


def _paths(line: str, fault: int, cwd: str) -> Iterator[str]:
    """What the line complains of: what it quotes, or what stands right before the complaint."""
    found = [text for text in _QUOTED.findall(line) if not _FAULT.search(text)]
    if not found and (before := _BEFORE.search(line[:fault])):
        found = [before[1]]
    for name in found or _ABSOLUTE.findall(line):
        if "\0" not in name:
            yield os.path.normpath(os.path.join(cwd, os.path.expanduser(name)))


def _could_write(path: str) -> bool:
    """Whether we could, who are not in the sandbox."""
    while not os.path.lexists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return os.access(path, os.W_OK)


def _writable(desk: Desk) -> tuple[str, ...]:
    return tuple(filter(None, desk.settings.get("sandbox_writable", "").split("\n")))


def _is_inside(path: str, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(real == root or real.startswith(f"{root.rstrip('/')}/") for root in roots)
