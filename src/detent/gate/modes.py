"""What each permission mode lets run when no rule speaks."""

import os
import re

from detent.gate.paths import is_inside, is_protected, is_secret, is_special, spellings
from detent.gate.shell.prover import Command, prove, unwrapped
from detent.gate.shell.readonly import is_read_only
from detent.gate.shell.suspects import folders, runs_its_arguments, suspects, written
from detent.gate.terms import QUESTION, Mode, Workspace
from detent.types.effects import Asks, Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.verdicts import Allow, Ask, Deny, Verdict

PLANNING = "In plan mode nothing is written; present the plan instead."
_FILE_COMMANDS = {"mkdir": "pv", "touch": "acm", "mv": "finv", "cp": "rRafinpv"}
"""With the flags that neither link nor name a further path."""

_ONLY_VARIABLES = r"\$\w+[/.*]*/[/.*]*(?:\$\w+[/.*]*)*"


def finds_harmless(workspace: Workspace, command: Command) -> bool:
    return is_read_only(unwrapped(command), workspace.reads_freely, workspace.is_folder)


def is_harmless(effects: tuple[Effect, ...], workspace: Workspace) -> bool:
    return all(_touches_nothing(effect, workspace) for effect in effects)


def _touches_nothing(effect: Effect, workspace: Workspace) -> bool:
    match effect:
        case Reads(path=path):
            return workspace.reads_freely(path)
        case Runs(command=text):
            proven = prove(text)
            return proven is not None and all(finds_harmless(workspace, each) for each in proven)
        case _:
            return False


def default_verdict(effect: Effect, mode: Mode, workspace: Workspace) -> Verdict:
    """The verdict on one effect; the verdict on a call is the strictest of its effects."""
    source = f"mode {mode}"
    if isinstance(effect, Asks):
        return _on_question(effect, mode)
    if mode == "bypassPermissions" or _touches_nothing(effect, workspace):
        return Allow(source)
    match effect:
        case Reads(path=path):
            verdict: Verdict = Ask(source, f"Reading {path} needs permission: {_why(path)}.")
        case Writes(path=path):
            verdict = _on_write(path, mode, workspace)
        case Runs(command=text):
            verdict = _on_command(text, mode, workspace)
        case Connects(host="*"):
            verdict = Ask(source, "This tool may reach outside the workspace.")
        case Connects(host=host):
            verdict = Ask(source, f"Reaching {host} needs permission.")
        case Spawns(agent=agent):
            verdict = Ask(source, f"Starting the agent {agent} needs permission.")
    if isinstance(verdict, Ask) and mode == "dontAsk":
        return Deny(source, verdict.reason)
    return verdict


def _why(path: str) -> str:
    if is_secret(path):
        return "it holds secrets"
    return "it is no plain file" if is_special(path) else f"it is outside the workspace{_led(path)}"


def _led(path: str) -> str:
    """A name that is a link does not say where it leads."""
    *_, real = spellings(path)
    return "" if real == os.path.normpath(path) else f" (it leads to {real})"


def _on_question(effect: Asks, mode: Mode) -> Verdict:
    """No mode answers for the person."""
    if effect.leaves and effect.leaves != mode:
        return Deny(f"mode {mode}", f"You are not in {effect.leaves} mode: go on with the task.")
    reason = "This needs the user's answer."
    if effect.leaves:
        reason = f"Leaving {effect.leaves} mode needs the user's consent."
    return Deny(QUESTION, reason) if mode == "dontAsk" else Ask(QUESTION, reason)


def _on_write(path: str, mode: Mode, workspace: Workspace) -> Verdict:
    source = f"mode {mode}"
    if mode == "plan":
        return Deny(source, PLANNING)
    if mode == "acceptEdits" and workspace.holds(path) and not is_protected(path):
        return Allow(source)
    if is_protected(path):
        return Ask(source, f"{path} decides what runs later: no rule permits writing it silently.")
    reason = f"Writing {path}{_led(path)} needs permission."
    return Ask(source, reason, _edit_rules(path, workspace))


def _on_command(text: str, mode: Mode, workspace: Workspace) -> Verdict:
    source = f"mode {mode}"
    if mode == "plan" and written(text):
        return Deny(source, PLANNING)
    proven = prove(text)
    if mode == "acceptEdits" and proven and _only_moves_files(proven, workspace):
        return Allow(source)
    reason = "Running this command needs permission."
    if proven is None:
        reason += " Parts of it (expansions, globs, redirections) are not understood."
    return Ask(source, reason, narrow_rules(text))


def _only_moves_files(commands: tuple[Command, ...], workspace: Workspace) -> bool:
    """A name that an earlier command made may be a link, so later ones may not go through it."""
    made: list[str] = []
    for command in commands:
        words = [workspace.full(word) for word in command[1:] if not word.startswith("-")]
        if any(is_inside(word, made) for word in words):
            return False
        if not finds_harmless(workspace, command) and not _moves_files(command, workspace):
            return False
        if command[0] in ("mv", "cp"):
            made += map(os.path.realpath, words)
    return True


def _moves_files(command: Command, workspace: Workspace) -> bool:
    flags = [word for word in command[1:] if word.startswith("-")]
    paths = [word for word in command[1:] if not word.startswith("-")]
    known = _FILE_COMMANDS.get(command[0])
    if known is None or not all(set(flag[1:]) <= set(known) for flag in flags):
        return False
    if any(os.path.basename(path) in (".", "..") for path in paths[:-1]):
        return False  # the content of a folder, whatever that is, lands beside our own files
    return all(_may_change(workspace.full(path), workspace) for path in paths)


def _may_change(path: str, workspace: Workspace) -> bool:
    return workspace.holds(path) and not is_protected(path) and not is_secret(path)


def narrow_rules(text: str) -> tuple[str, ...]:
    """Rules that would permit a command, the narrowest first; none that permits more than it
    seems to: what runs other programs is offered as it is, a `*` in a word would match anything.
    """
    proven = prove(text)
    if proven is None or len(proven) != 1:
        return ()
    words = unwrapped(proven[0])
    if any("*" in word or "'" in word for word in words):
        return ()
    exact = f"Bash({' '.join(map(_quoted, words))})"
    plain = len(words) > 2 and words[1][:1] not in ("-", "") and _quoted(words[1]) == words[1]
    if not plain or runs_its_arguments(words):
        return (exact,)
    return (exact, f"Bash({words[0]} {words[1]}:*)")


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./=:,@%+^-]+", word, re.ASCII) else f"'{word}'"


def removes_too_much(effects: tuple[Effect, ...], workspace: Workspace) -> bool:
    """Deleting the root, the home folder or the workspace asks in every mode."""
    return any(
        _removes_too_much(effect.command, workspace)
        for effect in effects
        if isinstance(effect, Runs)
    )


def _removes_too_much(text: str, workspace: Workspace) -> bool:
    removals = [command for command in suspects(text) if command[0] in ("rm", "rmdir")]
    starts = folders(text, workspace.cwd, workspace.home) if removals else []
    words = {word for command in removals for word in command[1:] if not word.startswith("-")}
    return any(_is_critical(word, starts, workspace) for word in words)


def _is_critical(word: str, starts: list[str], workspace: Workspace) -> bool:
    bare = re.sub(r"/\**$", "", word.rstrip("/")).rstrip("/")
    if bare in ("", "~", "$HOME", "$PWD", "*", ".", "..") or re.fullmatch(_ONLY_VARIABLES, word):
        return True
    named = workspace.home + bare[1:] if bare.startswith("~/") else os.path.expanduser(bare)
    places = (os.path.normpath(os.path.join(start, named)) + "/" for start in starts)
    return any(
        place.count("/") <= 2
        or f"{workspace.home}/".startswith(place)
        or f"{workspace.cwd}/".startswith(place)
        or f"{workspace.project}/".startswith(place)
        for place in places
    )


def host_rules(effects: tuple[Effect, ...]) -> tuple[str, ...]:
    hosts = {effect.host for effect in effects if isinstance(effect, Connects)} - {"*"}
    return tuple(f"WebFetch(domain:{host})" for host in sorted(hosts))


def _edit_rules(path: str, workspace: Workspace) -> tuple[str, ...]:
    """None for a name that a pattern would read as more than itself, nor for a link: a rule would
    have to permit both the name and the place it leads to."""
    if any(char in path for char in "*?[()") or _led(path):
        return ()
    inside = path.startswith(workspace.project + "/")
    return (f"Edit({path[len(workspace.project) :] if inside else f'/{path}'})",)
