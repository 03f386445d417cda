"""Which proven commands change nothing: every flag known, every path inside."""

import posixpath

import pytest

from detent.gate.shell.prover import prove
from detent.gate.shell.readonly import is_read_only

CWD, HOME = "/home/dev/app", "/home/dev"


def inside(path: str) -> bool:
    path = HOME + path[1:] if path == "~" or path.startswith("~/") else path
    place = posixpath.normpath(posixpath.join(CWD, path))
    return place == CWD or place.startswith(f"{CWD}/")


def reads_only(text: str) -> bool:
    script = prove(text)
    assert script is not None, text
    return is_read_only(script.commands[-1], inside, lambda path: path in ("d1", "d2"))


@pytest.mark.parametrize(
    "text",
    [
        "ls", "ls -la src", "ls *.py", "ls ~/app/x", "cat a b", "cat src/*.py", "echo $? \"$X\" *",
        "echo ~", "printf '%s\\n' \"$X\"", "pwd", "head -20 a", "tail -n +5 a", "wc -l src/*/*.py",
        "grep -rn 'x y' src", "grep -r /api/v1 src", "grep -e /api src",
        "grep --include=*.py x src", "grep -A 3 x f", "rg -n 'fn main' -g '*.rs'", "rg /etc src",
        "find . -name '*.py' -type f", "find . '(' -name a -o -name b ')'", "diff a b", "du -sh *",
        "sort -rn a", "uniq -c a", "uniq", "cut -d, -f1 a", "cut -d ' ' -f 2", "tr a-z A-Z",
        "true", "sleep 5", "uname -a", "whoami", "basename /etc/x", "realpath a", "which git",
        "stat -c %s a", "cd src", "cd ~/app/src", "cd -P src", "test -f a", "[ -n \"$X\" ]",
        "[ \"$X\" = a ]", "[ $? -eq 0 ]", "[ ! -d src ]", "[ -f a -a -n b ]", "[ 1 -lt -2 ]",
        "sed -n 1,5p a", "sed -n '/a/,/b/p' a", "sed -n '$p' a", "sed -n -e 1p -e '/^[A-Z]/p' a",
        "sed -nE '/a|b/p;5p' a", "git status --short", "git log --oneline -5",
        "git diff HEAD~1 -- src", "git show HEAD:src/a", "git log -S'a = 1'", "git branch",
        "git branch -a", "git branch --list 'x*'", "git branch --contains HEAD", "git remote -v",
        "git --no-pager log", "git blame -L 1,5 a", "git rev-parse HEAD", "cat -- a",
        "git ls-files", "git describe --tags",
    ],
)  # fmt: skip
def test_read_only(text: str) -> None:
    assert reads_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "rm a", "ls --unknown", "ls /", "ls ..", "ls ../*", "ls */../../x", "ls /etc/*",
        "cat /etc/hosts", "cat \"$X\"", "cat ~/x", "cat ~/*", "printf -v PATH x", "printf \"$X\"",
        "printf '%n' PATH", "head \"$X\"", "grep -f /etc/x a", "grep x /etc", "grep -e x /etc/a",
        "grep \"$X\" a", "rg --pre x y", "rg --files /etc", "rg x *", "rg -e a /etc",
        "find . -exec a ';'", "find . -delete", "find . -name *.py", "find /etc",
        "find . -fprint a", "diff d1 d2", "diff a *", "sort -o a b", "sort *", "sort --output=a b",
        "uniq a b", "uniq *", "cd", "cd -", "cd /etc", "cd ..", "cd a b", "cd \"$X\"", "cd *",
        "test -v 'a[$(b)]'", "[ -R a ]", "[ -f /etc/passwd ]", "[ -f \"$X\" ]",
        "[ \"$X\" 'a[b]' ]", "[ \"$X\" \"$Y\" ]", "[ -f * ]", "[ a -nt /etc/x ]", "sed 1p a",
        "sed -n 'w x' a", "sed -n 1e a", "sed -ni 1p a", "sed -i -n 1p a", "sed -n -f s a",
        "sed -n '1p;w x' a", "sed -n 1p /etc/x", "sed -n '/a/w x' a", "sed -n 's/a/b/p' a",
        "sed -n '/[/]/w x;p/p' a", "sed -n 1p *", "sed -n", "git push", "git branch x",
        "git branch -d x", "git branch -v x", "git branch -l x", "git branch -m x",
        "git remote add a b",
        "git remote show a", "git show --output=x HEAD", "git log --format=%GG", "git diff *",
        "git -C /etc status", "git -c a=b log", "git diff --no-index a /etc/x", "git",
        "git log --ext-diff", "git diff -O/etc/x", "\"$X\" a", "./ls", "/bin/ls", "ls -- /etc",
        "tail -F a", "awk 1 a", "cat -n \"$(ls)\"", "git grep -O x",
    ],
)  # fmt: skip
def test_not_read_only(text: str) -> None:
    assert not reads_only(text)


def test_a_quoted_tilde_is_a_name_like_any_other() -> None:
    assert reads_only("cat '~/x'")
    assert not reads_only("cat ~/x")
