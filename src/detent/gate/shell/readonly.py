"""Commands that change nothing, if every word of them is known to be harmless.

An unknown flag makes a command an ordinary one: programs grow flags that write or run things
(`sort -o`, `rg --pre`, `find -exec`), and long ones may be abbreviated.
"""

import re
from collections.abc import Callable

from msgspec import Struct

from detent.gate.shell.prover import Command

PathCheck = Callable[[str], bool]


class _Known(Struct, frozen=True):
    """Flags that only read: `short` may be bundled and carry numbers, `long` must be whole."""

    short: str = ""
    long: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _known(short: str, long: str) -> _Known:
    return _Known(short, _words(long))


_SPEAKING = _words("echo true false sleep whoami uname pwd basename dirname tr")
"""They open no file, whatever their words are."""

_FILE_READERS: dict[str, _Known] = {
    "ls": _known(
        "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX",
        "all almost-all human-readable color group-directories-first reverse recursive sort time "
        "size inode full-time time-style file-type classify directory numeric-uid-gid",
    ),
    "cat": _known("AbeEnstTuv", "number number-nonblank show-all show-ends show-tabs"),
    "head": _known("cnqvz", "lines bytes quiet silent verbose"),
    "tail": _known("cnqvz", "lines bytes quiet silent verbose"),
    "grep": _known(
        "abceEFGhHiIlLmnoPqrsTvwxyZzABC",
        "after-context before-context context color colour count extended-regexp fixed-strings "
        "basic-regexp perl-regexp ignore-case include exclude exclude-dir files-with-matches "
        "files-without-match invert-match line-number line-regexp max-count no-filename "
        "no-messages null only-matching quiet silent recursive regexp text with-filename "
        "word-regexp byte-offset",
    ),
    "rg": _known(
        "abceFgiIlmnNopPqrsStTuUvwxABCHM0",
        "hidden no-ignore no-ignore-vcs glob iglob type type-not type-list files "
        "files-with-matches files-without-match count count-matches ignore-case smart-case "
        "case-sensitive fixed-strings line-number no-line-number max-count max-depth "
        "max-columns multiline multiline-dotall only-matching pcre2 replace regexp sort sortr "
        "stats text trim heading no-heading with-filename no-filename word-regexp line-regexp "
        "invert-match json vimgrep color context after-context before-context passthru quiet "
        "null no-messages column no-config unrestricted",
    ),
    "wc": _known("clLmw", "lines words bytes chars max-line-length"),
    "which": _known("a", "all"),
    "diff": _known(
        "abBcdeEiNnpqsTuUwWyZ",
        "unified context brief ignore-all-space ignore-space-change ignore-blank-lines "
        "ignore-case side-by-side color width minimal report-identical-files new-file text "
        "suppress-common-lines strip-trailing-cr",
    ),
    "stat": _known("cfLt", "format printf file-system dereference terse"),
    "du": _known(
        "abcdhkmsSx0",
        "all apparent-size bytes max-depth human-readable summarize total si one-file-system "
        "exclude time",
    ),
    "cut": _known(
        "bcdfsnz,;:|.- /\t", "delimiter fields characters bytes output-delimiter complement"
    ),
    "sort": _known(
        "bcCdfghikmMnrRstuVz,.:;| \t",
        "key field-separator numeric-sort reverse unique ignore-case human-numeric-sort "
        "version-sort general-numeric-sort month-sort stable check zero-terminated",
    ),
    "uniq": _known("cdDiufswz", "count repeated unique ignore-case skip-fields skip-chars"),
    "realpath": _known("emsqLPz", "canonicalize-existing canonicalize-missing relative-to"),
}
_FIND = _words(
    "-name -iname -path -ipath -wholename -iwholename -type -xtype -maxdepth -mindepth -size "
    "-mtime -mmin -atime -amin -ctime -cmin -newer -newermt -not -o -or -a -and -print -print0 "
    "-printf -ls -empty -prune -regex -iregex -regextype -perm -user -group -executable -readable "
    "-writable -links -inum -samefile -xdev -mount -depth -quit -true -false -P"
)
_TEST = _words(
    "-e -f -d -r -w -x -s -L -h -n -z -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o -b -c -p -S"
)
"""Not `-v` and `-R`: they evaluate a subscript, and with it a command, in their argument."""

_GIT = _words("status log diff show rev-parse ls-files blame describe")
_GIT_FLAGS = _known(
    "abcdefhilmnpqrstuvwxzBCDGLMRSTUZ",
    "oneline stat shortstat numstat name-only name-status patch no-patch graph decorate "
    "no-decorate all branches tags remotes author committer grep since until after before "
    "max-count skip reverse merges no-merges first-parent follow format pretty abbrev-commit "
    "no-abbrev-commit abbrev date date-order topo-order cached staged merge-base word-diff color "
    "no-color color-words unified ignore-all-space ignore-space-change ignore-blank-lines "
    "ignore-space-at-eol function-context diff-filter find-renames find-copies no-renames summary "
    "raw check exit-code quiet relative text no-ext-diff no-textconv no-index minimal patience "
    "histogram diff-algorithm full-index left-right cherry-pick porcelain short branch long "
    "untracked-files ignored show-stash ahead-behind no-ahead-behind show-toplevel git-dir "
    "is-inside-work-tree show-prefix show-cdup verify symbolic-full-name abbrev-ref "
    "absolute-git-dir is-bare-repository git-common-dir deleted modified others exclude-standard "
    "stage unmerged full-name error-unmatch always dirty contains match exact-match "
    "line-porcelain show-name show-number show-email root null ignore-submodules no-walk "
    "compact-summary dirstat ignored word-diff-regex",
)
_STORES_NUMBER = r"%[^a-zA-Z%]*[hlLjzt]*n"
"""printf's `%n` sets a variable, `PATH` for example."""


def is_read_only(command: Command, inside: PathCheck, is_folder: PathCheck) -> bool:
    """`inside` says whether a path may be read without a question."""
    if not command:
        return False
    name, words = command[0], command[1:]
    match name:
        case _ if name in _SPEAKING:
            return True
        case "printf":
            return not any(
                word.startswith("-v") or re.search(_STORES_NUMBER, word) for word in words
            )
        case "test" | "[":
            return all(word in _TEST or word[:1] != "-" or _is_number(word) for word in words)
        case "find":
            return _find_is_read_only(words, inside)
        case "git":
            return _git_is_read_only(words, inside)
    known = _FILE_READERS.get(name)
    operands = None if known is None else _operands(words, known)
    if operands is None or not all(map(inside, operands)):
        return False
    if name == "uniq":
        return len(operands) <= 1  # the second name is written
    # Of two folders diff reads every file, also through links that lead elsewhere.
    return name != "diff" or not any(map(is_folder, operands))


def _operands(words: Command, known: _Known) -> list[str] | None:
    """What could name a file, values of flags included; None when a flag is not known."""
    operands: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return operands + list(words[place + 1 :])
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name not in known.long:
                return None
            operands += [value] if equals else []
        elif not all(char.isdigit() or char in known.short for char in word[1:]):
            return None
    return operands


def _find_is_read_only(words: Command, inside: PathCheck) -> bool:
    flags = [word for word in words if word.startswith("-")]
    if not all(word in _FIND or _is_number(word) for word in flags):
        return False
    return all(inside(word) for word in words if not word.startswith("-"))


def _git_is_read_only(words: Command, inside: PathCheck) -> bool:
    if not words or words[0] not in _GIT or any("%G" in word for word in words):
        return False  # %G runs gpg
    operands = _operands(words[1:], _GIT_FLAGS)
    return operands is not None and all(
        inside(part) for word in operands for part in (word, word.rpartition(":")[2])
    )


def _is_number(word: str) -> bool:
    return word[1:2].isdigit()
