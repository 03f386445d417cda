"""Commands that change nothing, if every word of them is known to be harmless."""

from collections.abc import Callable

from detent.gate.shell import Command

_FREE = frozenset(
    {"ls", "cat", "echo", "printf", "pwd", "head", "tail", "grep", "rg", "wc", "which", "diff",
     "stat", "du", "cut", "tr", "true", "false", "test", "[", "sleep", "whoami", "uname",
     "basename", "dirname", "realpath", "sort", "uniq", "find", "git"}
)  # fmt: skip
_FORBIDDEN: dict[str, tuple[str, ...]] = {
    "rg": ("--pre", "--hostname-bin", "-z", "--search-zip"),
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "diff": ("--output",),
    "find": ("-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"),
    "du": ("--files0-from",),
    "wc": ("--files0-from",),
    "printf": ("-v",),
    "uniq": (),
}
_GIT = frozenset(["status", "log", "diff", "show", "rev-parse", "ls-files", "blame", "describe"])
_GIT_FORBIDDEN = ("--output", "-o", "--ext-diff", "--textconv", "-O", "--open-files-in-pager")

InsideCheck = Callable[[str], bool]


def is_read_only(command: Command, inside: InsideCheck) -> bool:
    if not command or command[0] not in _FREE:
        return False
    name, *rest = command
    if name == "git":
        return _git_is_read_only(rest, inside)
    if name == "uniq" and sum(not word.startswith("-") for word in rest) > 1:
        return False  # the second name is written
    if name in ("echo", "printf", "sleep", "true", "false", "whoami", "uname", "pwd"):
        return not _has_forbidden(rest, _FORBIDDEN.get(name, ()))
    if _has_forbidden(rest, _FORBIDDEN.get(name, ())):
        return False
    return all(inside(path) for word in rest for path in _paths(word))


def _git_is_read_only(words: list[str], inside: InsideCheck) -> bool:
    if not words or words[0] not in _GIT or _has_forbidden(words, _GIT_FORBIDDEN):
        return False
    return all(inside(path) for word in words[1:] for path in _paths(word))


def _has_forbidden(words: list[str], forbidden: tuple[str, ...]) -> bool:
    """Long flags may be abbreviated and short ones bundled, so beginnings count."""
    for word in words:
        for flag in forbidden:
            if word.startswith(flag):
                return True
            name = word.split("=")[0]
            if flag.startswith("--") and len(name) > 3 and flag.startswith(name):
                return True
            bundled = (
                len(flag) == 2 and word[:1] == "-" and word[:2] != "--" and flag[1] in word[1:]
            )
            if bundled:
                return True
    return False


def _paths(word: str) -> list[str]:
    """Whatever in a word could name a file."""
    if word.startswith("-"):
        _, equals, value = word.partition("=")
        return [value] if equals else []
    return [word]
