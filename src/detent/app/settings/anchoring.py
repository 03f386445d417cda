"""A rule for a path, written so that it means the same files in the place where it is kept.

An answer's `/p` is below the folder where the session began. In the project's file it stays so,
for that file is read only by sessions that begin there. The user's file and the local one are read
from other folders as well, where `/p` would permit another file.
"""

import os
import re
from typing import Literal

from detent.gate.rules import READING, WRITING, parse_rule
from detent.tools.registry import canonical_name

Scope = Literal["local", "project", "user"]


def anchored(rule: str, scope: Scope, began: str, home: str) -> str:
    """`rule` is one of a session that began in the folder `began`. What has no fixed place keeps
    having none: a bare name, or a path without a `/` before it, is meant wherever one works."""
    parsed = parse_rule(rule, canonical_name)
    what = parsed.what
    is_ours = what.startswith("/") and not what.startswith("//")
    if scope == "project" or parsed.tool not in READING | WRITING or not is_ours:
        return rule
    name = parsed.text.partition("(")[0]
    return f"{name}({_absolute(began, home)}{what})"


def _absolute(folder: str, home: str) -> str:
    """The folder as a pattern that names only it."""
    home = home.rstrip("/")
    if home and f"{folder}/".startswith(f"{home}/"):
        return f"~{_literal(folder[len(home) :])}"
    return f"/{_literal(folder)}" if folder != "/" else "/"


def _literal(path: str) -> str:
    """Signs of its own name are no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", os.path.normpath(path)) if path else ""
