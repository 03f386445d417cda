"""What is proven, with which words, and what never is. Bash judges the same in tests/fuzz."""

import pytest

from detent.gate.shell.prover import LONGEST, prove
from detent.gate.shell.script import Redirection, Simple, Word

HERE = 'git commit -m "$(cat <<\'EOF\'\nIt\'s `x`, $(y) and "z"\nEOF\n)"'


def argvs(text: str) -> list[tuple[str, ...]]:
    script = prove(text)
    assert script is not None, text
    return [tuple(word.text for word in simple.words) for simple in script.commands]


def only(text: str) -> Simple:
    script = prove(text)
    assert script is not None and len(script.commands) == 1, text
    return script.commands[0]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a", "a"),
        ("a b && c", "a b|c"),
        ("a||b;c|d\ne|&f&g", "a|b|c|d|e|f|g"),
        ("a &", "a"),
        ("a;", "a"),
        ("! a b", "a b"),
        ("time a b | c", "time a b|c"),
        ("time -p a", "time -p a"),
        ("\n\n# note: don't\na # b\n", "a"),
        ("a \\\n  b", "a b"),
        ("a#b #c", "a#b"),
        ("{ a; b; }", "a|b"),
        ("(a; b) && c", "a|b|c"),
        ("if a; then b; elif c; then d; else e; fi", "a|b|c|d|e"),
        ("if a\nthen\n b\nfi", "a|b"),
        ("while a; do b; done; until c; do d; done", "a|b|c|d"),
        ("for x in 1 2; do a; done", "a"),
        ("for x in *.py\ndo a\ndone", "a"),
        ("case a in a|b) c;; (d) e ;& *) f ; esac", "c|e|f"),
        ("case a in a) ;; esac; b", "b"),
        ("f() { a; }; f x", "a|f x"),
        ("function f { a; }\nf", "a|f"),
        ("a {} a{b} {", "a {} a{b} {"),
        ("[ -f x ]", "[ -f x ]"),
        ("a HEAD~1 a! ! ] }", "a HEAD~1 a! ! ] }"),
        ("a 2>&1 >/dev/null 2>/dev/null >&2 </dev/null 3>&-", "a"),
        ("set -euo pipefail; a", "set -euo pipefail|a"),
    ],
)
def test_commands(text: str, commands: str) -> None:
    assert argvs(text) == [tuple(command.split()) for command in commands.split("|")]


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ("'b c'd\"e\"", "b cde"),
        ("''", ""),
        (r"a\ b\;c", "a b;c"),
        (r'"a\"b\$c\\d\e"', 'a"b$c\\d\\e'),
        ("'$X `c`'", "$X `c`"),
        ("$'a\\tb\\'c'", "a\tb'c"),
        ('"été"', "été"),
        ('"a$ b$"', "a$ b$"),
        ('"a \\\nb"', "a b"),
        ("'a\nb'", "a\nb"),
        ("'*'\\?", "*?"),
        ("'~'", "~"),
    ],
)
def test_literal_words(raw: str, word: str) -> None:
    assert only(f"a {raw}").words[1] == Word(word)


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ('"$X"', Word("$X", is_literal=False)),
        ('"a ${X}b"', Word("a ${X}b", is_literal=False)),
        ("$?", Word("$?", is_literal=False)),
        ("$#", Word("$#", is_literal=False)),
        ("src/*.py", Word("src/*.py", is_literal=False, has_glob=True)),
        ("a?[bc]", Word("a?[bc]", is_literal=False, has_glob=True)),
        ("~", Word("~", is_literal=False, at_home=True)),
        ("~/x", Word("~/x", is_literal=False, at_home=True)),
        ("~/*", Word("~/*", is_literal=False, has_glob=True, at_home=True)),
    ],
)
def test_words_that_the_shell_fills_in(raw: str, word: Word) -> None:
    assert only(f"a {raw}").words[1] == word


def test_what_a_substitution_runs_is_part_of_the_script() -> None:
    assert argvs('a "$(b "$(c d)" | e)"')[:3] == [("c", "d"), ("b", "$(c d)"), ("e",)]


def test_the_usual_commit_message() -> None:
    script = prove(HERE)
    assert script is not None
    assert [tuple(w.text for w in simple.words)[:3] for simple in script.commands] == [
        ("cat",),
        ("git", "commit", "-m"),
    ]
    assert not script.commands[1].words[3].is_literal


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a <<'E'\n$(b) `c`\nE\nd", "a|d"),
        ("a <<E\n$X ${X} $(b c) \\$(d)\nE\n", "a|b c"),
        ("a <<-E | b\n\tx\n\tE\nc", "a|b|c"),
        ("a <<E <<'F' && b\nx\nE\n$(y)\nF\nc", "a|b|c"),
        ("a <<< 'b c'", "a"),
    ],
)
def test_here_documents(text: str, commands: str) -> None:
    assert argvs(text) == [tuple(command.split()) for command in commands.split("|")]


def test_assignments_stand_apart() -> None:
    simple = only("A=1 B='x y' c D=2")
    assert [word.text for word in simple.assignments] == ["A=1", "B=x y"]
    assert [word.text for word in simple.words] == ["c", "D=2"]
    assert only("A=1").words == ()


@pytest.mark.parametrize(
    ("text", "writes", "target"),
    [
        ("a > f", True, "f"),
        ("a >>f b", True, "f"),
        ("a >| f", True, "f"),
        ("a &> f", True, "f"),
        ("a &>> f", True, "f"),
        ("a >& f", True, "f"),
        ("a 2>'f g'", True, "f g"),
        ("a <> f", True, "f"),
        ("a < f", False, "f"),
        ("> f", True, "f"),
        ("a > /dev/tcp/h/1", True, "/dev/tcp/h/1"),
        ("a > /dev/nullx", True, "/dev/nullx"),
    ],
)
def test_redirections(text: str, writes: bool, target: str) -> None:
    assert only(text).redirections == (Redirection(writes, Word(target)),)


def test_redirections_of_a_group_are_opened_before_it_runs() -> None:
    script = prove("a; { cd b; c; } > f")
    assert script is not None
    assert [bool(simple.redirections) for simple in script.commands] == [False, True, False, False]
    assert script.commands[1].words == ()


@pytest.mark.parametrize(
    "text",
    [
        "", "  \n ", "# only a comment", "a $X", "a ${X}", "a $IFS b", "a $(b)", "a `b`",
        'a "`b`"', 'a "${X:-b}"', 'a "${!X}"', 'a "${X@P}"', 'a "${#X}"', 'a "$((1))"', "a $((1))",
        'a "$[1]"', 'a "$@"', 'a "$*"', 'a "$$"', 'a $"b"', "a <(b)", "a >(b)", "a {b,c}",
        "a {1..3}", "a x{b,}", "a 'b", 'a "b', "a \\", "a &&", "a |", "a ; ; b", "a ;; b", "& a",
        "; a", "| a", "a && ; b", "(a", "a)", "{ a; ", "{ a }", "{a; }", "if a; then b", "fi",
        "then a", "do a", "(( a ))", "[[ -f a ]]", "coproc a", "select x in a; do b; done",
        "for ((;;)); do a; done", "x=(a b)", "for PATH in /tmp; do a; done",
        "for http_proxy in x; do a; done", "a[0]=1", "a[0]=1 b", "'A'=1 b", "A'='1 b", "A=$X b",
        "A=$(b)", "a ~root", "a A=~", "a X:~", "~+/a", "%1", "a\rb", "a \x00", "a \x1b",
        "a 'b\u200b'", "a '\u202e'", "a '\u2066x'", "gіt status", "a гит", "é", "a\u00a0b",
        "alias a=b", "shopt -s extglob", "command alias a=b", "set -k", "set -o posix",
        "enable -n a", "a @(b)", "!(a)", "f() a", "if() { a; }", "a <<E\nb", "a <<E\n`b`\nE",
        "a <<E\n${X:-$(b)}\nE", "a <<$X\nE", "a \"$(b <<'E'\nx\nEOF\nE)\nE\n)\"",
        "a <<E 'b\nc'\nE", "a <<E \\\nb\nE", "a 2>&1x", "a >&1x", "{fd}>f a", "a {fd}>f",
        "999999>f a", "a > f1>g 1>", "!", "a | ! b", "time", "time A=1 a", "a | time b", "a\\\nb",
        "time -x a", "case a in a) b;; c", 'a "$X\\\nY"', "a &&& b", "a <<< $X", "a > $X",
        "a > $(b)", "if a; then; fi", "A=1 if a", '"$(a)b"c "${x}', "a\n)", "a $'\\x41'", "a \\é",
        "'gіt' a", "a 'x\u3164'", "a 'x\ufe0f'", "echo \"$(a <<E\nx\nE)\"",
    ],
)  # fmt: skip
def test_never_proven(text: str) -> None:
    assert prove(text) is None


def test_the_length_is_bounded() -> None:
    assert prove("a " + "b" * (LONGEST - 2)) is not None
    assert prove("a " + "b" * (LONGEST - 1)) is None


@pytest.mark.parametrize("opening", ["(", "{ ", "if a; then ", 'a "$('])
def test_deep_nesting_is_not_proven_and_does_no_harm(opening: str) -> None:
    assert prove(opening * 800) is None


def test_splitting_by_another_variable_is_not_trusted() -> None:
    assert prove("echo $?") is not None
    assert prove("IFS=0; echo $?") is None
