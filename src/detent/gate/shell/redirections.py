"""Redirections and here-documents of a shell text, read strictly."""

import re
from functools import cache

from msgspec import Struct

from detent.gate.shell.script import Redirection, Word
from detent.gate.shell.words import Unproven, WordReader

_STREAMS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
"""Written or read, they open no file of the disk."""

_FREE_READS = frozenset({"/dev/null", "/dev/stdin"})


@cache
def _operator() -> re.Pattern[str]:
    return re.compile(r"(\d{0,2})(&>>|&>|>>|>\||>&|<&|<<<|<<-|<<|<>|>|<)")


@cache
def _delimiter() -> re.Pattern[str]:
    return re.compile(r"""'([\w .-]+)'|"([\w .-]+)"|\\?([A-Za-z_][\w.-]*)""", re.ASCII)


class _Here(Struct, frozen=True):
    """A here-document whose lines are still to come."""

    delimiter: str
    is_quoted: bool
    strips_tabs: bool


class RedirectionReader(WordReader):
    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._pending: list[_Here] = []

    def redirection(self, into: list[Redirection]) -> bool:
        """Read the redirection that begins here, if one does; those that open files are kept."""
        found = _operator().match(self.text, self.at)
        if found is None or (found[1] and found[2].startswith("&")):
            return False
        self.at = found.end()
        self._pass_blanks()
        match found[2]:
            case "<<" | "<<-":
                self._here(strips_tabs=found[2] == "<<-")
            case "<<<":
                self.word()
            case ">&" | "<&":
                self._copy(found, into)
            case operator:
                self._file(self.word(), writes=operator != "<", into=into)
        return True

    def _pass_blanks(self) -> None:
        while self.ahead() in (" ", "\t"):
            self.at += 1

    def _file(self, target: Word, *, writes: bool, into: list[Redirection]) -> None:
        free = _STREAMS if writes else _FREE_READS
        if not (target.is_literal and target.text in free):
            into.append(Redirection(writes, target))

    def _copy(self, found: re.Match[str], into: list[Redirection]) -> None:
        """`2>&1`, `>&-`, and `>&file`."""
        start = self.at
        target = self.word()
        raw = self.text[start : self.at]
        if raw == "-" or re.fullmatch(r"\d{1,2}-?", raw, re.ASCII):
            return
        if found[1] or found[2] == "<&" or not target.is_literal or re.match("[0-9-]", target.text):
            raise Unproven
        self._file(target, writes=True, into=into)

    def _here(self, *, strips_tabs: bool) -> None:
        found = _delimiter().match(self.text, self.at)
        if found is None or self.text[found.end() : found.end() + 1] not in (
            "", " ", "\t", "\n", ";", "|", "&", ")", ">", "<"
        ):  # fmt: skip
            raise Unproven
        self.at = found.end()
        delimiter = found[1] or found[2] or found[3]
        self._pending.append(_Here(delimiter, found[0] != delimiter, strips_tabs))
        self.here_is_pending = True

    def newline(self) -> None:
        """Pass the end of a line, and the here-documents that begin behind it."""
        self.at += 1
        pending, self._pending = self._pending, []
        self.here_is_pending = False
        for here in pending:
            body = self._body(here)
            if not here.is_quoted:
                self._run_body(body)

    def check_nothing_pends(self) -> None:
        if self._pending:
            raise Unproven

    def _body(self, here: _Here) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = end if end >= 0 else len(self.text)
            line = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            shown = line.lstrip("\t") if here.strips_tabs else line
            if shown == here.delimiter:
                return "\n".join(lines)
            if shown.startswith(here.delimiter):
                raise Unproven  # inside `$(`, bash may end it here
            lines.append(line)
        raise Unproven

    def _run_body(self, body: str) -> None:
        """What an unquoted here-document runs; its variables are data."""
        if "\\\n" in body:
            raise Unproven
        inner = type(self)(body, self.depth + 1)
        while inner.at < len(body):
            if inner.ahead() == "\\":
                inner.at += 2
            elif inner.ahead() == "`":
                raise Unproven
            elif inner.ahead() == "$" and body[inner.at + 1 : inner.at + 2] not in ("@", "*"):
                inner.expansion()
            else:
                inner.at += 1
        self.commands += inner.commands
