"""What each permission mode lets run when no rule speaks."""

import os
from typing import Literal, get_args

from detent.gate.paths import is_inside, is_protected, is_secret, is_special
from detent.gate.readonly import is_read_only
from detent.gate.shell import Command, prove, suspects, unwrapped
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.errors import BadInput
from detent.types.verdicts import Allow, Ask, Deny, Verdict

Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
_FILE_COMMANDS = frozenset({"mkdir", "touch", "mv", "cp"})


def parse_mode(text: str) -> Mode:
    if text == "manual":
        return "default"
    for mode in get_args(Mode):
        if mode == text:
            return mode  # type: ignore[no-any-return]
    raise BadInput(f"unknown permission mode {text!r}; known: {', '.join(get_args(Mode))}")


class Workspace:
    """The folders a session works in."""

    def __init__(self, cwd: str, roots: tuple[str, ...], home: str) -> None:
        self.cwd = cwd
        self.roots = roots
        self.home = home

    def holds(self, path: str) -> bool:
        return is_inside(os.path.join(self.cwd, os.path.expanduser(path)), self.roots)

    def reads_freely(self, path: str) -> bool:
        full = os.path.join(self.cwd, path)
        return self.holds(full) and not is_secret(full) and not is_special(full)


def is_harmless(effects: tuple[Effect, ...], workspace: Workspace) -> bool:
    return all(_touches_nothing(effect, workspace) for effect in effects)


def _touches_nothing(effect: Effect, workspace: Workspace) -> bool:
    match effect:
        case Reads(path=path):
            return workspace.reads_freely(path)
        case Runs(command=text):
            proven = prove(text)
            return proven is not None and all(
                is_read_only(unwrapped(command), workspace.reads_freely) for command in proven
            )
        case _:
            return False


def default_verdict(effect: Effect, mode: Mode, workspace: Workspace) -> Verdict:
    """The verdict on one effect; the verdict on a call is the strictest of its effects."""
    source = f"mode {mode}"
    if mode == "bypassPermissions" or _touches_nothing(effect, workspace):
        return Allow(source)
    match effect:
        case Reads(path=path):
            why = "it holds secrets" if is_secret(path) else "it is outside the workspace"
            verdict: Verdict = Ask(source, f"Reading {path} needs permission: {why}.")
        case Writes(path=path):
            verdict = _on_write(path, mode, workspace)
        case Runs(command=text):
            verdict = _on_command(text, mode, workspace)
        case Connects():
            verdict = Ask(source, "This tool may reach outside the workspace.")
        case Spawns(agent=agent):
            verdict = Ask(source, f"Starting the agent {agent} needs permission.")
        case Asks():
            verdict = Ask(source, "This needs your answer.")
    if isinstance(verdict, Ask) and mode == "dontAsk":
        return Deny(source, verdict.reason)
    return verdict


def _on_write(path: str, mode: Mode, workspace: Workspace) -> Verdict:
    source = f"mode {mode}"
    if mode == "plan":
        return Deny(source, "In plan mode nothing is written; present the plan instead.")
    if mode == "acceptEdits" and workspace.holds(path) and not is_protected(path):
        return Allow(source)
    return Ask(
        source, f"Writing {path} needs permission.", (f"Edit({_rule_path(path, workspace)})",)
    )


def _on_command(text: str, mode: Mode, workspace: Workspace) -> Verdict:
    source = f"mode {mode}"
    proven = prove(text)
    if mode == "acceptEdits" and proven and all(_moves_files(c, workspace) for c in proven):
        return Allow(source)
    return Ask(source, "Running this command needs permission.", narrow_rules(text))


def _moves_files(command: Command, workspace: Workspace) -> bool:
    if is_read_only(command, workspace.reads_freely):
        return True
    paths = [word for word in command[1:] if not word.startswith("-")]
    return command[0] in _FILE_COMMANDS and all(
        workspace.holds(path) and not is_protected(path) for path in paths
    )


def narrow_rules(text: str) -> tuple[str, ...]:
    """Rules that would permit a command, the narrowest first; none when it is not provable."""
    proven = prove(text)
    if proven is None or len(proven) != 1:
        return ()
    words = unwrapped(proven[0])
    exact = f"Bash({' '.join(words)})"
    return (exact, f"Bash({' '.join(words[:2])}:*)") if len(words) > 2 else (exact,)


def removes_too_much(effects: tuple[Effect, ...], workspace: Workspace) -> bool:
    """Deleting the root, the home folder or the workspace asks in every mode."""
    return any(
        command[0] in ("rm", "rmdir") and any(_is_critical(w, workspace) for w in command[1:])
        for effect in effects
        if isinstance(effect, Runs)
        for command in suspects(effect.command)
    )


def _is_critical(word: str, workspace: Workspace) -> bool:
    if word.startswith("-"):
        return False
    bare = word.removesuffix("/*").rstrip("/")
    if bare in ("", "~", "$HOME", "*", ".", "..") or (word.startswith("$") and "/" in word[-2:]):
        return True
    full = os.path.normpath(os.path.join(workspace.cwd, os.path.expanduser(bare)))
    return (
        full.count("/") <= 1
        or full == workspace.home
        or (workspace.cwd + "/").startswith(full.rstrip("/") + "/")
    )


def _rule_path(path: str, workspace: Workspace) -> str:
    inside = path.startswith(workspace.cwd + "/")
    return path[len(workspace.cwd) :] if inside else f"/{path}"
