"""Shell commands, read strictly: only what is understood completely is ever called proven.

`prove(text)` gives a Script, or None. A Script holds exactly the simple commands that bash could
run for the text; what is not provable is never allowed silently.

Known are words, quotes, escapes, all separators, groups, subshells, `if`, `while`, `until`, `for`,
`case`, functions, comments, redirections, here-documents, assignments, `$?`, `$#`, `"$NAME"` and
`"$(…)"`. All other expansions, backticks, arithmetic, `[[`, arrays, aliases and whatever bash
might read in two ways are not provable.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from detent.gate.shell.characters import is_clear
from detent.gate.shell.redirections import RedirectionReader
from detent.gate.shell.script import Redirection, Script, Simple, Word
from detent.gate.shell.words import DEEPEST, Unproven

LONGEST = 10_000
RESERVED = frozenset(
    {"!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi",
     "for", "function", "if", "in", "select", "then", "until", "while"}
)  # fmt: skip
_CHANGES_THE_LANGUAGE = frozenset({"alias", "unalias", "shopt", "enable"})
"""After these the same text may mean something else."""

_ASSIGNMENT = r"([A-Za-z_][A-Za-z0-9_]*)\+?="
_HARMLESS_SET = r"[-+][eux]+|[-+][eux]*o|pipefail|errexit|nounset|xtrace"
_KEYWORD = r"[a-z!{}\[\]]+(?=[\s;|&()<>]|$)"
_FUNCTION = r"([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\([ \t]*\)"
_LOOP_NAME = r"[ \t]+(?![a-z_]*proxy\b)([a-z_][a-z0-9_]*)(?=[\s;])"
"""Small letters only: names such as PATH and IFS mean something to the shell."""


@lru_cache(512)
def prove(text: str) -> Script | None:
    """All simple commands of a text, or None when any part of it is not understood."""
    if len(text) > LONGEST or not is_clear(text):
        return None
    grammar = _Grammar(text)
    try:
        grammar.whole()
    except Unproven:
        return None
    return Script(tuple(grammar.commands))


def is_assignment(word: str) -> bool:
    return re.match(_ASSIGNMENT, word) is not None


class _Grammar(RedirectionReader):
    """Recursive descent over the grammar of bash, as far as it is certain."""

    def whole(self) -> None:
        self._list(())
        if self.at < len(self.text):
            raise Unproven

    def run_inside(self) -> None:
        """The commands of `$(…)`."""
        pending, self._pending = self._pending, []
        self._list((")",))
        self.check_nothing_pends()
        self._pending = pending
        self.at += 1

    def _list(self, ends: tuple[str, ...]) -> str:
        """Commands up to one of the ends, which stays ahead; the end of the text is one of `()`."""
        count = 0
        while True:
            self._lines()
            if (end := self._end(ends)) is not None:
                if not count:
                    raise Unproven
                return end
            self._and_or()
            count += 1
            self.skip_blanks()
            char = self.ahead()
            if char in (";", "&") and self.ahead(2) not in (";;", ";&", "&&"):
                self.at += 1
            elif char not in ("\n", "") and self._end(ends, is_sign=True) is None:
                raise Unproven

    def _end(self, ends: tuple[str, ...], *, is_sign: bool = False) -> str | None:
        """Which end is ahead. A keyword ends a list only where a command could begin."""
        if self.at >= len(self.text):
            if ends:
                raise Unproven
            self.check_nothing_pends()
            return ""
        for end in ends:
            if end in (")", ";;"):
                if self.text.startswith(end, self.at) or (
                    end == ";;" and self.text.startswith(";&", self.at)
                ):
                    return end
            elif not is_sign and self._keyword() == end:
                return end
        return None

    def _keyword(self) -> str:
        """The bare word ahead, if it looks like a keyword."""
        found = re.compile(_KEYWORD).match(self.text, self.at)
        return found[0] if found else ""

    def _take(self, keyword: str) -> None:
        if self._keyword() != keyword:
            raise Unproven
        self.at += len(keyword)

    def _lines(self) -> None:
        self.skip_blanks()
        while self.ahead() == "\n":
            self.newline()
            self.skip_blanks()

    def _and_or(self) -> None:
        self._pipeline()
        self.skip_blanks()
        while self.ahead(2) in ("&&", "||"):
            self.at += 2
            self._lines()
            self._pipeline()
            self.skip_blanks()

    def _pipeline(self) -> None:
        while self._keyword() == "!":
            self.at += 1
            if self.ahead() not in (" ", "\t"):
                raise Unproven  # `!(a)` may be a pattern
            self.skip_blanks()
        timed = self._timed() if self._keyword() == "time" else ()
        self._command(timed)
        self.skip_blanks()
        while self.ahead() == "|" and self.ahead(2) != "||":
            self.at += 2 if self.ahead(2) == "|&" else 1
            self._lines()
            if self._keyword() in ("!", "time"):
                raise Unproven
            self._command(())
            self.skip_blanks()

    def _timed(self) -> tuple[Word, ...]:
        """`time` is a keyword; the command behind it keeps it as its first word."""
        self._take("time")
        self.skip_blanks()
        words: tuple[Word, ...] = (Word("time"),)
        if re.compile(r"-p(?=[ \t])").match(self.text, self.at):
            self.at += 2
            self.skip_blanks()
            words = (*words, Word("-p"))
        if self.ahead() in ("-", "", "\n", ";", "|", "&", ")", "<", ">", "!"):
            raise Unproven
        return words

    def _command(self, timed: tuple[Word, ...]) -> None:
        keyword = self._keyword()
        compound = self._compounds().get("(" if self.ahead() == "(" else keyword)
        if compound is not None:
            self._deeper(compound)
        elif keyword in RESERVED:
            raise Unproven
        elif not timed and (found := re.compile(_FUNCTION).match(self.text, self.at)):
            self.at = found.end()
            self._deeper(self._function_body)
        else:
            self._simple(timed)

    def _compounds(self) -> dict[str, Callable[[], None]]:
        return {
            "(": self._subshell,
            "{": self._group,
            "if": self._if,
            "while": self._while,
            "until": self._while,
            "for": self._for,
            "case": self._case,
            "function": self._function,
        }

    def _deeper(self, compound: Callable[[], None]) -> None:
        """A compound command and its redirections, which are opened before it runs."""
        if self.depth >= DEEPEST:
            raise Unproven
        self.depth += 1
        start = len(self.commands)
        compound()
        self.depth -= 1
        redirections: list[Redirection] = []
        self.skip_blanks()
        while self.redirection(redirections):
            self.skip_blanks()
        if redirections:
            self.commands.insert(start, Simple((), (), tuple(redirections)))

    def _subshell(self) -> None:
        if self.ahead(2) == "((":
            raise Unproven
        self.at += 1
        self._list((")",))
        self.at += 1

    def _group(self) -> None:
        self._take("{")
        self._list(("}",))
        self._take("}")

    def _if(self) -> None:
        self._take("if")
        self._list(("then",))
        self._take("then")
        while (end := self._list(("elif", "else", "fi"))) == "elif":
            self._take(end)
            self._list(("then",))
            self._take("then")
        if end == "else":
            self._take(end)
            self._list(("fi",))
        self._take("fi")

    def _while(self) -> None:
        self.at += 5
        self._list(("do",))
        self._do()

    def _do(self) -> None:
        self._take("do")
        self._list(("done",))
        self._take("done")

    def _for(self) -> None:
        self._take("for")
        found = re.compile(_LOOP_NAME).match(self.text, self.at)
        if found is None:
            raise Unproven
        self.at = found.end()
        self.skip_blanks()
        if self._keyword() == "in":
            self._take("in")
            self.skip_blanks()
            while self.ahead() not in ("\n", ";", ""):
                self.word()
                self.skip_blanks()
        if self.ahead() == ";":
            self.at += 1
        elif self.ahead() != "\n":
            raise Unproven
        self._lines()
        self._do()

    def _case(self) -> None:
        self._take("case")
        self.skip_blanks()
        self.word()
        self._lines()
        self._take("in")
        self._lines()
        while self._keyword() != "esac":
            self._pattern()
            self._lines()
            if self.ahead(2) not in (";;", ";&") and self._keyword() != "esac":
                self._list((";;", "esac"))
            self._lines()
            if self.ahead(2) in (";;", ";&"):
                self.at += 3 if self.ahead(3) == ";;&" else 2
                self._lines()
            elif self._keyword() != "esac":
                raise Unproven
        self._take("esac")

    def _pattern(self) -> None:
        if self.ahead() == "(":
            self.at += 1
            self.skip_blanks()
        while True:
            self.word()
            self.skip_blanks()
            if self.ahead() == ")":
                self.at += 1
                return
            if self.ahead() != "|":
                raise Unproven
            self.at += 1
            self.skip_blanks()

    def _function(self) -> None:
        self._take("function")
        found = re.compile(r"[ \t]+([A-Za-z_][A-Za-z0-9_-]*)(?=[\s(])").match(self.text, self.at)
        if found is None or found[1] in RESERVED:
            raise Unproven
        self.at = found.end()
        if parentheses := re.compile(r"[ \t]*\([ \t]*\)").match(self.text, self.at):
            self.at = parentheses.end()
        self._function_body()

    def _function_body(self) -> None:
        self._lines()
        if self._keyword() == "{":
            self._group()
        elif self.ahead() == "(":
            self._subshell()
        else:
            raise Unproven

    def _simple(self, timed: tuple[Word, ...]) -> None:
        words: list[Word] = []
        assignments: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            self.skip_blanks()
            char = self.ahead()
            if char in ("", "\n", ";", "|", ")") or (char == "&" and self.ahead(2) != "&>"):
                break
            if self.redirection(redirections):
                continue
            start = self.at
            word = self.word()
            if words:
                words.append(word)
            elif re.match(_ASSIGNMENT, self.text[start : self.at]):
                assignments.append(word)
            else:
                self._check_program(word)
                words.append(word)
        if not (words or assignments or redirections) or (timed and (assignments or not words)):
            raise Unproven
        self._check_language(words)
        found = Simple((*timed, *words), tuple(assignments), tuple(redirections))
        self.commands.append(found)

    def _check_program(self, word: Word) -> None:
        """At the place of the program: no keyword, job, look-alike, or quoted assignment."""
        text = word.text
        if text in RESERVED or not text.isascii() or text.startswith("%"):
            raise Unproven
        if re.match(r"[A-Za-z_][A-Za-z0-9_]*(\+?=|\[)", text):
            raise Unproven

    def _check_language(self, words: list[Word]) -> None:
        texts = [word.text for word in words]
        while texts and texts[0] in ("command", "builtin"):
            texts = texts[1:]
        if not texts:
            return
        if texts[0] in _CHANGES_THE_LANGUAGE:
            raise Unproven
        if texts[0] == "set" and not all(re.fullmatch(_HARMLESS_SET, text) for text in texts[1:]):
            raise Unproven
