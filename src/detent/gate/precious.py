"""What no allow rule covers silently: protected places, devices, and writing elsewhere by `>`."""

from collections.abc import Iterator

from detent.gate.modes import finds_harmless
from detent.gate.paths import is_protected, is_special
from detent.gate.shell.prover import prove
from detent.gate.shell.suspects import mentioned, placed, written
from detent.gate.terms import Workspace
from detent.types.effects import Effect, Reads, Runs, Writes


def redirects(effects: tuple[Effect, ...]) -> bool:
    return any(isinstance(effect, Runs) and written(effect.command) for effect in effects)


def precious(effects: tuple[Effect, ...], workspace: Workspace) -> str:
    """Why a call must be asked about although a rule allows it; empty when nothing is."""
    return next((why for effect in effects for why in _reasons(effect, workspace)), "")


def _reasons(effect: Effect, workspace: Workspace) -> Iterator[str]:
    match effect:
        case Writes(path=path) if is_protected(path):
            yield _decides(path)
        case Reads(path=path) | Writes(path=path) if is_special(path):
            yield _is_no_file(path)
        case Runs(command=text):
            yield from _in_command(text, workspace)
        case _:
            pass


def _in_command(text: str, workspace: Workspace) -> Iterator[str]:
    for target in written(text):
        if not workspace.holds(target):
            yield f"It writes {target}, outside the workspace."
    harmless = _harmless_words(text, workspace)
    words = (word for word in mentioned(text) if word not in harmless)
    for path in placed(words, text, workspace.cwd, workspace.home):
        if is_protected(path):
            yield _decides(path)
        if is_special(path):
            yield _is_no_file(path)


def _harmless_words(text: str, workspace: Workspace) -> frozenset[str]:
    """Words of commands that only read: looking at a protected place changes nothing."""
    words: dict[bool, set[str]] = {True: set(), False: set()}
    for command in prove(text) or ():
        words[finds_harmless(workspace, command)].update(command)
    return frozenset(words[True] - words[False])


def _decides(path: str) -> str:
    return f"{path} decides what runs later."


def _is_no_file(path: str) -> str:
    return f"{path} is a device, a pipe or a window into a process."
