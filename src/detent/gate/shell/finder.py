"""What a text might run: over-approximated, for deny and ask. The prover's opposite.

`find(text)` reads the text as a tree. What the tree cannot show is cut at everything that could
separate commands, once with and once without regard for quotes, so that no quoting hides one.
`agrees(script, findings)` says whether both looks at one text saw the same commands.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from detent.gate.shell.characters import is_clear
from detent.gate.shell.programs import SHELLS
from detent.gate.shell.prover import RESERVED, prove
from detent.gate.shell.runners import (
    RUNNING,
    Command,
    beginning,
    inner,
    name_of,
    runs_filled_in,
)
from detent.gate.shell.script import Findings, Script, Simple
from detent.gate.shell.spelling import spelled
from detent.gate.shell.tree import FREE, Tree

KEYWORDS = RESERVED | {"time", "coproc"}
MOST = 200_000
"""Words and characters that are looked at behind commands and inside of substitutions, each as
often as it is nested. A text with more counts as open; its own commands are all found."""

_SEPARATORS = r"[;|&\n(){}`]|\$\("
_TOKEN = r"""
    (?P<comment>\#[^\n]*)
  | (?P<joined>\\\n)
  | (?P<separator>\|&?|&(?!>)|[;()\n`])
  | (?P<closing>[0-9]*[<>]&(?:[ \t]|\\\n)*-)
  | (?P<redirection>[0-9]*(?:&>>?|>\||>>|>&|<&|<<<|<<-?|<>|>|<))
  | (?P<word>(?:[^\s;|&()<>`"'\\]|\\.|\$?"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|'[^']*'|["'\\])+)
"""
_REDIRECTION = r"[0-9]*(?:&>>?|>\||>>|>&|<&|<<<|<<-?|<>|>|<)[ \t]*[^\s;|&()<>`]*"
_WRITTEN = r"(?:[0-9]*|&)>[>|&]?[ \t]*(\"[^\"]*\"|'[^']*'|[^\s;|&()<>`]+)"
_CUT = str.maketrans(dict.fromkeys(";|&()<>`{},", " "))
_HERE = r"""(?<!<)<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))"""
_HIDDEN_JOIN = r"[^ \t\n]\\\n"
_PLAIN_WORD = r"[A-Za-z0-9_./=:,@%+-]+|'[ -&(-~]*'"
_PLAIN = rf"[A-Za-z0-9_./+-]+(?: +(?:{_PLAIN_WORD}))* *"
"""Words without any sign, or wholly in quotes: there is one way to read them, and no tree is
needed."""


@cache
def _token() -> re.Pattern[str]:
    return re.compile(_TOKEN, re.VERBOSE | re.DOTALL)


@lru_cache(512)
def find(text: str) -> Findings:
    search = _Search()
    search.text(text)
    return Findings(
        tuple(search.commands),
        tuple(search.words),
        tuple(search.reads),
        tuple(search.writes),
        search.is_open,
        search.is_whole,
        tuple(search.direct),
    )


def agrees(script: Script, findings: Findings) -> bool:
    """The prover's commands are those of the tree; where the tree has gaps, they are all found."""
    proven = [simple for simple in script.commands if simple.words]
    known = _by_shape(findings.direct if findings.is_whole else findings.commands)
    seen: set[Command] = set()
    for simple in proven:
        matching = [
            command for command in known.get(_shape(simple), ()) if _is_same(simple, command)
        ]
        if not matching:
            return False
        seen.update(matching)
    return not findings.is_whole or seen.issuperset(findings.direct)


def _shape(simple: Simple) -> tuple[int, str]:
    first = simple.words[0]
    return len(simple.words), first.text if first.is_literal else ""


def _by_shape(commands: Iterable[Command]) -> dict[tuple[int, str], set[Command]]:
    shapes: dict[tuple[int, str], set[Command]] = {}
    for command in commands:
        for name in {command[0], ""}:
            shapes.setdefault((len(command), name), set()).add(command)
    return shapes


def _is_same(simple: Simple, command: Command) -> bool:
    """Words that are filled in are spelled differently by the two looks."""
    pairs = zip(simple.words, command, strict=True)
    return all(word.text == text or not word.is_literal for word, text in pairs)


class _Search:
    def __init__(self) -> None:
        self.commands: dict[Command, None] = {}
        self.direct: dict[Command, None] = {}
        self.words: dict[str, None] = {}
        self.reads: dict[str, None] = {}
        self.writes: dict[str, None] = {}
        self.is_open = False
        self.is_whole = True
        self._texts: list[str] = []
        self._seen: set[str] = set()
        self._left = MOST

    def text(self, text: str) -> None:
        """The text itself, and then every text that it hands to a shell."""
        self._seen.add(text)
        self._one(text, is_first=True)
        while self._texts:
            inner_text = self._texts.pop()
            if inner_text not in self._seen and self._spend(len(inner_text)):
                self._seen.add(inner_text)
                self._one(inner_text, is_first=False)

    def _spend(self, amount: int) -> bool:
        self._left -= amount
        self.is_open = self.is_open or self._left < 0
        return self._left >= 0

    def _one(self, text: str, *, is_first: bool) -> None:
        if words := _plain_words(text):
            if is_first:
                self.direct[words] = None
            self._behind(words)
            self.words.update(dict.fromkeys(words))
            return
        tree = Tree(text)
        for command in tree.commands:
            words = tuple(word.text for word in command)
            if is_first:
                self.direct[words] = None
            if not command[0].is_literal:
                self.is_open = True
                self._behind((command[0].without, *words[1:]))
                self._behind(words[1:])
            elif name_of(words) in RUNNING and not all(word.is_literal for word in command):
                sure = [word.is_literal for word in command]
                self.is_open = self.is_open or runs_filled_in(words, sure)
            self._behind(words)
        self.words.update(dict.fromkeys(tree.words))
        self.reads.update(dict.fromkeys(tree.reads))
        self.writes.update(dict.fromkeys(tree.writes))
        for part in (text, *filter(lambda part: self._spend(len(part)), tree.substituted)):
            for words in _tokens(part):
                self._behind(words)
        if tree.fed and any(name_of(command) in SHELLS for command in self.commands):
            self._texts += tree.fed
        clear = is_clear(text)
        joins = re.search(_HIDDEN_JOIN, text) is not None
        if joins:  # the tree takes one word of two lines for two words
            self._texts.append(text.replace("\\\n", ""))
        if not (tree.is_whole and clear) or joins:
            self._guess(text if clear else "".join(c for c in text if c in "\n\t" or is_clear(c)))
            self.is_whole = self.is_whole and not is_first
            self.is_open = self.is_open or not (tree.is_whole and clear)
        for proven in (prove(text) or Script(())).commands:
            self._behind(tuple(word.text for word in proven.words))

    def _behind(self, command: Command) -> None:
        """The command under its names, and what is behind it."""
        stack = [command]
        while stack:
            command = stack.pop()
            if not command or command in self.commands:
                continue
            self.commands[command] = None
            if (name := name_of(command)) != command[0]:
                self.commands[(name, *command[1:])] = None
            found = inner(command)
            stack += (c for c in reversed(found.commands) if self._spend(len(c)))
            self._texts += found.texts
            self.is_open = self.is_open or found.is_open
            for text in found.foreign:
                self._guess(text)

    def _guess(self, text: str) -> None:
        """Everything between any two marks that might separate commands."""
        for words in _pieces(text):
            self._behind(beginning(words))
        self.words.update(dict.fromkeys(_mentioned(text)))
        targets = (spelled(found[1]).text for found in re.finditer(_WRITTEN, text))
        self.writes.update(
            dict.fromkeys(t for t in targets if t not in FREE and t != "-" and not t.isdigit())
        )


def _plain_words(text: str) -> Command:
    """Empty when it takes a tree to tell."""
    if re.fullmatch(_PLAIN, text) is None:
        return ()
    words = tuple(word.strip("'") for word in re.findall(_PLAIN_WORD, text))
    return () if words[0] in KEYWORDS else words


def _pieces(text: str) -> Iterator[Command]:
    text = text.replace("\\\n", "")
    for piece in re.split(_SEPARATORS, re.sub(_REDIRECTION, " ", text)):
        yield tuple(map(_bare, piece.split()))
    yield from _tokens(text)


def _tokens(text: str) -> Iterator[Command]:
    """Words between signs that separate, by quotes alone: the tree may lose a word or a line."""
    words: list[str] = []
    is_target = False
    for found in _token().finditer(_without_bodies(text)):
        if found["separator"] is not None:
            yield tuple(words)
            words, is_target = [], False
        elif found["redirection"] is not None:
            is_target = True
        elif found["word"] is not None:
            raw = found["word"]
            if not is_target and (words or beginning((raw,))):
                words.append(spelled(raw).text)
            is_target = False
    yield tuple(words)


def _without_bodies(text: str) -> str:
    """Here-documents taken out: their lines are data."""
    if "<<" not in text:
        return text
    kept: list[str] = []
    marks: list[str] = []
    for line in text.split("\n"):
        if marks:
            marks = marks[1:] if line.lstrip("\t") == marks[0] else marks
        else:
            kept.append(line)
            marks = [found[1] or found[2] or found[3] for found in re.finditer(_HERE, line)]
    return text if marks else "\n".join(kept)


def _bare(word: str) -> str:
    return word.replace("\\", "").replace("'", "").replace('"', "")


def _mentioned(text: str) -> Iterator[str]:
    text = text.replace("\\\n", "")
    yield from (spelled(found["word"] or "").text for found in _token().finditer(text))
    yield from _bare(text).translate(_CUT).split()
