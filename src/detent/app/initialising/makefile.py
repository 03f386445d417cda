"""Targets of a Makefile, with what the comment beside or above them says."""

import re

from detent.app.initialising.cleaning import is_name, plain
from detent.app.initialising.purposes import purpose_of
from detent.app.initialising.record import Command, Findings
from detent.app.initialising.tree import Tree

FILES = ("GNUmakefile", "Makefile", "makefile")
MOST = 40
_TARGET = re.compile(r"([A-Za-z0-9][\w.-]*)[ \t]*::?(?![=:])([^#]*)(?:#+[ \t]*(.*))?")


def look(tree: Tree) -> Findings:
    name = tree.first(*FILES)
    comments = targets(tree.text(name))
    return Findings(
        tuple(
            Command(purpose_of(target, comments), f"make {target}", name, about)
            for target, about in comments.items()
        )
    )


def targets(text: str) -> dict[str, str]:
    """Those that are meant for people: declared phony, told of in a comment, or no file by their
    name. What is made by a pattern is not."""
    lines = text.splitlines()
    phony = {word for line in lines if line.startswith(".PHONY:") for word in line.split()[1:]}
    found: dict[str, str] = {}
    above = ""
    for line in lines:
        match = _TARGET.fullmatch(line)
        if match and is_name(match[1]) and "=" not in match[2].partition("|")[0]:
            about = plain(match[3] or above)
            if match[1] in phony or about or "." not in match[1]:
                found.setdefault(match[1], about)
        above = f"{above} {line.lstrip('# ')}" if line.startswith("#") else ""
    return dict(list(found.items())[:MOST])
