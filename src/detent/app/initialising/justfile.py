"""Recipes of a justfile, with the comment above them."""

import re

from detent.app.initialising.cleaning import plain
from detent.app.initialising.purposes import purpose_of
from detent.app.initialising.record import Command, Findings
from detent.app.initialising.tree import Tree

FILES = ("justfile", "Justfile", ".justfile")
MOST = 40
_RECIPE = re.compile(r"@?([A-Za-z][\w-]*)((?:[ \t]+[^:]*)?):(?!=).*")


def look(tree: Tree) -> Findings:
    name = tree.first(*FILES)
    found: dict[str, str] = {}
    above = ""
    for line in tree.text(name).splitlines():
        match = _RECIPE.fullmatch(line)
        if match and above != "[private]":
            found.setdefault(match[1], plain(above.lstrip("# ") if above[:1] == "#" else ""))
        above = line.strip()
    return Findings(
        tuple(
            Command(purpose_of(recipe, found), f"just {recipe}", name, about)
            for recipe, about in list(found.items())[:MOST]
        )
    )
