"""How long a decision takes: ``python bench/decisions.py`` with the project installed.

Every command of the corpora is judged under a policy of 30 rules, in a process that has judged
others before. *New* is a text seen for the first time, *again* one that was judged already.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from detent.gate.judging import decide
from detent.gate.rules import parse_rule
from detent.gate.terms import Policy, RuleSet, Workspace
from detent.ports import Proposal
from detent.tools.registry import canonical_name
from detent.types.content import Call
from detent.types.effects import Runs

CORPORA = Path(__file__).resolve().parents[1] / "tests" / "corpora"
ALLOW = (
    "Bash(git add:*)", "Bash(git commit:*)", "Bash(npm run:*)", "Bash(npm test:*)", "Bash(make:*)",
    "Bash(pytest:*)", "Bash(python -m pytest:*)", "Bash(ruff:*)", "Bash(mypy:*)", "Bash(cargo:*)",
    "Bash(go test:*)", "Bash(go build:*)", "Bash(docker ps:*)", "Read(~/notes/**)",
    "Edit(src/**)", "Edit(docs/**)", "Edit(tests/**)", "WebFetch(domain:docs.python.org)",
    "Bash(npx tsc:*)", "Bash(uv run:*)",
)  # fmt: skip
ASK = ("Bash(git push:*)", "Bash(npm publish:*)", "Edit(migrations/**)")
DENY = (
    "Read(.env)", "Read(./secrets/**)", "Bash(docker push:*)", "Bash(rm -rf:*)", "Bash(sudo:*)",
    "Edit(/LICENSE)", "WebFetch(domain:evil.test)",
)  # fmt: skip
LIMIT_MS = 2.0


def texts() -> list[str]:
    found: dict[str, None] = {}
    for path in sorted(CORPORA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if case["tool"] == "Bash":
                found[case["command"]] = None
    return list(found)


def policy(folder: str) -> Policy:
    def parsed(rules: tuple[str, ...]) -> tuple:  # type: ignore[type-arg]
        return tuple(parse_rule(text, canonical_name) for text in rules)

    rules = RuleSet(parsed(ALLOW), parsed(ASK), parsed(DENY))
    return Policy(rules, "default", Workspace(folder, (folder,), folder))


def timed(policy: Policy, text: str) -> float:
    proposal = Proposal(Call("c", "Bash", ""), "Bash", {"command": text}, (Runs(text),))
    begun = time.thread_time()
    decide(policy, proposal)
    return (time.thread_time() - begun) * 1000


def row(name: str, times: list[float]) -> str:
    times = sorted(times)
    at = [times[round((len(times) - 1) * share)] for share in (0.5, 0.95, 0.99, 1)]
    return f"| {name} | {len(times)} | " + " | ".join(f"{value:.2f}" for value in at) + " |"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        terms = policy(folder)
        cold = timed(terms, "echo hello && make all > log.txt")
        for warming in ("ls -la | head", "git status", "make $(x)", "cd src && pytest -q"):
            timed(terms, warming)
        commands = texts()
        new = [timed(terms, text) for text in commands]
        again = [timed(terms, text) for text in commands]
    print("| decision | commands | median ms | 95 % | 99 % | longest |")
    print("|---|---|---|---|---|---|")
    print(row("new", new))
    print(row("again", again))
    print(f"\nThe first of a process, with all that it loads: {cold:.1f} ms.")
    return 0 if sorted(new)[round((len(new) - 1) * 0.99)] <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
