"""Flags that only read. Whatever is not listed here makes a command an ordinary one."""

from msgspec import Struct


class Known(Struct, frozen=True):
    """Flags that only read: `short` may be bundled and carry numbers, `long` must be whole."""

    short: str = ""
    long: frozenset[str] = frozenset()


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def known(short: str, long: str) -> Known:
    return Known(short, words(long))


SPEAKING = words("echo true false sleep whoami uname pwd basename dirname tr")
"""They open no file, whatever their words are."""

FILE_READERS: dict[str, Known] = {
    "ls": known(
        "1aAbBcCdfFgGhiIklLmnNopqQrRsStuUvxX",
        "all almost-all human-readable color group-directories-first reverse recursive sort time "
        "size inode full-time time-style file-type classify directory numeric-uid-gid",
    ),
    "cat": known("AbeEnstTuv", "number number-nonblank show-all show-ends show-tabs"),
    "head": known("cnqvz", "lines bytes quiet silent verbose"),
    "tail": known("cfnqvz+", "lines bytes follow quiet silent verbose"),
    "grep": known(
        "abceEFGhHiIlLmnoPqrRsTvwxyZzABC",
        "after-context before-context context color colour count extended-regexp fixed-strings "
        "basic-regexp perl-regexp ignore-case include exclude exclude-dir files-with-matches "
        "files-without-match invert-match line-number line-regexp max-count no-filename "
        "no-messages null only-matching quiet silent recursive regexp text with-filename "
        "word-regexp byte-offset dereference-recursive",
    ),
    "rg": known(
        "abceFgiIlmnNopPqrsStTuUvwxABCHM0",
        "hidden no-ignore no-ignore-vcs glob iglob type type-not type-list files "
        "files-with-matches files-without-match count count-matches ignore-case smart-case "
        "case-sensitive fixed-strings line-number no-line-number max-count max-depth "
        "max-columns multiline multiline-dotall only-matching pcre2 replace regexp sort sortr "
        "stats text trim heading no-heading with-filename no-filename word-regexp line-regexp "
        "invert-match json vimgrep color context after-context before-context passthru quiet "
        "null no-messages column no-config unrestricted",
    ),
    "wc": known("clLmw", "lines words bytes chars max-line-length"),
    "which": known("a", "all"),
    "diff": known(
        "abBcdeEiNnpqrsTuUwWyZ",
        "unified context brief ignore-all-space ignore-space-change ignore-blank-lines "
        "ignore-case side-by-side color width minimal report-identical-files new-file text "
        "suppress-common-lines strip-trailing-cr recursive",
    ),
    "stat": known("cfLt", "format printf file-system dereference terse"),
    "du": known(
        "abcdhkmsSx0",
        "all apparent-size bytes max-depth human-readable summarize total si one-file-system "
        "exclude time",
    ),
    "cut": known(
        "bcdfsnz,;:|.- /\t", "delimiter fields characters bytes output-delimiter complement"
    ),
    "sort": known(
        "bcCdfghikmMnrRstuVz,.:;|/ \t",
        "key field-separator numeric-sort reverse unique ignore-case human-numeric-sort "
        "version-sort general-numeric-sort month-sort stable check zero-terminated",
    ),
    "uniq": known("cdDiufswz", "count repeated unique ignore-case skip-fields skip-chars"),
    "realpath": known("emsqLPz", "canonicalize-existing canonicalize-missing relative-to"),
}
FIND = words(
    "-name -iname -path -ipath -wholename -iwholename -type -xtype -maxdepth -mindepth -size "
    "-mtime -mmin -atime -amin -ctime -cmin -newer -newermt -not -o -or -a -and -print -print0 "
    "-printf -ls -empty -prune -regex -iregex -regextype -perm -user -group -executable -readable "
    "-writable -links -inum -samefile -xdev -mount -depth -quit -true -false -P"
)

GIT = known(
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
    "compact-summary dirstat word-diff-regex",
)
GIT_BRANCH = words(
    "-a -r -v -vv -l --all --remotes --list --verbose --show-current --contains --no-contains "
    "--merged --no-merged --points-at --sort --format --color --no-color --column --no-column "
    "--ignore-case -i --abbrev --no-abbrev -avv -av -va -rv -vr"
)
