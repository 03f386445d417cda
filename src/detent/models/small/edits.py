"""How a small model changes a file: it is good at writing code, bad at quoting it.

So it never has to quote. A short file it writes again as a whole, in plain text, and we find what
differs; of a long one it picks a line from those it was shown. Either way comes out as an exact
replacement for the Edit tool.
"""

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from detent.models.small.actions import form_object
from detent.models.small.story import Step, Story, steps_of
from detent.types.codec import encode

SHORT_ENOUGH = 80
"""Lines of a file that is written again as a whole."""
MOST_CHOICES = 150
_NUMBERED = re.compile(r" *\d+\t(.*)")
_BLOCK = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_TEST = re.compile(r"(^|/)(tests?/|test_[^/]*$|[^/]*_test\.|conftest)")


class Shown(Struct, frozen=True):
    """A file as the model knows it by now."""

    path: str
    lines: tuple[str, ...]
    whole: bool


class Replacement(Struct, frozen=True):
    old: str
    new: str


def shown_files(story: Story) -> dict[str, Shown]:
    """What Read has shown, with the changes made since."""
    files: dict[str, Shown] = {}
    for step in steps_of(story):
        if step.failed or not step.path:
            continue
        match step.tool:
            case "Read":
                files[step.path] = _as_read(step)
            case "Write":
                text = str(step.arguments.get("content", ""))
                files[step.path] = Shown(step.path, tuple(text.splitlines()), True)
            case "Edit" if step.path in files:
                files[step.path] = _as_edited(files[step.path], step)
    return {path: shown for path, shown in files.items() if shown.lines}


def editable(files: dict[str, Shown], task: str) -> list[str]:
    """Tests say what is right: they are not offered for change unless the task names them."""
    return [path for path in files if path in task or not _TEST.search(path)]


def read_text(step: Step) -> str:
    """What Read gave, without its line numbers: the small model would copy them."""
    return "\n".join(_as_read(step).lines)


def _as_read(step: Step) -> Shown:
    found = [_NUMBERED.fullmatch(line) for line in step.result.split("\n")]
    lines = tuple(match[1] for match in found if match)
    return Shown(step.path, lines, len(lines) == len(found) and "offset" not in step.arguments)


def _as_edited(shown: Shown, step: Step) -> Shown:
    old, new = str(step.arguments.get("old_string", "")), str(step.arguments.get("new_string", ""))
    times = -1 if step.arguments.get("replace_all") else 1
    text = "\n".join(shown.lines).replace(old, new, times)
    return Shown(shown.path, tuple(text.split("\n")), shown.whole)


def from_rewrite(shown: Shown, answer: str) -> Replacement | None:
    """None when there is no code in the answer, nothing differs, or much of the file is gone."""
    blocks = _BLOCK.findall(answer)
    if not blocks:
        return None
    old = list(shown.lines)
    new = [line.rstrip() for line in max(blocks, key=len).rstrip().split("\n")]
    if 2 * len(new) < len(old):
        return None
    return difference(old, new)


def difference(old: Sequence[str], new: Sequence[str]) -> Replacement | None:
    """The lines that differ, as one replacement that fits at one place only."""
    old, new = _without_blank_end(old), _without_blank_end(new)
    start = 0
    while start < min(len(old), len(new)) and old[start].rstrip() == new[start].rstrip():
        start += 1
    end = 0
    while (
        end < min(len(old), len(new)) - start and old[-1 - end].rstrip() == new[-1 - end].rstrip()
    ):
        end += 1
    if start == len(old) == len(new):
        return None
    return _unique(old, new[start : len(new) - end], start, len(old) - end)


def _without_blank_end(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _unique(lines: list[str], new: Sequence[str], start: int, end: int) -> Replacement | None:
    """Grown by lines around it, which stay as they are, until the old text occurs once."""
    text, changed = "\n".join(lines), list(new)
    while True:
        old = "\n".join(lines[start:end])
        if old.strip() and text.count(old) == 1:
            return Replacement(old, "\n".join(changed))
        if start == 0 and end == len(lines):
            return None
        if start:
            start -= 1
            changed.insert(0, lines[start])
        if end < len(lines):
            changed.append(lines[end])
            end += 1


def line_form(shown: Shown) -> msgspec.Raw:
    """Why first: a small model that has said what is wrong picks the line better."""
    fields = {
        "why": {"type": "string", "maxLength": 200},
        "old": {"enum": list(_choices(shown))[:MOST_CHOICES]},
        "new": {"type": "string", "maxLength": 1000},
    }
    return msgspec.Raw(encode(form_object(fields)))


def from_line(shown: Shown, old: str, new: str) -> Replacement | None:
    """The chosen line becomes `new`; an indentation that was forgotten is put back."""
    position = _choices(shown).get(old)
    if position is None:
        return None
    line = shown.lines[position]
    indent = line[: len(line) - len(line.lstrip())]
    added = new.split("\n")
    if not added[0].startswith(indent):
        added = [f"{indent}{one}" if one.strip() else one for one in added]
    changed = [*shown.lines[:position], *added, *shown.lines[position + 1 :]]
    return difference(shown.lines, changed)


def _choices(shown: Shown) -> dict[str, int]:
    """Lines by their text; of those that occur twice the later ones carry their number."""
    choices: dict[str, int] = {}
    for position, line in enumerate(shown.lines):
        text = line.strip()
        if text:
            choices[text if text not in choices else f"{text}  (line {position + 1})"] = position
    return choices
