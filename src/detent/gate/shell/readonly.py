"""Commands that change nothing, if every word of them is known to be harmless.

`is_read_only(simple, inside, leads_out)` looks at the words of one proven command; assignments
and redirections are for the caller. An unknown flag makes a command an ordinary one: programs
grow flags that write or run things (`sort -o`, `rg --pre`, `find -exec`), and long ones may be
abbreviated. What the shell fills in counts only where it cannot be a flag or a file.
"""

import re
from collections.abc import Callable, Sequence

from detent.gate.shell.harmless_flags import (
    FILE_READERS,
    FIND,
    GIT,
    GIT_BRANCH,
    SPEAKING,
    Known,
    words,
)
from detent.gate.shell.script import Simple, Word

PathCheck = Callable[[str], bool]
"""Gets a path as the shell would understand it: `~` in front means home."""

_GLOBBING = words("ls cat head tail grep wc which stat du cut realpath")
"""None of their flags writes or runs, so any name of a file is fine as a word."""

_OF_FILES = words("-e -f -d -r -w -x -s -L -h -b -c -p -S -nt -ot -ef")
_OF_TEXT = words("-n -z -eq -ne -lt -le -gt -ge -a -o = == != ! ( )")
"""Not `-v` and `-R`: they evaluate a subscript, and with it a command, in their argument."""

_FOLLOWING = {"diff": "", "grep": "-[^-]*R|--dereference-rec"}
"""Which flags make them follow links; diff always does where it compares folders."""

_GIT = words("status log diff show rev-parse ls-files blame describe")
_STORES_NUMBER = r"%[^a-zA-Z%\\]*[hlLjzt]*n"
"""printf's `%n` sets a variable, `PATH` for example."""

_LINES = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\[\n]|\\[^\n]|\[[^]/\\\n]*\])+/I?)"
_PRINTS = rf"\s*(?:{_LINES}(?:,\+?{_LINES})?)?\s*!?\s*(?:[p=]|q[0-9]*)\s*"
_SED_FLAGS = r"-[nErsuz]*e?|--quiet|--silent|--expression|--regexp-extended"


def is_read_only(simple: Simple, inside: PathCheck, leads_out: PathCheck) -> bool:
    """`inside` says whether a path may be read without a question, `leads_out` whether links below
    a folder may lead to where that is not so."""
    if not simple.words or not simple.words[0].is_literal:
        return False
    name, given = simple.words[0].text, simple.words[1:]
    if name in SPEAKING:
        return True
    if name == "printf":
        return _printf(given)
    if name in ("test", "["):
        return _test(given, inside)
    if not all(word.is_literal or word.at_home or word.has_glob for word in given):
        return False
    if any(word.has_glob for word in given):
        if name not in _GLOBBING or not all(_globs_inside(word, inside) for word in given):
            return False
        given = tuple(word for word in given if not word.has_glob)
    texts = [path(word) for word in given]
    match name:
        case "find":
            return _find(texts, inside)
        case "git":
            return _git(texts, inside)
        case "sed":
            return _sed(texts, inside)
        case "cd":
            return _cd(texts, inside)
        case _ if name in FILE_READERS:
            return _reads(name, texts, inside, leads_out)
    return False


def path(word: Word) -> str:
    """A word such that only a `~` of the shell's looks like one."""
    return f"./{word.text}" if word.text[:1] == "~" and not word.at_home else word.text


def _globs_inside(word: Word, inside: PathCheck) -> bool:
    """Names that it can come to are all inside, and no flag unless it is a harmless one."""
    if not word.has_glob:
        return True
    if word.text.startswith("-"):
        return re.match(r"--(?:include|exclude|exclude-dir)=[^/]*$", word.text) is not None
    folder = re.split(r"[*?\[]", word.text, maxsplit=1)[0].rpartition("/")
    return ".." not in word.text.split("/") and inside(folder[0] + folder[1] or ".")


def _printf(given: Sequence[Word]) -> bool:
    if not given or not given[0].is_literal or given[0].text.startswith("-"):
        return False
    return not any(re.search(_STORES_NUMBER, word.text.replace("%%", "")) for word in given)


def _test(given: Sequence[Word], inside: PathCheck) -> bool:
    """What is filled in must not be taken for an operator, nor name a file."""
    texts = [word.text if word.is_literal else "" for word in given] + ["]"]
    all_literal = all(word.is_literal for word in given)
    for at, word in enumerate(given):
        behind, before = texts[at + 1], texts[at - 1] if at else ""
        of_file = before in _OF_FILES or behind in ("-nt", "-ot", "-ef")
        if word.is_literal:
            known = word.text in _OF_FILES | _OF_TEXT or not re.match(r"-[^0-9]", word.text)
            subscript = "[" in word.text and not all_literal
            if not known or subscript or (of_file and not inside(path(word))):
                return False
        elif word.has_glob or of_file or not (behind == "]" or behind in _OF_TEXT):
            return False
    return True


def _reads(name: str, texts: list[str], inside: PathCheck, leads_out: PathCheck) -> bool:
    if name == "rg":
        texts = [text for text in texts if not re.fullmatch("-[tT][a-z]+", text)]  # a kind of file
    if name in ("grep", "rg"):
        texts = _without_patterns(texts)
    operands = _operands(texts, FILE_READERS[name])
    if operands is None or not all(map(inside, operands)):
        return False
    if name == "uniq":
        return len(operands) <= 1  # the second name is written
    follows = name in _FOLLOWING and any(re.match(_FOLLOWING[name], text) for text in texts)
    return not (follows and any(map(leads_out, operands or ["."])))


def _without_patterns(texts: list[str]) -> list[str]:
    """What is searched for may look like a path. It is the first word that is no flag, unless a
    flag gives it or only names are listed."""
    bundles = [text for text in texts if re.match(r"-[A-Za-z0-9]*e", text)]
    if bundles:
        return [
            text
            for at, text in enumerate(texts)
            if not (at and re.fullmatch(r"-[A-Za-z0-9]*e", texts[at - 1]))
        ]
    if any(text.startswith(("--regexp", "--files", "--type-list")) for text in texts):
        return texts
    first = next((at for at, text in enumerate(texts) if text[:1] != "-"), len(texts))
    if "--" in texts[:first]:
        return texts
    return texts[:first] + texts[first + 1 :]


def _operands(texts: Sequence[str], known: Known) -> list[str] | None:
    """What could name a file, values of flags included; None when a flag is not known."""
    operands: list[str] = []
    for place, word in enumerate(texts):
        if word == "--":
            return operands + list(texts[place + 1 :])
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


def _find(texts: Sequence[str], inside: PathCheck) -> bool:
    flags = [word for word in texts if word.startswith("-")]
    if not all(word in FIND or word[1:2].isdigit() for word in flags):
        return False
    return all(inside(word) for word in texts if not word.startswith("-"))


def _git(texts: list[str], inside: PathCheck) -> bool:
    if texts[:1] == ["--no-pager"]:
        texts = texts[1:]
    if not texts or any("%G" in word for word in texts):
        return False  # %G runs gpg
    command, given = texts[0], texts[1:]
    if command == "remote":
        return given in ([], ["-v"], ["--verbose"])
    if command == "branch":
        return _lists_branches(given)
    # `-S…`, `-G…` and `-L…` carry what is looked for.
    harmless = r"-[SGL].|-u(?:no|normal)" if command == "status" else r"-[SGL]."
    flags = [word for word in given if not re.match(harmless, word)]
    if command == "ls-files":
        flags = [flag for flag in flags if flag != "-o"]  # those that git does not know
    operands = _operands(flags, GIT) if command in _GIT else None
    return operands is not None and all(
        inside(part) for word in operands for part in (word, word.rpartition(":")[2])
    )


def _lists_branches(given: Sequence[str]) -> bool:
    """A name that is not a pattern or the value of a flag would make a branch."""
    lists = "--list" in given  # `-l` was another flag once
    asks = words("--contains --no-contains --merged --no-merged --points-at")
    return all(
        word.partition("=")[0] in GIT_BRANCH
        if word.startswith("-")
        else lists or (at > 0 and given[at - 1] in asks)
        for at, word in enumerate(given)
    )


def _sed(texts: Sequence[str], inside: PathCheck) -> bool:
    """With `-n`, and scripts of nothing but print commands."""
    flags = [word for word in texts if word[:1] == "-"]
    if not all(re.fullmatch(_SED_FLAGS, flag) for flag in flags):
        return False
    if not any(re.match(r"-[A-Za-z]*n|--quiet|--silent", flag) for flag in flags):
        return False
    scripts = [
        text for at, text in enumerate(texts) if at and re.match(r"-\w*e$|--exp", texts[at - 1])
    ]
    operands = [text for text in texts if text[:1] != "-" and text not in scripts]
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    commands = [part for script in scripts for part in re.split(r"[;\n]", script)]
    if not commands or not all(re.fullmatch(_PRINTS, part) for part in commands):
        return False
    return all(map(inside, operands))


def _cd(texts: Sequence[str], inside: PathCheck) -> bool:
    targets = [text for text in texts if text not in ("-P", "-L", "--")]
    return len(targets) == 1 and targets[0][:1] != "-" and inside(targets[0])
