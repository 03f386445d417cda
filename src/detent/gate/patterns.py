"""Path patterns of rules, in the manner of gitignore."""

import os
import re


def compiled(pattern: str, cwd: str, home: str, *, anywhere: bool) -> re.Pattern[str]:
    """`//p` is absolute, `~/p` in the home folder, everything else below the working folder.

    A bare name matches at any depth; with `anywhere` (deny, ask) so does `dir/**`.
    """
    if pattern.startswith("//"):
        return _regex(pattern[1:])
    if pattern.startswith("~/") or pattern == "~":
        return _regex(home + pattern[1:])
    if pattern.startswith("/"):
        return _regex(cwd + pattern)
    plain = pattern.removeprefix("./")
    floating = "/" not in plain.rstrip("/") or (anywhere and plain.count("/") <= 1)
    return _regex(os.path.join(cwd, "**", plain) if floating else os.path.join(cwd, plain))


def _regex(glob: str) -> re.Pattern[str]:
    """A folder's pattern covers what is in it."""
    glob = glob.rstrip("/")
    out, position = "", 0
    while position < len(glob):
        rest = glob[position:]
        if rest.startswith("/**/"):
            out, position = out + "(?:/.*)?/", position + 4
        elif rest == "/**":
            out, position = out + "/.*", position + 3
        elif rest.startswith("**"):
            out, position = out + ".*", position + 2
        elif rest[0] == "*":
            out, position = out + "[^/]*", position + 1
        elif rest[0] == "?":
            out, position = out + "[^/]", position + 1
        elif (match := re.match(r"\[[^\]/]+\]", rest)) is not None:
            out, position = out + match.group().replace("[!", "[^", 1), position + match.end()
        else:
            out, position = out + re.escape(rest[0]), position + 1
    return re.compile(rf"{out}(?:/.*)?\Z", re.DOTALL)
