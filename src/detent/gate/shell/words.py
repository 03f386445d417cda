"""One word of a shell text, read strictly: what is not surely understood raises Unproven."""

import re
from functools import cache

from detent.gate.shell.script import Simple, Word

DEEPEST = 40
"""Nested groups and substitutions; a person would not read deeper ones either."""

_BLANKS = " \t"
_ENDS = " \t\n;|&()<>"
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
"""Of `$'…'`: those that are not numbers."""

_NAMELESS = frozenset("?#!-0123456789")
"""Parameters of one character. Not `@` and `*`: they are many words. Not `$`: before a parenthesis
bash itself reads `$$(` in two ways."""


class Unproven(Exception):
    """Not understood, so not proven; it never leaves this package."""


# Expressions are compiled on first use: a start that runs no command does not pay for them.
@cache
def _plain() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_./=:,@%+\-^\]{}#!]+")


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(r'[^"\\$`]+')


@cache
def _name() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class WordReader:
    """A place in a text. What substitutions run is found by `run_inside`."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.commands: list[Simple] = []
        self.here_is_pending = False

    def run_inside(self) -> None:
        """Read the commands behind `$(`, up to and with its end."""
        raise NotImplementedError

    def ahead(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def skip_blanks(self) -> None:
        """Blanks, continued lines and a comment; all of them only where a word could begin."""
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in _BLANKS:
                self.at += 1
            elif char == "\\" and text[self.at : self.at + 2] == "\\\n":
                # Right behind a word or a sign, the next line would belong to it.
                if self.here_is_pending or text[self.at - 1 : self.at] not in (" ", "\t"):
                    raise Unproven
                self.at += 2
            elif char == "#":
                # Behind a sign such as `;` a comment may begin, too.
                end = text.find("\n", self.at)
                self.at = end if end >= 0 else len(text)
            else:
                return

    def word(self) -> Word:
        """The word that begins here; at least one character or quote."""
        text, start = self.text, self.at
        parts: list[str] = []
        literal, glob, braces = True, False, False
        at_home = text[start : start + 1] == "~"
        if text[start : start + 1] in ("", "#"):
            raise Unproven
        while self.at < len(text):
            char = text[self.at]
            if run := _plain().match(text, self.at):
                parts.append(run[0])
                braces = braces or "{" in run[0] or "}" in run[0]
                self.at = run.end()
            elif char in _ENDS:
                break
            elif char in "*?[":
                parts.append(char)
                glob = True
                self.at += 1
            elif char == "~":
                parts.append(self._tilde(start, parts))
            else:
                part, is_literal = self._special(char)
                parts.append(part)
                literal = literal and is_literal
        if self.at == start or (self.ahead() in ("<", ">") and text[start : self.at].isdigit()):
            raise Unproven  # nothing, or a number that belongs to the redirection behind it
        whole = "".join(parts)
        if braces and ("," in whole or ".." in whole or self.ahead() in ("<", ">")):
            raise Unproven  # it becomes several words, or names a variable
        if text[start : self.at] == "[":
            return Word("[")
        return Word(whole, literal and not glob and not at_home, glob, at_home)

    def _tilde(self, start: int, parts: list[str]) -> str:
        """Home at the beginning of a word, plain inside of one; nothing else is certain."""
        before, after = "".join(parts)[-1:], self.text[self.at + 1 : self.at + 2]
        if self.at == start and after not in ("", "/", *_ENDS):
            raise Unproven
        if self.at != start and (before in ("", "=", ":") or self.text[self.at - 1] in "'\""):
            raise Unproven
        self.at += 1
        return "~"

    def _special(self, char: str) -> tuple[str, bool]:
        """A quote, an escape or what begins with `$`, and whether it is literal."""
        if char == "'":
            return self._until_quote(), True
        if char == '"':
            return self._double()
        if char == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            if escaped in ("", "\n") or not escaped.isascii():
                raise Unproven
            self.at += 2
            return escaped, True
        if self.text.startswith("$'", self.at):
            return self._escapes(), True
        if self.ahead(2) in ("$?", "$#") and "IFS" not in self.text:
            self.at += 2
            return self.text[self.at - 2 : self.at], False
        raise Unproven

    def _until_quote(self) -> str:
        end = self.text.find("'", self.at + 1)
        inner = self.text[self.at + 1 : end]
        if end < 0:
            raise Unproven
        self._check_lines(inner)
        self.at = end + 1
        return inner

    def _check_lines(self, inner: str) -> None:
        """A line that ends inside a word leaves open where a here-document begins."""
        if self.here_is_pending and "\n" in inner:
            raise Unproven

    def _escapes(self) -> str:
        """`$'…'` with the escapes that everybody knows."""
        self.at += 2
        parts: list[str] = []
        while (char := self.ahead()) != "'":
            if char == "\\":
                self.at += 1
                char = _ESCAPED.get(self.ahead(), "")
            if not char:
                raise Unproven
            self._check_lines(char)
            parts.append(char)
            self.at += 1
        self.at += 1
        return "".join(parts)

    def _double(self) -> tuple[str, bool]:
        """Between double quotes: text, variables as written, substitutions as written."""
        self.at += 1
        parts: list[str] = []
        literal = True
        while (char := self.ahead()) != '"':
            if run := _quoted().match(self.text, self.at):
                self._check_lines(run[0])
                parts.append(run[0])
                self.at = run.end()
            elif char == "\\":
                parts.append(self._escape_in_double())
            elif char == "$":
                start = self.at
                literal = not self.expansion() and literal
                parts.append(self.text[start : self.at])
            else:
                raise Unproven  # a backtick, or the end of the text
        self.at += 1
        return "".join(parts), literal

    def _escape_in_double(self) -> str:
        escaped = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if escaped == "\n":
            # Behind a name, the next line could be part of the name.
            before = self.text[self.at - 3]
            if self.here_is_pending or before.isalnum() or before == "_":
                raise Unproven
            return ""
        return escaped if escaped in ("$", "`", '"', "\\") else "\\" + escaped

    def expansion(self) -> bool:
        """Pass what begins with `$` inside double quotes; False when it is only a `$`."""
        self.at += 1
        char = self.ahead()
        if char == "(":
            self._substitution()
        elif char == "{":
            name = _name().match(self.text, self.at + 1)
            end = name.end() if name else self.at + 2
            if self.text[end : end + 1] != "}" or not (name or self.text[end - 1].isdigit()):
                raise Unproven
            self.at = end + 1
        elif name := _name().match(self.text, self.at):
            self.at = name.end()
        elif char and char in _NAMELESS:
            self.at += 1
        elif char and char in "[@*$\\`":
            raise Unproven
        else:
            return False
        return True

    def _substitution(self) -> None:
        if self.ahead(2) == "((" or self.depth >= DEEPEST:
            raise Unproven
        self.at += 1
        start, self.depth = self.at, self.depth + 1
        outer, self.here_is_pending = self.here_is_pending, False
        self.run_inside()
        self.depth -= 1
        self.here_is_pending = outer
        self._check_lines(self.text[start : self.at])
