"""Which output styles there are: built in, or a Markdown file each.

    ---
    name: terse
    description: For people in a hurry
    keep-coding-instructions: true
    ---
    Answer in one line.

Strongest first: managed, the project (from the working folder up to the root of the repository, in
each folder ours before theirs), the user, built-in ones. They are words for the model, as memory
is: a project's count without trust, where the user chooses them. But until the folder is trusted
none of them takes the name of a style that is the user's own or built in.
"""

import os
from collections.abc import Iterator

from detent.app.grounds import Grounds
from detent.app.memory.choosing import Borders
from detent.app.memory.finding import rules_in
from detent.app.memory.reading import Shelf, doubt_about_file
from detent.app.prompting import USUAL_STYLE as USUAL
from detent.app.reminders import folders_down
from detent.app.styles.record import OutputStyle, Styles, Whose, key_of
from detent.context.bounds import in_one_line
from detent.context.head import parse_head, split_head
from detent.context.memory.trees import Sheet
from detent.context.prompt import FOLDER

BUILT_IN = ("concise", "explanatory", "learning", "proactive")
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 200
LONGEST = 40_000
"""Characters: it is part of every request."""
Folder = tuple[str, Whose]


def styles_of(grounds: Grounds) -> Styles:
    gathering = _Gathering(grounds)
    for folder in style_folders(grounds):
        gathering.files_of(folder)
    found = gathering.found
    taken = {key_of(one.name): one for one in reversed((*built_in(), *_own(found)))}
    stays: dict[str, OutputStyle] = {}
    for style in found:
        other = taken.get(key_of(style.name))
        if style.source == "project" and other is not None and not grounds.is_trusted:
            why = f"it has the name of another, {other.name}: ignored until you trust the folder"
            gathering.notices.append(f"{style.path}: {why} (detent trust, or --trust for one run)")
        elif key_of(style.name) == USUAL:
            gathering.notices.append(f"{style.path} is left out: {USUAL} is the program's own")
        else:
            stays.setdefault(key_of(style.name), style)
    first = (stays.pop(key_of(one.name), one) for one in built_in())
    return Styles((*first, *stays.values()), tuple(gathering.notices))


def built_in() -> tuple[OutputStyle, ...]:
    usual = OutputStyle(USUAL, "Short and plain, the result first")
    return (usual, *map(_built_in, BUILT_IN))


def style_folders(grounds: Grounds) -> Iterator[Folder]:
    """Strongest first; whether they are there or not."""
    where, wanted = grounds.where, grounds.options.setting_sources
    for folder in where.managed:
        yield f"{folder}/output-styles", "managed"
        yield f"{folder}/.claude/output-styles", "managed"
    own = (f"{where.home}/output-styles", f"{where.claude}/output-styles")
    if "project" in wanted:
        for folder in reversed(folders_down(where.root, where.cwd)):
            for path in (f"{folder}/.detent/output-styles", f"{folder}/.claude/output-styles"):
                if path not in own:  # in the user's home they are the user's
                    yield path, "project"
    if "user" in wanted:
        yield own[0], "user" if where.is_ours else "project"
        yield own[1], "user" if where.is_theirs_ours else "project"


class _Gathering:
    def __init__(self, grounds: Grounds) -> None:
        self.found: list[OutputStyle] = []
        self.notices: list[str] = []
        self._shelf = Shelf(grounds.own)
        self._borders = Borders(grounds.where, lambda: grounds.is_trusted)

    def files_of(self, folder: Folder) -> None:
        path, whose = folder
        for file in rules_in(path):
            sheet = self._shelf.read(file)
            if sheet is None:
                continue
            if fault := self._objection(sheet, whose):
                self.notices.append(f"{file} is left out: {fault}")
                continue
            style, faults = read_style(sheet.text, file, whose)
            self.notices += [f"{file}: {fault}" for fault in (sheet.note, *faults) if fault]
            if style is not None:
                self.found.append(style)

    def _objection(self, sheet: Sheet, whose: Whose) -> str:
        if sheet.fault or sheet.size:
            return sheet.fault or f"it is too long ({sheet.size})"
        if whose == "project":
            return self._borders.project_objection(sheet)
        return doubt_about_file(sheet.real)


def read_style(text: str, path: str, whose: Whose) -> tuple[OutputStyle | None, list[str]]:
    """None for one that cannot be used; and what is wrong with it."""
    head, body = split_head(text)
    values, faults = parse_head(head) if head is not None else ({}, [])
    fields = {str(key).replace("_", "-").lower(): value for key, value in values.items()}
    name = fields.get("name") or os.path.splitext(os.path.basename(path))[0]
    name = str(name).strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        return None, [*faults, f"a name is 1 to {LONGEST_NAME} printable characters: left out"]
    body = body.strip()
    if not body or len(body) > LONGEST:
        why = f"it is longer than {LONGEST:,} characters" if body else "it says nothing"
        return None, [*faults, f"{why}: left out"]
    keeps = fields.get("keep-coding-instructions", False)
    if not isinstance(keeps, bool):
        faults = [*faults, "keep-coding-instructions must be true or false"]
    about = in_one_line(str(fields.get("description") or ""), LONGEST_DESCRIPTION)
    return OutputStyle(name, about, body, keeps is True, whose, path), faults


def _built_in(name: str) -> OutputStyle:
    path = os.path.join(FOLDER, "styles", f"{name}.md")
    with open(path, encoding="utf-8") as file:
        style, _ = read_style(file.read(), path, "built-in")
    assert style is not None
    return style


def _own(styles: list[OutputStyle]) -> list[OutputStyle]:
    return [style for style in styles if style.source != "project"]
