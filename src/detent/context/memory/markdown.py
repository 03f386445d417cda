"""What a model need not read of a file, and which files it names as part of it."""

import re
from collections.abc import Iterator

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\`])+)", re.MULTILINE)
_MOST_IMPORTS = 200
"""Of one file."""


def without_comments(text: str) -> str:
    """Block comments of HTML are for people. One that never ends is none."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    lines = text.split("\n")
    last_end = max((n for n, line in enumerate(lines) if "-->" in line), default=-1)
    is_comment = False
    for number, (line, in_code) in enumerate(_with_fences(lines)):
        if not is_comment and not in_code and line.lstrip().startswith("<!--"):
            is_comment = number <= last_end
            rest = line.lstrip()[4:]
        else:
            rest = line
        if not is_comment:
            kept.append(line)
        elif "-->" in rest:
            is_comment = False
            if (behind := rest.partition("-->")[2]).strip():
                kept.append(behind)
    return "\n".join(kept)


def imports_of(text: str) -> list[str]:
    """The names behind an `@`, outside of code, in their order."""
    if "@" not in text:
        return []
    prose = "\n".join("" if in_code else line for line, in_code in _with_fences(text.split("\n")))
    found: dict[str, None] = {}
    for paragraph in _PARAGRAPHS.split(prose):
        for match in _IMPORT.finditer(_CODE_SPAN.sub(" ` ", paragraph)):
            name = match[1].replace("\\ ", " ")
            if name[0].isalnum() or name[0] in "._~/":
                found[name] = None
    return list(found)[:_MOST_IMPORTS]


def spellings(name: str) -> Iterator[str]:
    """What was meant by a name in a sentence: perhaps without its last sign, or a heading."""
    yield name
    for plain in (name.rstrip(".,;:!?)]}'\""), name.partition("#")[0]):
        if plain and plain != name:
            yield plain


def _with_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code between two fences."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if match is None:
            yield line, bool(fence)
        elif not fence:
            opens = match[1][0] == "~" or "`" not in match[2]
            fence = match[1] if opens else ""
            yield line, opens
        else:
            yield line, True
            if match[1].startswith(fence) and not match[2].strip():
                fence = ""
