"""Shell texts at random, and bash itself as the judge of both looks at them.

With no program to be found, bash hands every command to `command_not_found_handle`, word by word.
Whatever it ran must be in the script of the prover, if there is one, and among the findings of the
finder unless these are open. `python tests/fuzz/shell.py --minutes 60` goes on for an hour and
prints what it found; the suite runs some thousand texts from fixed seeds.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice, repeat

from detent.gate.shell.finder import agrees, find
from detent.gate.shell.prover import RESERVED, prove
from detent.gate.shell.script import Script, Simple

Argv = tuple[str, ...]
BASH = shutil.which("bash")
DRIVER = r"""
command_not_found_handle() {
    printf '%s\0' "$at" "${@//$'\n'/$'\3'}" $'\1end' >&9
    (( world == 0 || (world == 2 && RANDOM % 2) ))
}
exec 9>&1 >/dev/null 2>&1
PATH=/nonexistent FUNCNEST=4 X='p  q *' HOME=/home/nobody
mapfile -d '' -t texts
exec </dev/null
enable -n . : [ alias bg bind break builtin caller cd command compgen complete compopt continue \
    declare dirs disown echo exec exit export false fc fg getopts hash help history jobs kill let \
    local logout mapfile popd pushd pwd read readarray readonly return set shift shopt source \
    suspend test times trap true type typeset umask unalias unset
for at in "${!texts[@]}"; do
    text=${texts[at]}
    for world in 0 1 2; do
        if [[ $world == 2 || $text != *@(while|until|for*\(\()* ]]; then
            ( ulimit -t 1; eval -- "$text"
              wait )
        fi
    done
    printf '%s\0' "$at" $'\2' $'\1end' >&9
done
"""
"""Every text is run three times: all commands succeed, all fail, and by chance, so that loops end;
loops only by chance.
Builtins are switched off as well, so they are seen like programs. A record is one write without
the ends of lines, so that those of jobs that run at once do not mix."""

NAMES = ["c1", "c2", "c3"]
PLAIN = [
    "a", "b", "-x", "--y=z", "1", "22", "a.b", "x.y", "=", "a=b", "A", "{}", "@", "%", "+", ",",
    ".", ":", "-", "a#b", "HEAD~1", "a!", "^", "]", "}", "{",
]  # fmt: skip
QUOTED = [
    "'s t'", '"d e"', "''", '""', "'$X'", '"é"', "'a\nb'", r"\ ", r"\$X", r"a\ b", r"\;",
    r'"\$X"', r'"a\\b"', r'"\a"', "'`c1`'", "$'a'", r"$'a\n'", "$'\\x41'", '"a\'b"', "'a\"b'",
    '"#"', '"a $ b"', '"a$"', "'*'", r"\*", '"~"', '"!"', '"a\\\nb"', '"a \\\nb"', r"\'", r'\"',
    '"$(c1 \'x)\')"', "$''", '$"a"',
]  # fmt: skip
FILLED = [
    '"$X"', '"${X}"', '"a$X"', '"$1"', '"$?"', "$?", "$#", '"$#"', '"$$"', "$X", "${X}", '"$@"',
    '"$*"', "$@", "${X:-a}", '"${X:-`c1`}"', "$((1))", '"$((1))"', "$[1]", '"$[1]"', "`c1`",
    '"`c1 a`"', "${!X}", "$'", '"', "'", "`", '"$X[0]"', '"$-"', '"${#X}"', "~", "~/x", "~root",
    "A=~", "*", "?", "[a]", "f*", "{a,b}", "{1..3}", "a{b,c}d", "{a}", "$", '"$', "${", "$(",
    "$IFS", "@(a)", "!(a)", "+(a)", "%1", "é", "а",
]  # fmt: skip
SIGNS = [
    "&&", "||", ";", "|", "|&", "&", "\n", ";;", "(", ")", "{", "}", "!", "<", ">", ">>", "#",
    "\\", "\\\n", "=", "'", '"', "`", "$", "$(", ")", "<<", "<<<", "<(", "((", "))", "[[", "]]",
    " ", "\t", "2", "&>", ">|", "<>", ">&", "2>&1", ";&", "time", "coproc", "if", "then", "fi",
    "do", "done", "case", "esac", "in", "for", "while", "function", "else", "select", "\r",
    "\u00a0", "~", "*", "[", "]", ",",
]  # fmt: skip


class Writer:
    """Texts of a grammar: mostly ones that bash takes."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._bodies: list[str] = []

    def text(self) -> str:
        text = self._list(3)
        if self._bodies:
            text += "\n" + "\n".join(self._bodies)
        self._bodies = []
        for _ in range(self._chance.choice((0, 0, 0, 1, 1, 2, 3))):
            text = self._damaged(text)
        return text

    def _damaged(self, text: str) -> str:
        at = self._chance.randrange(len(text) + 1)
        if self._chance.random() < 0.4:
            return text[:at] + text[at + 1 :]
        return text[:at] + self._chance.choice(SIGNS) + text[at:]

    def _word(self, depth: int) -> str:
        roll = self._chance.random()
        if roll < 0.5:
            return self._chance.choice(PLAIN)
        if roll < 0.75:
            return self._chance.choice(QUOTED)
        if roll < 0.87:
            return self._chance.choice(FILLED)
        if roll < 0.93 and depth:
            return f'"{self._substitution(depth)}"'
        return self._chance.choice(PLAIN + QUOTED) + self._chance.choice(QUOTED + FILLED)

    def _substitution(self, depth: int) -> str:
        outer, self._bodies = self._bodies, []
        inner = self._list(depth - 1)
        if self._bodies:
            inner += "\n" + "\n".join(self._bodies) + "\n"
        self._bodies = outer
        return f"$({inner})"

    def _redirection(self, depth: int) -> str:
        sign = self._chance.choice(
            [">f1", "> f1", ">>f2", "<f1", "2>&1", ">&2", ">f4", "2>f4", "&>f3",
             ">|f1",
             "<>f2", "3>&1", ">&f3", "2>&1 >f", "<<<a", "<<< 'x y'", ">&-", "1>f1", "12>f2",
             '>"f1"', "<&0", "0<&-", "HERE"]
        )  # fmt: skip
        return self._here(depth) if sign == "HERE" else sign

    def _here(self, depth: int) -> str:
        mark = self._chance.choice(("E", "'E'", '"E"', "\\E", "-E", "-'E'", " E"))
        body = self._chance.choice(
            (
                "x",
                "$X `c2` $(c3 a)",
                "$(c2 a)",
                "\"$X' )",
                "\t\\$(c1) ${X}",
                "a\\\nb",
                "",
                "E1",
                "$((1))",
            )
        )
        if depth and self._chance.random() < 0.3:
            body = self._substitution(0)
        self._bodies.append(f"{body}\nE")
        return f"<<{mark}"

    def _simple(self, depth: int) -> str:
        parts = [self._chance.choice(("A=1", "B='x y'", "A+=2", 'A="$X"', "A=", "'A'=1"))] * (
            self._chance.random() < 0.1
        )
        parts.append(
            self._chance.choice(NAMES) if self._chance.random() < 0.95 else self._word(depth)
        )
        parts += (self._word(depth) for _ in range(self._chance.randrange(4)))
        if self._chance.random() < 0.2:
            parts.insert(self._chance.randrange(len(parts) + 1), self._redirection(depth))
        if self._chance.random() < 0.03:
            parts.insert(0, self._chance.choice(("time", "!", "time -p", "coproc", "command")))
        return self._chance.choice((" ", " ", " ", "  ", "\t", " \\\n")).join(parts)

    def _compound(self, depth: int) -> str:
        one, two, three = (self._list(depth - 1) for _ in range(3))
        word = self._word(0)
        shape = self._chance.choice(
            ["({0})", "( {0}; )", "{{ {0}; }}", "if {0}; then {1}; fi",
             "if {0}\nthen {1}\nelse {2}\nfi",
             "if {0}; then {1}; elif {2}; then c1; fi", "while {0}; do {1}; done",
             "until {0}; do {1}; done", "for x in {w} b; do {0}; done", "for x in a\ndo\n{0}\ndone",
             "case {w} in a|b) {0};; *) {1} ;; esac", "case a in (a) {0} ;& b) {1}; esac",
             "case {w} in\n a)\n{0}\n;;\n{w})\n{1}\nesac", "f() {{ {0}; }}; f a",
             "function f {{ {0}; }}; f", "f () ({0})\nf", "[[ -n {w} ]]", "{{ {0} }}", "(({0}))",
             "for ((i=0;i<1;i++)); do {0}; done", "f(){{ {0};}};f", "[ -f {w} ]",
             "({0}) | {{ {1}\n}}"]
        )  # fmt: skip
        text = shape.format(one, two, three, w=word)
        return text + (" " + self._redirection(0) if self._chance.random() < 0.15 else "")

    def _list(self, depth: int) -> str:
        parts = [self._part(depth)]
        while self._chance.random() < 0.35:
            sign = self._chance.choice(
                (" && ", " || ", "; ", " | ", " |& ", " & ", "\n", ";", "&&", "|", " # c\n", "&")
            )
            if sign.endswith("\n") and self._bodies:
                sign += "\n".join(self._bodies) + "\n"
                self._bodies = []
            parts += (sign, self._part(depth))
        return "".join(parts)

    def _part(self, depth: int) -> str:
        if depth > 0 and self._chance.random() < 0.25:
            return self._compound(depth)
        return self._simple(depth)


def texts(seed: int, count: int) -> list[str]:
    """None names a path: what is written by chance must not leave the folder it is run in."""
    writer = Writer(random.Random(seed))
    written = (writer.text() for _ in repeat(None))
    return list(islice((text for text in written if "/" not in text), count))


def runs(batch: Sequence[str], folder: str) -> list[set[Argv]]:
    """What bash ran of each text."""
    assert BASH is not None
    for name in ("f1", "f2"):
        open(os.path.join(folder, name), "w").close()
    ran = subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", DRIVER],
        input="".join(f"{text}\0" for text in batch).encode(),
        stdout=subprocess.PIPE,
        cwd=folder,
        env={"LC_ALL": "C.UTF-8"},
        check=False,
        timeout=50,
    )
    found: list[set[Argv]] = [set() for _ in batch]
    done: set[int] = set()
    for record in ran.stdout.decode("utf-8", "replace").split("\1end\0")[:-1]:
        at, *argv = record.replace("\3", "\n").split("\0")[:-1]
        if argv == ["\2"]:
            done.add(int(at))
        else:
            found[int(at)].add(tuple(argv))
    assert len(done) == len(batch), f"bash stopped at {batch[len(done)]!r}"
    return found


def is_run_of(argv: Argv, simple: Simple) -> bool:
    """Whether bash may have made these words of a proven command."""
    words = list(simple.words)
    while words and words[0].text == "time":
        if _matches(argv, [(w.text, w.is_literal, w.has_glob) for w in words]):
            return True
        words = words[2:] if len(words) > 1 and words[1].text == "-p" else words[1:]
    return _matches(argv, [(w.text, w.is_literal, w.has_glob) for w in words])


def _matches(argv: Argv, words: Sequence[tuple[str, bool, bool]]) -> bool:
    if not words:
        return not argv
    text, literal, many = words[0]
    if literal:
        return bool(argv) and argv[0] == text and _matches(argv[1:], words[1:])
    longest = len(argv) if many else 1
    return any(_matches(argv[n:], words[1:]) for n in range(1, longest + 1) if n <= len(argv))


def is_found(argv: Argv, commands: set[Argv]) -> bool:
    # Bash 5.2 writes COPROC into a `coproc` inside of `$(…)`. Keywords are no programs.
    if argv[0] in RESERVED | {"COPROC"}:
        return True
    return argv in commands or any(_fits(argv, command) for command in commands)


def _fits(argv: Argv, command: Argv) -> bool:
    """Words of a finding that the shell fills in may be any number of words."""
    if not command:
        return not argv
    if re.search(r"[$`*?\[{~<>]", command[0]):
        return any(_fits(argv[n:], command[1:]) for n in range(len(argv) + 1))
    return bool(argv) and argv[0] == command[0] and _fits(argv[1:], command[1:])


def is_straight(text: str) -> bool:
    """Everything in it is run in one of the two worlds: of these signs, only `&&` or only `||`."""
    branching = re.search(r"if|while|until|for|case|function|\(\s*\)|[!<>/]", text)
    return branching is None and not ("&&" in text and "||" in text)


def complaint(text: str, ran: set[Argv]) -> str | None:
    """What is wrong with the two looks at a text."""
    script, findings = prove(text), find(text)
    if script is not None:
        wrong = _wrongly_proven(script, ran)
        # An assignment by itself succeeds in every world.
        if wrong is None and is_straight(text) and all(s.words for s in script.commands):
            wrong = _not_run(script, ran)
        if wrong:
            return wrong
    if not findings.is_open:
        commands = set(findings.commands)
        for argv in ran:
            if not is_found(argv, commands):
                return f"not found: {argv!r}"
    return None


def _wrongly_proven(script: Script, ran: set[Argv]) -> str | None:
    for argv in ran:
        if not any(is_run_of(argv, simple) for simple in script.commands):
            return f"not in the script: {argv!r}"
    return None


def _not_run(script: Script, ran: set[Argv]) -> str | None:
    for simple in script.commands:
        if simple.words and not any(is_run_of(argv, simple) for argv in ran):
            return f"in the script, but not run: {[word.text for word in simple.words]!r}"
    return None


def check(batch: Sequence[str]) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for text, ran in zip(batch, runs(batch, folder), strict=True):
            wrong = complaint(text, ran)
            if wrong is not None:
                yield text, wrong


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=1)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    end, seed, wrong, proven, differing = (
        time.monotonic() + chosen.minutes * 60,
        chosen.seed,
        0,
        0,
        0,
    )
    count = 0
    while time.monotonic() < end:
        batch = texts(seed, 300)
        for text, problem in check(batch):
            wrong += 1
            print(f"seed {seed}: {text!r}\n    {problem}", flush=True)
        for text in batch:
            count += 1
            script = prove(text)
            proven += script is not None
            differing += script is not None and not agrees(script, find(text))
        seed += 1
    print(f"{count} texts, {proven} proven ({differing} seen differently), {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
