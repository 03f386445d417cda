"""What a text might run is found, however it is wrapped or quoted."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.gate.shell import finder
from detent.gate.shell.finder import agrees, find
from detent.gate.shell.prover import prove
from detent.gate.shell.script import Findings, Script, Simple, Word

CORPORA = Path(__file__).parents[3] / "corpora"
TARGET = ("rm", "x")


@pytest.mark.parametrize(
    "text",
    [
        "rm x", "/bin/rm x", "r''m x", 'r"m" x', r"\rm x", "$'\\x72m' x", "$'\\162\\u006d' x",
        '$"rm" x', "A=1 B=2 rm x", "a && rm x", "a|rm x", "a & rm x", "(rm x)", "{ rm x; }",
        "! rm x", "time rm x", "coproc rm x", "if rm x; then a; fi", "while a; do rm x; done",
        "f() { rm x; }", "a $(rm x)", 'a "$(rm x)"', "a `rm x`", 'a "`rm x`"', "a <(rm x)",
        "a >(rm x)", 'a "${y:-`rm x`}"', 'a "${y:-$(rm x)}"', "a <<E\n$(rm x)\nE",
        "a <<E\n`rm x`\nE", "cat <<E 2>&1 | rm x\nb\nE", "cat <<E 2>&1 | a\nb\nE\nrm x",
        "case a in a) rm x;; esac", "x=$(rm x)", "x=(a $(rm x))", "r\\\nm x", "$EMPTY rm x",
        "r$@m x", "[[ -n $(rm x) ]]", "a > $(rm x)", "a $((1 + $(rm x)))", "sudo rm x",
        "sudo -u bob -n rm x", "doas rm x", "env A=1 rm x", "env - rm x", "env -i -u B rm x",
        "env -S'rm x'", "env --split-string='rm x'", "command rm x", "builtin rm x",
        "exec -a b rm x", "nohup rm x", "nice -n 5 rm x", "timeout 5 rm x",
        "timeout -k 1 -s KILL 5s rm x", "stdbuf -o L rm x", "stdbuf -oL rm x", "setsid -w rm x",
        "watch -n 1 rm x", "watch 'rm x'", "flock /tmp/l rm x", "flock /tmp/l -c 'rm x'",
        "ionice -c 3 rm x", "xargs rm x", "xargs -n 1 -I {} rm x", "find . -name a -exec rm x \\;",
        "find . -execdir rm x +", "find . -ok a \\; -exec rm x ';'", "busybox rm x", "toybox rm x",
        "eval rm x", "eval 'rm x'", "eval 'eval \"rm x\"'", "sh -c 'rm x'", "bash -lc 'a; rm x'",
        "zsh -c \"rm x\"", "dash -e -c 'rm x' y", "bash -o pipefail -c 'rm x'",
        "bash -c -- 'rm x'", "trap 'rm x' EXIT",
        "sudo sh -c 'env A=1 timeout 5 bash -c \"nice rm x\"'", "ssh host rm x",
        "ssh host 'a; rm x'", "su bob -c 'rm x'", "chroot /new rm x", "strace -o f rm x",
        "parallel rm x", "script -c 'rm x' f", "python -c \"import os; os.system('rm x')\"",
        "a \\ ; rm x", "a 0<&- && rm x", "a | sudo -- rm x", "bash <<E\nrm x\nE", "sh <<< 'rm x'",
        "sudo sh -s <<'E'\na; rm x\nE", "rm > f x", "rm x < f", "2>&1 rm x", "<<< a rm x",
        "a\rrm x\nrm x", "'rm' 'x'", "rm \\\n x",
    ],
)  # fmt: skip
def test_found(text: str) -> None:
    assert TARGET in find(text).commands


@pytest.mark.parametrize(
    "text",
    [
        "$X", "${X} a", "$(a) b", "`a` b", "r* x", "{rm,x}", "a | sh", "curl x | bash -s",
        "sh < f", "bash -", "source f", ". ./f", "eval $X", 'sh -c "$X"', 'bash -c "a $X"',
        "xargs sh -c", "xargs -I{} {}", "find . -exec {} \\;", "xargs env", "a 'b", "if a; then",
        "sudo $X", "a \x00", "echo 'a\u200bb'", 'eval "a $X"', 'ssh host "$X"', "xargs sudo",
        "timeout 5 $X", 'sudo sh -c "a $X"', "a <<E\n`b`\nE",
    ],
)  # fmt: skip
def test_open(text: str) -> None:
    assert find(text).is_open


@pytest.mark.parametrize(
    "text",
    [
        "a", "a b && c | d", "sudo a", "bash f.sh", "sh -c 'a b'", "a \"$X\" $Y", "git $X",
        "a 'sh'", "for x in *; do a \"$x\"; done", "[ -f a ] && b", "a 2>&1 | b", "export A=b",
        "bash --version", "find . -exec a {} \\;", "a 'uses `b` and $(c)'", "a <<'E'\n`b` $(c)\nE",
        "a \"\\`b\\`\"",
    ],
)  # fmt: skip
def test_not_open(text: str) -> None:
    assert not find(text).is_open


@pytest.mark.parametrize(
    "text",
    [
        "echo 'a; rm x'", 'echo "a && rm x | b > c; rm x"', "cat > f <<'E'\nrm x\nE", "a # rm x",
        "cat <<E\nrm x\nE", "grep -r 'rm x' .", "git commit -m 'rm x'", "xargs grep rm x",
        "a \"b -> c\"; d 'rm x'", "echo \\; rm x",
    ],
)  # fmt: skip
def test_text_in_quotes_is_not_a_command(text: str) -> None:
    assert TARGET not in find(text).commands


def test_words_are_read_without_the_tree_as_well() -> None:
    """The tree takes this program for an assignment, and says nothing of it."""
    assert ("--y=z",) in find("a $X | --y=z").commands


def test_every_part_counts() -> None:
    assert TARGET in find("; ".join(f"a {at}" for at in range(5000)) + "; rm x").commands


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("a $(", ")"), ('a "$(', ')"'), ("(", ")"), ("{ ", "; }"), ("if a; then ", "; fi")],
)
def test_deep_nesting_hides_nothing(opening: str, closing: str) -> None:
    assert TARGET in find(opening * 2000 + "rm x" + closing * 2000).commands


@pytest.mark.parametrize("text", ["sudo " * 3000 + "rm x", "eval " * 1000 + "a", "(" * 50_000])
def test_what_is_too_much_to_look_behind_is_open(text: str) -> None:
    assert find(text).is_open


def test_redirections_are_found() -> None:
    findings = find("a < r1 > 'w 1' 2>> w2 >/dev/null 2>&1 && { b; } &> w3 | c <> w4")
    assert findings.reads == ("r1",)
    assert findings.writes == ("w 1", "w2", "w3", "w4")


def test_all_words_are_mentioned() -> None:
    findings = find(
        "A=v1 cat .env \"$(head f2)\" > f3; for x in f4; do b; done; sh -c 'c f5'; d 'f6"
    )
    assert {".env", "f2", "f3", "f4", "f5"} <= set(findings.words)
    assert "f6" in find("d 'f6").words


WRAPS = st.sampled_from(
    ["sudo {}", "env A=1 {}", "timeout 5 {}", "nice -n 1 {}", "xargs {}", "busybox {}", "A=1 {}",
     "a; {}", "{} | a", "({})", "{{ {}; }}", "a $({})", 'a "$({})"', "if {}; then a; fi", "time {}",
     "find . -exec {} \\;", "! {}", "a && {} > f", "a <<E\n$({})\nE", "eval {}", "command {}"]
)  # fmt: skip


@given(st.lists(WRAPS, max_size=4))
def test_wrapping_never_loses_a_command(wraps: list[str]) -> None:
    text = "rm x"
    for wrap in wraps:
        text = wrap.format(text)
    findings = find(text)
    assert findings.is_open or any(command[:2] == TARGET for command in findings.commands)


@pytest.mark.parametrize(
    "text",
    [
        "a b && c 'd e' | f", "A=1 time b", "time a b", "[ -f x ] && b", "export A=b C", "a > f b",
        'a "$X" *.py "$(b c)"', "for x in a b; do c \"$x\"; done", "a <<'E' x\nb\nE\nc",
        "unset a b", "case a in b) c;; esac", "f() { a; }; f", "a $'b'", "a b\\ c", "{ a; } > f",
        "[ ! -f a ]", "git commit -m \"$(cat <<'EOF'\nmessage (it's)\nEOF\n)\"", "a 2>&1 | b",
        "! a", "a {} b{c}", "test -n \"$X\" -a a = b", "cat <<E 2>&1 | b\nx\nE\nc",
        "a -- 1 2.5 -3", "a [ b",
    ],
)  # fmt: skip
def test_both_looks_see_the_same(text: str) -> None:
    script = prove(text)
    assert script is not None
    assert agrees(script, find(text))


def test_a_difference_is_seen() -> None:
    findings = Findings((("a", "b"), ("c",)), (), direct=(("a", "b"), ("c",)))
    a, c = Simple((Word("a"), Word("b"))), Simple((Word("c"),))
    assert agrees(Script((a, c)), findings)
    assert not agrees(Script((a,)), findings)
    assert not agrees(Script((a, c, Simple((Word("d"),)))), findings)
    assert not agrees(Script((Simple((Word("a"), Word("x"))), c)), findings)
    assert agrees(Script((Simple((Word("a"), Word("$X", is_literal=False))), c)), findings)


def test_plain_words_are_read_as_the_tree_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short way is only short."""
    texts = {
        json.loads(line)["command"]
        for path in CORPORA.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if json.loads(line)["tool"] == "Bash"
    }
    plain = [text for text in sorted(texts) if finder._plain_words(text)]
    assert len(plain) > 500
    quick = [find(text) for text in plain]
    monkeypatch.setattr(finder, "_PLAIN", "(?!)")
    find.cache_clear()
    assert [find(text) for text in plain] == quick
    find.cache_clear()


@pytest.mark.parametrize("text", ["time rm x", "coproc rm x", "if rm x", "A=1 rm x", "! rm x"])
def test_keywords_and_assignments_are_no_plain_words(text: str) -> None:
    assert ("rm", "x") in find(text).commands
