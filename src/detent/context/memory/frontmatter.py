"""The head of a rule: the one key of it that we read, `paths`.

    ---
    paths:
      - "src/**/*.ts"
      - docs/*.md
    ---

Also `paths: a, b` and `paths: [a, "b"]`. Everything else in it is other programs' business.
"""

from detent.context.head import split_head


def head_and_body(text: str) -> tuple[tuple[str, ...], str]:
    """The globs of its `paths`, and the text without its head."""
    head, body = split_head(text)
    return (() if head is None else _paths(head)), body


def _paths(lines: list[str]) -> tuple[str, ...]:
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if colon and key.strip("\"'") == "paths":
            value = _without_remark(value)
            found = _listed(value) if value else _block(lines[number + 1 :])
            return tuple(dict.fromkeys(filter(None, map(_unquoted, found))))
    return ()


def _block(lines: list[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        plain = _without_remark(line)
        if plain.startswith("-"):
            found.append(plain[1:])
        elif plain:
            break
    return found


def _listed(value: str) -> list[str]:
    """At commas that stand neither in braces nor in quotes."""
    if value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    parts, depth, quote = [""], 0, ""
    for char in value:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0 and not quote:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _without_remark(line: str) -> str:
    plain = line.strip()
    if plain.startswith("#"):
        return ""
    before = plain.partition(" #")[0].rstrip()
    is_quoted = before.count('"') % 2 or before.count("'") % 2
    return plain if is_quoted else before


def _unquoted(value: str) -> str:
    plain = value.strip()
    if len(plain) > 1 and plain[0] in "\"'" and plain[-1] == plain[0]:
        return plain[1:-1].strip()
    return plain
