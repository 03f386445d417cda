"""What a text might run: over-approximated, for deny and ask. The prover's opposite.

A proven text is taken word by word. Any other is cut at everything that could separate commands,
once with and once without regard for quotes, so that no quoting hides one.
"""

import os
import re
from collections.abc import Iterable, Iterator

from detent.gate.shell.prover import RESERVED, WRAPPERS, Command, is_assignment, prove

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_RUNNERS = WRAPPERS | {
    "sudo", "doas", "env", "exec", "setsid", "watch", "flock", "ionice", "xargs", "busybox",
    "toybox", "eval", "chroot", "unshare", "nsenter", "strace", "ltrace", "parallel", "runuser",
    "pkexec", "systemd-run", "su", "script", "ssh", "trap", "coproc", "entr", "taskset", "chrt",
    "source", ".",
}  # fmt: skip
_SPEAKERS = frozenset({"python", "python3", "perl", "ruby", "node", "awk", "gawk", "php", "make"})
"""Interpreters: a text among their arguments may hold a command."""

_FINDS_RUNNING = ("-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from")
_REDIRECTION = r"[0-9]*(?:&>>?|>\||>>|>&|<&|<<<|<<-?|<>|>|<)[ \t]*[^\s;|&()<>`]*"
_VARIABLE = r"\$\{!?(\w+)[^}]*\}"
_HERE = r"\$\( *pwd *\)|` *pwd *`"
_SEPARATORS = r"[;|&\n(){}`]|\$\("
_TOKEN = r"""(?:[^\s;|&()<>`"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|["'])+|[;|&()\n`]"""
_SEPARATING = frozenset(";|&()\n`{}")
_CUT = str.maketrans(dict.fromkeys(";|&()<>`{},", " "))
_STREAMS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "-"})
_RECURSIVE = frozenset(
    {"rg", "find", "du", "tree", "tar", "zip", "rsync", "ag", "ack", "fd", "mv", "ln", "7z"}
)
_MAYBE_RECURSIVE = frozenset(
    {"grep", "egrep", "fgrep", "ls", "cp", "diff", "scp", "chmod", "chown"}
)
_BUNDLE = r"-[^-]*[rRa]"
MOST_FOLDERS = 20
_WRITERS = frozenset(
    {"tee", "cp", "mv", "rm", "rmdir", "touch", "truncate", "ln", "install", "dd", "mkdir", "patch",
     "chmod", "chown", "rsync", "sed", "shred", "unlink"}
)  # fmt: skip
_WRITTEN = r"(?:[0-9]*|&)>[>|&]?[ \t]*(\"[^\"]*\"|'[^']*'|[^\s;|&()<>`]+)"


def suspects(text: str) -> Iterator[Command]:
    """Everything in a text that might be a simple command, by its own name and by the bare one."""
    proven = prove(text)
    for words in _pieces(text) if proven is None else proven:
        yield from _within(words)


def _pieces(text: str) -> Iterator[Command]:
    text = re.sub(_VARIABLE, r"$\1", re.sub(_HERE, "$PWD", text.replace("\\\n", "")))
    text = re.sub(_REDIRECTION, " ", text)
    for piece in re.split(_SEPARATORS, text):
        yield tuple(map(_bare, piece.split()))
    words: list[str] = []
    for token in (*re.findall(_TOKEN, text, re.DOTALL), ";"):
        if token in _SEPARATING:
            yield tuple(words)
            words = []
        else:
            words.append(_bare(token))


def _bare(word: str) -> str:
    return word.replace("\\", "").replace("'", "").replace('"', "")


def _within(words: Command) -> Iterator[Command]:
    while words and (is_assignment(words[0]) or words[0] in RESERVED):
        words = words[1:]
    if not words:
        return
    yield from _named(words)
    name = _name(words)
    if name in _RUNNERS | _SHELLS | {"find"}:
        for start in range(1, len(words)):
            if not is_assignment(words[start]) and not words[start].startswith("-"):
                yield from _named(words[start:])
    if name in _RUNNERS | _SHELLS | _SPEAKERS:
        yield from _spoken(words[1:])


def _named(words: Command) -> Iterator[Command]:
    yield words
    name = _name(words)
    if name != words[0]:
        yield (name, *words[1:])


def _name(words: Command) -> str:
    return words[0].rpartition("/")[2]


def _spoken(words: Iterable[str]) -> Iterator[Command]:
    """Commands in a text that is itself one word: `sh -c 'rm x'`, `env -S'rm x'`."""
    for word in words:
        if any(char.isspace() or char in _SEPARATING for char in word):
            yield from suspects(word)
            if word.startswith("-"):
                yield from suspects(word.partition("=")[2] or word[2:])


def may_run(text: str, name: str) -> bool:
    """Whether an unproven text might run this program, under whatever expansion."""
    if any(mark in text for mark in ("`", "$(", "<(", ">(", "{")) or "*" in name:
        return True
    return any(
        head == name or head in _SHELLS | {"eval", "source", "."} or _is_open(head)
        for head in (command[0] for command in suspects(text))
    )


def _is_open(word: str) -> bool:
    return word != "[" and any(char in "$*?[~!" for char in word)


def runs_its_arguments(command: Command) -> bool:
    """A rule for such a program does not cover what it runs."""
    name = _name(command)
    if name == "find":
        return any(word.startswith(_FINDS_RUNNING) for word in command[1:])
    if name in _SHELLS | {"su"}:
        return any(word[:1] == "-" and "c" in word for word in command[1:])
    return name in _RUNNERS


def reads_below(command: Command) -> bool:
    """Whether it reads, or takes along, what lies below the folders it names."""
    name = _name(command)
    if name == "git":
        return "grep" in command[1:2]
    if name in _MAYBE_RECURSIVE:
        return any(word == "--recursive" or re.match(_BUNDLE, word) for word in command[1:])
    return name in _RECURSIVE


def mentioned(text: str) -> Iterator[str]:
    """Every literal word of a text that could name a file, targets of redirections included."""
    proven = prove(text)
    words: Iterable[str]
    if proven is not None:
        words = (word for command in proven for word in command)
    else:
        text = text.replace("\\\n", "")
        words = (
            *map(_bare, re.findall(_TOKEN, text, re.DOTALL)),
            *_bare(text).translate(_CUT).split(),
        )
    for word in dict.fromkeys(words):
        yield from _file_names(word)


def _file_names(word: str) -> Iterator[str]:
    """`x`, and the x of `-fx`, `--file=x`, `if=x`, `@x` and `HEAD:x`."""
    yield word
    if word.startswith("-"):
        yield word[2:]
    for mark in "=:@":
        if mark in word:
            yield word.partition(mark)[2]


def written(text: str) -> list[str]:
    """Files that output redirections of an unproven text name; `/dev/null` and `&1` are free."""
    if prove(text) is not None:
        return []
    targets = (_bare(match.group(1)) for match in re.finditer(_WRITTEN, text.replace("\\\n", "")))
    return [target for target in targets if target not in _STREAMS and not target.isdigit()]


def changed(text: str) -> Iterator[str]:
    """Words that name files a text writes: redirected to, or given to a program that writes."""
    yield from written(text)
    for command in suspects(text):
        if _name(command) in _WRITERS:
            for word in command[1:]:
                yield from _file_names(word)


def folders(text: str, cwd: str, home: str) -> list[str]:
    """Where relative names of a text may start: the working folder, and wherever it goes."""
    found = [cwd]
    for command in suspects(text):
        if command[0] in ("cd", "pushd"):
            target = next((word for word in command[1:] if not word.startswith("-")), home)
            target = home + target[1:] if target == "~" or target.startswith("~/") else target
            found.append(os.path.normpath(os.path.join(found[-1], target)))
            if len(found) > MOST_FOLDERS:
                break
    return list(dict.fromkeys(found))


def placed(words: Iterable[str], text: str, cwd: str, home: str) -> Iterator[str]:
    """Names as a shell would find them, from every folder that the text goes to."""
    starts = folders(text, cwd, home)
    for word in dict.fromkeys(words):
        if word and "\0" not in word:
            named = home + word[1:] if word == "~" or word.startswith("~/") else word
            for start in starts:
                yield os.path.join(start, named)
