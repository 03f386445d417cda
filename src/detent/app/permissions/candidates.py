"""Rules that might be meant by whoever permits a call, the narrowest first."""

import os
import re
from collections.abc import Iterator

from detent.gate.commands import look
from detent.gate.rules import parse_rule
from detent.gate.shell.programs import INTERPRETERS, RUNNERS, SHELLS
from detent.gate.shell.script import Word
from detent.gate.terms import Origin, Rule, Workspace
from detent.ports import Proposal
from detent.tools.registry import canonical_name
from detent.types.effects import Connects, Reads, Runs, Writes
from detent.types.errors import BadInput

RUN_ANYTHING = RUNNERS | SHELLS | INTERPRETERS | frozenset(
    {"at", "crontab", "docker", "ed", "emacs", "find", "irb", "java", "kubectl", "less", "make",
     "man", "more", "mysql", "nvim", "podman", "psql", "sqlite3", "tar", "tmux", "uv", "vi", "vim",
     "zip"}
)  # fmt: skip
"""Whoever permits such a program with any argument permits everything."""
MANY_TRADES = RUN_ANYTHING | frozenset(
    {"aws", "az", "brew", "apt", "apt-get", "bundle", "cargo", "composer", "curl", "dnf", "gcloud",
     "gem", "gh", "git", "go", "gradle", "helm", "mvn", "npm", "pip", "pip3", "pnpm", "poetry",
     "rm", "rmdir", "rsync", "scp", "terraform", "wget", "yarn", "dd", "chmod", "chown", "mv", "cp",
     "kill", "pkill", "killall", "systemctl", "tee", "sed"}
)  # fmt: skip
"""Programs whose first argument decides what they are about, or that can do much harm."""


def candidates(
    proposal: Proposal, workspace: Workspace, first: tuple[str, ...] = ()
) -> Iterator[tuple[str, Rule]]:
    for text in dict.fromkeys((*first, *_texts(proposal, workspace))):
        try:
            origin = Origin("session", folder=workspace.project)
            yield text, parse_rule(text, canonical_name, origin)
        except BadInput:  # a name with a parenthesis or the like: no rule can say it
            continue


def _texts(proposal: Proposal, workspace: Workspace) -> Iterator[str]:
    effects = proposal.effects
    commands = [effect.command for effect in effects if isinstance(effect, Runs)]
    if commands:
        yield from _for_command(commands[0])
        return
    hosts = [effect.host for effect in effects if isinstance(effect, Connects)]
    if hosts and hosts[0] != "*" and proposal.tool == "WebFetch":
        yield f"WebFetch(domain:{hosts[0]})"
        return
    writes = [effect.path for effect in effects if isinstance(effect, Writes)]
    reads = [effect.path for effect in effects if isinstance(effect, Reads)]
    for kind, paths in (("Edit", writes), ("Read", reads)):
        if paths:
            yield from _for_path(kind, paths[0], workspace)
            return
    yield proposal.tool
    if proposal.tool.startswith("mcp__"):
        yield proposal.tool.rsplit("__", 1)[0]


def _for_command(text: str) -> Iterator[str]:
    """Of one simple command. A word that would have to be quoted is better not made a rule of."""
    script = look(text).script
    if script is None or len(script.commands) != 1:
        return
    words = [word.text if _is_plain(word) else "" for word in script.commands[0].words]
    if words and all(words):
        yield f"Bash({' '.join(words)})"
    if len(words) > 2 and all(words[:2]) and _is_narrow(words[0], words[1]):
        yield f"Bash({words[0]} {words[1]}:*)"
    if words and words[0].isidentifier() and words[0] not in MANY_TRADES:
        yield f"Bash({words[0]}:*)"


def _is_plain(word: Word) -> bool:
    return word.is_literal and re.fullmatch(r"[\w.,:/=@%+-]+", word.text) is not None


def _is_narrow(program: str, first: str) -> bool:
    return program not in RUN_ANYTHING and not first.startswith("-")


def _for_path(kind: str, path: str, workspace: Workspace) -> Iterator[str]:
    full = os.path.normpath(workspace.full(path))
    if any(char in full for char in "*?[]()!\\"):
        return
    for name, end in ((full, ""), (os.path.dirname(full), "/**")):
        if name.startswith(f"{workspace.project}/"):
            yield f"{kind}(/{os.path.relpath(name, workspace.project)}{end})"
        elif name.startswith(f"{workspace.home}/"):
            yield f"{kind}(~/{os.path.relpath(name, workspace.home)}{end})"
        elif name not in ("/", workspace.home, workspace.project):
            yield f"{kind}(/{name}{end})"
