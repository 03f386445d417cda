"""The prover against bash itself: for a text it accepts, bash runs exactly the words it says."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.gate.shell.prover import Command, is_assignment, prove, unwrapped

BASH = shutil.which("bash")
PREAMBLE = """\
FUNCNEST=2
command_not_found_handle() {{ printf '%s\\0' "$@" $'\\1' >&3; return {status}; }}
exec 3>&1 >/dev/null
PATH=/nonexistent
enable -n . : [
"""
"""No program is found and no builtin that the pieces can spell, so bash hands every command to the
handler, word by word. FUNCNEST: should a handler ever call itself, it ends there."""

PIECES = st.sampled_from(
    [
        "a", "b1", "cc", "-x", "--y=z", "'x y'", '"q r"', "''", '""', "'$X'", '"é"', "'a\nb'", "~",
        "~/x", "~root", "a~", "$X", "${X}", "$(c)", "`c`", '"$X"', '"`c`"', "$'a'", "*", "?", "[a]",
        "[", "{a,b}", "{a..c}", "#c", "a#c", "!", "!!", "^a^b", "=a", "A=1", "A+=1", "'A'=1",
        "A='b c'", "\\", "\\ ", "\\\n", "\n", "\t", " ", "  ", "&&", "||", ";", ";;", "|", "&",
        "|&", "2>&1", "1>&2", ">/dev/null", "2> /dev/null", "&>/dev/null", ">&2", ">f", "<f", "<<E",
        "3>&1", "(", ")", "{", "}", "if", "then", "fi", "[[", "function", "coproc", "case", "in",
        "\u00a0", "\u3000", "\u200b", "\u2028", "\r", "\x0b", "\x0c", "é", "-", "--", "%1", "@",
        "+", ",", ":", ".", "=", "@(a)", "+(a)", "10", "2",
    ]
)  # fmt: skip


def bash_runs(text: str, status: int) -> set[Command]:
    """What runs when every command ends with this status."""
    assert BASH is not None
    script = PREAMBLE.format(status=status) + text
    ran = subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", script],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
    )
    # One write for each record, so that the parts of a pipeline cannot mix theirs.
    records = ran.stdout.decode().split("\x01\0")[:-1]
    return {tuple(record.split("\0")[:-1]) for record in records}


def proven_runs(commands: tuple[Command, ...]) -> set[Command]:
    runs = set()
    for command in commands:
        while command and is_assignment(command[0]):
            command = command[1:]
        if command:
            runs.add(command)
    return runs


@pytest.mark.skipif(BASH is None, reason="bash is the oracle")
@settings(max_examples=400)
@given(st.lists(PIECES, min_size=1, max_size=7), st.sampled_from(["", " "]))
@example(["a", "2>&1x"], " ")
@example(["a", ">/dev/nullx"], " ")
@example(["a", "&&", "\n", "b1"], " ")
@example(["a", "'b'", '"c"', "d"], "")
def test_bash_runs_the_words_that_were_proven(pieces: list[str], joint: str) -> None:
    text = "z " + joint.join(pieces)
    commands = prove(text)
    if commands is None or any(all(map(is_assignment, command)) for command in commands):
        return  # an assignment alone runs nothing that could be seen
    # With `&&` and `||` each command runs in at least one of the two worlds.
    assert bash_runs(text, 0) | bash_runs(text, 1) == proven_runs(commands)


def test_the_oracle_sees_expansions() -> None:
    """The oracle itself: what the prover must not accept shows up as other words."""
    assert bash_runs("z {a,b} 'c d' | y", 0) == {("z", "a", "b", "c d"), ("y",)}


def test_every_accepted_text_is_at_least_one_command() -> None:
    assert prove("") is None
    assert prove("  \n ") is None


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a", (("a",),)),
        ("a b && c", (("a", "b"), ("c",))),
        ("a||b;c|d\ne", (("a",), ("b",), ("c",), ("d",), ("e",))),
        ("a 'b c'd\"e\"", (("a", "b cde"),)),
        ("a ''", (("a", ""),)),
        ("a 2>&1 >/dev/null", (("a",),)),
        ("a;", (("a",),)),
    ],
)
def test_words(text: str, commands: tuple[Command, ...]) -> None:
    assert prove(text) == commands


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("timeout 5 a b", "a b"),
        ("timeout 1.5m a", "a"),
        ("timeout a b", "timeout a b"),
        ("timeout -k 1 5 a", "timeout -k 1 5 a"),
        ("nice nohup a", "a"),
        ("time a", "a"),
        ("command -v a", "command -v a"),
        ("LANG=C TZ=x a", "a"),
        ("LANG=C LD_PRELOAD=x a", "LD_PRELOAD=x a"),
        ("LC_ALL=C timeout 5 a", "a"),
        ("env a", "env a"),
        ("timeout 5", "timeout 5"),
    ],
)
def test_an_allow_rule_looks_through_few_wrappers(command: str, inner: str) -> None:
    assert unwrapped(tuple(command.split())) == tuple(inner.split())
