"""Everything that is found out about a repository, put together."""

import os
from collections.abc import Callable, Iterable

from detent.app.initialising import around, compiled, javascript, justfile, makefile, python
from detent.app.initialising.cleaning import plain
from detent.app.initialising.languages import languages
from detent.app.initialising.layout import layout
from detent.app.initialising.record import NAME, Command, Findings, Survey
from detent.app.initialising.rule_files import rule_files
from detent.app.initialising.tree import Tree

LOOKS: tuple[Callable[[Tree], Findings], ...] = (
    makefile.look,
    justfile.look,
    python.look,
    javascript.look,
    compiled.look_rust,
    compiled.look_go,
    compiled.look_c,
    compiled.look_jvm,
    compiled.look_others,
    around.look,
)
"""What people have written for people comes first."""
MOST_OF_A_KIND = 4
MOST_OTHERS = 15


def survey(folder: str) -> Survey:
    tree = Tree(os.path.realpath(folder))
    found = [look(tree) for look in LOOKS]
    commands = (command for findings in found for command in findings.commands)
    return Survey(
        folder=tree.root,
        title=_first(one.title for one in found) or plain(os.path.basename(tree.root), 60),
        about=_first(one.about for one in found),
        languages=languages(tree.files),
        commands=_fewer(commands),
        layout=layout(tree),
        conventions=tuple(dict.fromkeys(said for one in found for said in one.conventions)),
        checks=around.checks(tree),
        rules=rule_files(tree),
        is_cut=tree.is_cut,
        existing=_existing(tree.root),
    )


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _fewer(commands: Iterable[Command]) -> tuple[Command, ...]:
    """Of each kind the first ones."""
    kept: list[Command] = []
    for command in commands:
        same = sum(one.purpose == command.purpose for one in kept)
        is_known = any(one.text == command.text for one in kept)
        if not is_known and same < (MOST_OTHERS if command.purpose == "other" else MOST_OF_A_KIND):
            kept.append(command)
    return tuple(kept)


def _existing(root: str) -> str | None:
    """None where there is none. What cannot be read is there all the same."""
    path = os.path.join(root, NAME)
    if not os.path.lexists(path):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 1 << 20).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
