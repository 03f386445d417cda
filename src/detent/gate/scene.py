"""A call as rules look at it: every file it names, worked out once for all rules."""

import os
from collections.abc import Iterable, Iterator
from functools import cached_property

from detent.gate.commands import (
    MOST_FOLDERS,
    MOST_NAMES,
    WRITERS,
    Look,
    changed,
    folders,
    look,
    mentioned,
    placed,
    reads_below,
)
from detent.gate.hosts import hosts_of
from detent.gate.paths import spellings
from detent.gate.patterns import Anchors
from detent.gate.shell.programs import SHELLS
from detent.gate.shell.script import Simple, Word
from detent.gate.terms import Origin, Workspace
from detent.gate.wrappers import unwrapped
from detent.ports import Proposal
from detent.types.effects import Reads, Runs, Writes

_OPENERS = frozenset(
    {"cat", "tac", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "sed", "awk",
     "sort", "uniq", "cut", "wc", "diff", "cmp", "cp", "mv", "tee", "dd", "od", "xxd", "strings",
     "base64", "nl", "paste", "jq", "source", ".", "curl", "tar", "zip", "ln", "rsync", "scp",
     "find", "ls"}
)  # fmt: skip
"""Programs whose words are mostly names of files."""
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack"})
"""Their first word is what they look for."""


class Scene:
    def __init__(self, proposal: Proposal, workspace: Workspace) -> None:
        self.proposal = proposal
        self.workspace = workspace
        self._known_starts: dict[str, tuple[str, ...]] = {}

    def anchors(self, origin: Origin) -> Anchors:
        project = self.workspace.project
        return Anchors(project, self.workspace.home, origin.folder or project)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(e.command for e in self.proposal.effects if isinstance(e, Runs))

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        return tuple(map(look, self.texts))

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self.proposal)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Every file that the call reads, writes or mentions, in both spellings."""
        paths = [e.path for e in self.proposal.effects if isinstance(e, (Reads, Writes))]
        return _spelled((*paths, *self._mentioned(changing=False)))

    @cached_property
    def written(self) -> tuple[str, ...]:
        paths = [e.path for e in self.proposal.effects if isinstance(e, Writes)]
        return _spelled((*paths, *self._mentioned(changing=True)))

    def _mentioned(self, *, changing: bool) -> Iterator[str]:
        for text, seen in zip(self.texts, self.looks, strict=True):
            globs = {word.text for word in _words(seen) if word.has_glob}
            words = changed(seen.findings) if changing else mentioned(seen.findings)
            literal = (word for word in words if word not in globs)
            yield from placed(literal, self._starts(text), self.workspace.home)

    def _starts(self, text: str) -> tuple[str, ...]:
        if text not in self._known_starts:
            found = folders(text, self.workspace.cwd, self.workspace.home)
            self._known_starts[text] = found
        return self._known_starts[text]

    @cached_property
    def globs(self) -> tuple[str, ...]:
        """Names with `*`, `?` or `[` that the shell will fill in."""
        return tuple(
            os.path.normpath(path)
            for text, seen in zip(self.texts, self.looks, strict=True)
            for path in placed(
                (word.text for word in _words(seen) if word.has_glob),
                self._starts(text),
                self.workspace.home,
            )
        )

    @cached_property
    def read_below(self) -> tuple[str, ...]:
        """Folders that the call reads with all that is in them."""
        roots = [
            e.path
            for e in self.proposal.effects
            if isinstance(e, Reads) and (self.proposal.tool != "Read" or os.path.isdir(e.path))
        ]
        for text, seen in zip(self.texts, self.looks, strict=True):
            for command in seen.findings.commands:
                if reads_below(command):
                    roots += placed(_roots(command), self._starts(text), self.workspace.home)
        return _spelled(roots)

    @cached_property
    def is_open(self) -> bool:
        """More may run than was found. A shell runs whatever file or text it is given."""
        return any(
            seen.findings.is_open
            or any(c[0] in SHELLS and any("$" in w for w in c[1:]) for c in seen.findings.commands)
            for seen in self.looks
        )

    @cached_property
    def is_unproven(self) -> bool:
        return any(seen.script is None for seen in self.looks) or any(
            len(self._starts(text)) > MOST_FOLDERS for text in self.texts
        )

    @cached_property
    def opens_files(self) -> bool:
        """A program that opens files is given some, or input comes from one."""
        return any(
            seen.findings.reads or any(_opened(command) for command in seen.findings.commands)
            for seen in self.looks
        )

    @cached_property
    def writes_unknown(self) -> bool:
        """A program that writes is given a name that the shell fills in, or a glob."""
        return any(
            _opens_unknown(simple, WRITERS, globs=True)
            for seen in self.looks
            if seen.script is not None
            for simple in seen.script.commands
        )

    @cached_property
    def opens_unknown(self) -> bool:
        """A program that opens files is given a name that the shell fills in."""
        return any(
            _opens_unknown(simple, _OPENERS)
            for seen in self.looks
            if seen.script is not None
            for simple in seen.script.commands
        )


def _words(seen: Look) -> Iterator[Word]:
    for simple in seen.script.commands if seen.script is not None else ():
        yield from simple.words
        yield from (redirection.target for redirection in simple.redirections)


def _roots(command: tuple[str, ...]) -> list[str]:
    """The folders among the words of a recursive command; the current one when it names none."""
    return _operands(command) or ["."]


def _opened(command: tuple[str, ...]) -> bool:
    return command[0] in _OPENERS and bool(_operands(command))


def _operands(command: tuple[str, ...]) -> list[str]:
    operands = [word for word in command[1:] if not word.startswith("-")]
    return operands[1:] if command[0] in _SEARCHERS else operands


def _opens_unknown(simple: Simple, openers: frozenset[str], *, globs: bool = False) -> bool:
    if any(_is_filled_in(redirection.target) for redirection in simple.redirections):
        return True
    words = unwrapped(simple.words)
    if not words or words[0].text.rpartition("/")[2] not in openers:
        return False
    return any(_is_filled_in(word) or (globs and word.has_glob) for word in words[1:])


def _is_filled_in(word: Word) -> bool:
    return not (word.is_literal or word.has_glob or word.at_home)


def _spelled(paths: Iterable[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(paths))
    if len(names) > MOST_NAMES:
        return tuple(map(os.path.normpath, names))  # such a text is not proven: it is asked about
    return tuple(dict.fromkeys(spelling for name in names for spelling in spellings(name)))
