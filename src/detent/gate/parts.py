"""A proven command text, part by part: what each part needs permission for."""

import os
import re
from collections.abc import Callable, Iterator

from detent.gate.commands import MOST_NAMES, folders, look, names_of, placed
from detent.gate.globs import has_signs, is_any, is_certain, is_each, may_name_secret
from detent.gate.matching import fits, read
from detent.gate.offers import rules_for
from detent.gate.paths import is_secret, is_special
from detent.gate.permitting import PROTECTED, SECRET, Need, Permits, no_file, protected
from detent.gate.shell.readonly import is_read_only
from detent.gate.shell.script import Redirection, Script, Simple, Word
from detent.gate.terms import Rule
from detent.gate.trail import Trail
from detent.gate.wrappers import is_harmless_assignment, program, runs_its_arguments, unwrapped

_MOST_LOOKED_AT = 2_000
"""Files of a folder that are looked through for links."""
_FILE_COMMANDS = {"mkdir": "pv", "touch": "acm", "mv": "finv", "cp": "rRafinpv"}
"""With the flags that neither link nor name a further path."""
_LONG_FLAGS = {"--parents": "-p", "--recursive": "-r", "--verbose": "-v", "--force": "-f"}
_SPEAKING = frozenset({"echo", "printf", "true", "false", "basename", "dirname", "test", "["})
"""Their words are not opened as files."""
_NAMING = _SPEAKING | {"ls", "stat", "du", "find", "realpath", "which"}
"""They show that there are files, not what is in them."""
_LOOKING_AT = frozenset(
    {"add", "blame", "cat-file", "check-ignore", "commit", "diff", "grep", "log", "ls-files",
     "ls-tree", "show", "status"}
)  # fmt: skip
"""What git does without changing the files that it is given."""
_READERS = frozenset(
    {"cat", "head", "tail", "less", "more", "grep", "rg", "wc", "diff", "stat", "ls", "du", "cut",
     "sort", "file", "jq", "bat"}
)  # fmt: skip
_STEERING = frozenset(
    {"source", ".", "eval", "exec", "export", "declare", "typeset", "set", "hash", "unset", "read",
     "local", "readonly", "popd"}
)  # fmt: skip
"""After these a name may lead elsewhere, or a program be another one."""


def command_needs(text: str, permits: Permits) -> Iterator[Need]:
    """The needs of one command text."""
    if permits.mode == "bypassPermissions":
        return
    script = look(text).script
    if script is None:
        yield from _unproven(text, permits)
    else:
        yield from _Parts(script, permits).needs()


def _unproven(text: str, permits: Permits) -> Iterator[Need]:
    findings, workspace = look(text).findings, permits.workspace
    if not permits.by(permits.whole):
        reason = "Running this command needs permission. Parts of it are not understood: "
        reason += "expansions, or signs that a shell could read in several ways."
        yield Need(permits.source, reason, is_held=True)
    starts = folders(text, workspace.cwd, workspace.home)
    words = (*findings.words, *findings.reads, *findings.writes)
    paths = [*placed(words, starts, workspace.home)]
    if len(paths) > MOST_NAMES:
        yield Need(PROTECTED, "It names too many files to look at each of them.")
        return
    yield from _touched(paths, permits)
    for path in placed(findings.writes, starts, workspace.home):
        if not workspace.holds(path):
            yield from permits.writing(path)


def _touched(paths: list[str], permits: Permits, *, writing: bool = True) -> Iterator[Need]:
    """Files among the words of a command that a rule for the command does not cover."""
    for path in dict.fromkeys(path for path in paths if "\0" not in path):
        if writing and is_any(path, permits.is_protected):
            yield protected(path)
        elif is_any(path, is_special):
            yield no_file(path)
        elif is_any(path, is_secret) or may_name_secret(path):
            yield from permits.secret(path)


class _Parts:
    def __init__(self, script: Script, permits: Permits) -> None:
        self._script = script
        self._permits = permits
        self._workspace = permits.workspace
        self._trail = Trail(permits.workspace)
        self._steered = False
        """A part before may have changed what names of programs mean."""

    def needs(self) -> Iterator[Need]:
        for simple in self._script.commands:
            for redirection in simple.redirections:
                yield from self._redirection(redirection)
            yield from self._part(simple)
            words = unwrapped(simple.words)
            self._trail.follow(words)
            self._steered = self._steered or bool(words and words[0].text in _STEERING)

    def _redirection(self, redirection: Redirection) -> Iterator[Need]:
        permits, target = self._permits, redirection.target
        paths = self._trail.paths(target)
        if paths is None:
            if permits.mode == "plan" and redirection.writes:
                yield from permits.writing(target.text)
            elif not permits.by(permits.whole):
                yield Need(permits.source, f"It is not known which file {target.text} is.")
            return
        for path in paths:
            if not redirection.writes:
                yield from permits.reading(path)
            elif not (self._is_plain_inside(path) and permits.by(permits.whole)):
                yield from permits.writing(path)

    def _is_plain_inside(self, path: str) -> bool:
        return (
            self._workspace.holds(path)
            and not self._permits.is_protected(path)
            and not is_special(path)
            and not is_secret(path)
        )

    def _part(self, simple: Simple) -> Iterator[Need]:
        permits = self._permits
        words = unwrapped(simple.words)
        is_plain = all(map(is_harmless_assignment, simple.assignments))
        if is_plain and (not words or self._is_free(words) or self._only_moves_files(words)):
            return
        exact = self._exact_rule(simple)
        touched = _touched(self._paths(words), permits, writing=_may_write(words))
        # Who permits a command as it stands has seen the secret that it names.
        yield from (need for need in touched if not (exact and need.source == SECRET))
        rule = exact or permits.whole or (self._rule_for(words) if is_plain and words else None)
        if not permits.by(rule):
            reason = _reason(simple, is_plain=is_plain)
            yield Need(permits.source, reason, rules_for(simple), is_held=True)

    def _exact_rule(self, simple: Simple) -> Rule | None:
        """A rule without `*` names a command as it stands, whatever it runs."""
        if not all(word.is_literal for word in (*simple.assignments, *simple.words)):
            return None
        if not simple.words or self._is_elsewhere(simple.words):
            return None
        whole = tuple(word.text for word in (*simple.assignments, *simple.words))
        rules = (rule for rule in self._permits.rules if rule.what and "*" not in rule.what)
        return next((rule for rule in rules if fits(rule.what, whole)), None)

    def _rule_for(self, words: tuple[Word, ...]) -> Rule | None:
        if self._is_elsewhere(words) or not words[0].is_literal:
            return None
        texts = (program(words[0].text), *(word.text for word in words[1:]))
        rules = [rule for rule in self._permits.rules if rule.what]
        return next((rule for rule in rules if self._covers(rule.what, words, texts)), None)

    def _covers(self, what: str, words: tuple[Word, ...], texts: tuple[str, ...]) -> bool:
        """What a rule compares must be literal; behind that anything may stand that is certain to
        be words of this one command. A `*` does not reach what another program runs."""
        rule = read(what)
        compared = (
            words if rule.pattern is not None or not rule.open_end else words[: len(rule.words)]
        )
        if not all(word.is_literal for word in compared):
            return False
        if "*" in what and runs_its_arguments(texts):
            return False
        further = words[len(compared) :]
        if any(word.has_glob and not _is_operand(word) for word in further):
            return False
        given = (words[0].text, *texts[1:])
        return fits(what, texts) or fits(what, given)

    def _is_elsewhere(self, words: tuple[Word, ...]) -> bool:
        """Another program, or another repository, than the one that a rule means."""
        name = words[0].text
        if self._trail.uses_made(words) or (self._steered and "/" not in name):
            return True
        if not self._trail.has_moved:
            return False
        return name.rpartition("/")[2] == "git" or ("/" in name and not name.startswith("/"))

    def _is_free(self, words: tuple[Word, ...]) -> bool:
        if self._steered or self._is_elsewhere(words):
            return False
        if self._trail.has_moved and not self._reads_freely("."):
            return False  # where it names nothing, it reads the folder it is in
        name = program(words[0].text) if words[0].is_literal else ""
        inside = self._names_freely if name in _NAMING else self._reads_freely
        globs = [word.text for word in words if word.has_glob and word.text[0] != "-"]
        if not all(map(inside, globs)):
            return False
        named = Simple((Word(name, is_literal=bool(name)), *words[1:]))
        return is_read_only(named, inside, self._leads_out)

    def _names_freely(self, word: str) -> bool:
        """Whether it may be told what is there; that a secret is there is none."""
        places = self._trail.places(word)
        if has_signs(word):
            return all(is_certain(path) and is_each(path, self._may_list) for path in places)
        return all(map(self._is_here, places))

    def _may_list(self, path: str) -> bool:
        """A link that a glob comes to is shown by its name, if it leads to no folder."""
        return self._is_here(path) or (os.path.islink(path) and not os.path.isdir(path))

    def _is_here(self, path: str) -> bool:
        workspace = self._workspace
        return workspace.reads_freely(path) or (workspace.holds(path) and not is_special(path))

    def _reads_freely(self, word: str) -> bool:
        return all(map(self._may_read, self._trail.places(word)))

    def _may_read(self, path: str) -> bool:
        """A rule lets a command read a secret of the workspace as it lets a tool."""
        workspace = self._workspace
        if has_signs(path):
            return (
                is_certain(path)
                and not may_name_secret(path)
                and is_each(path, workspace.reads_freely)
            )
        if workspace.reads_freely(path):
            return True
        return workspace.holds(path) and not any(True for _ in self._permits.reading(path))

    def _leads_out(self, word: str) -> bool:
        return any(_has_link_out(path, self._is_here) for path in self._trail.places(word))

    def _only_moves_files(self, words: tuple[Word, ...]) -> bool:
        if self._permits.mode != "acceptEdits" or self._is_elsewhere(words) or self._steered:
            return False
        known = _FILE_COMMANDS.get(words[0].text)
        if known is None or not all(map(_is_named, words)):
            return False
        texts = [_LONG_FLAGS.get(word.text, word.text) for word in words[1:]]
        flags = [text for text in texts if text.startswith("-")]
        operands = [text for text in texts if not text.startswith("-")]
        if not all(set(flag[1:]) <= set(known) for flag in flags):
            return False
        if any(os.path.basename(path) in (".", "..") for path in operands[:-1]):
            return False  # the content of a folder, whatever that is, lands beside our own files
        places = [path for operand in operands for path in self._trail.places(operand)]
        return all(is_certain(path) and is_each(path, self._is_plain_inside) for path in places)

    def _paths(self, words: tuple[Word, ...]) -> list[str]:
        if words and words[0].text in _SPEAKING:
            return []
        names = (name for word in words[1:] for name in names_of(word.text) if name)
        return [path for name in names for path in self._trail.places(name)]


def _has_link_out(folder: str, is_here: Callable[[str], bool]) -> bool:
    """Whether a link below a folder leads elsewhere, or to a folder that would be read as well."""
    seen = 0
    for place, below, files in os.walk(folder):
        seen += len(below) + len(files)
        links = filter(os.path.islink, (os.path.join(place, n) for n in (*below, *files)))
        if seen > _MOST_LOOKED_AT or any(os.path.isdir(p) or not is_here(p) for p in links):
            return True
    return False


def _may_write(words: tuple[Word, ...]) -> bool:
    """Whether a command could change the files that it names."""
    if not words or words[0].text in _READERS:
        return False
    return not (words[0].text == "git" and len(words) > 1 and words[1].text in _LOOKING_AT)


def _is_named(word: Word) -> bool:
    """Known by its text; a glob that can come to neither a flag nor a hidden file is, too."""
    if word.has_glob:
        return "$" not in word.text and not re.search(r"(?:^|/)\.[^/]*[*?[]|^[*?[-]", word.text)
    return word.is_literal or word.at_home


def _is_operand(word: Word) -> bool:
    """Names of files that cannot be read as flags."""
    return word.text[:1] not in "*?[-"


def _reason(simple: Simple, *, is_plain: bool) -> str:
    text = " ".join(word.text for word in (*simple.assignments, *simple.words))
    text = text if len(text) <= 120 else f"{text[:117]}..."
    if not is_plain:
        return f"Running `{text}` needs permission: it sets variables that may change what runs."
    return f"Running `{text}` needs permission."
