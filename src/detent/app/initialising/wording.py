"""A survey as an AGENTS.md."""

from collections.abc import Iterator, Sequence

from detent.app.initialising.record import Command, Purpose, Survey

MOST = 16_000
"""Characters: it is read with every session."""
TITLES: dict[Purpose, str] = {
    "setup": "Set up",
    "build": "Build",
    "test": "Test",
    "one test": "One test",
    "lint": "Lint",
    "format": "Format",
    "types": "Types",
    "run": "Run",
}
WRITTEN_BY = """\
<!-- Written by `detent init` from the files of this repository; no model was asked.
     Correct what is wrong, and add what no file tells. -->"""


def written(survey: Survey) -> str:
    parts = [
        [f"# {survey.title}", "", WRITTEN_BY],
        [_about(survey)],
        _section("Commands", list(_commands(survey.commands))),
        _section("Layout", [f"- `{one.name}`: {one.what}" for one in survey.layout]),
        _section("Conventions", [f"- {_sentence(said)}" for said in survey.conventions]),
        _section("Checks elsewhere", [f"- `{name}`" for name in survey.checks]),
        _section("Read also", [f"- `{name}`" for name in survey.rules]),
    ]
    text = "\n\n".join("\n".join(part) for part in parts if any(part))
    return f"{text[:MOST].rstrip()}\n"


def missing(survey: Survey) -> str:
    """What the file that is there does not say: lines of ours that are not in it, below their
    headings."""
    there = {line.strip() for line in (survey.existing or "").splitlines()}
    kept: list[str] = []
    heading = ""
    for line in written(survey).splitlines():
        if line.startswith("## "):
            heading = line
        elif line.startswith("- ") and line not in there and not _is_told(line, survey):
            kept += ["", heading] if heading and kept else [heading] if heading else []
            kept.append(line)
            heading = ""
    return "\n".join(kept)


def _is_told(line: str, survey: Survey) -> bool:
    """The first thing in it that is code stands in that file, whatever stands around it."""
    code = line.split("`")[1:2]
    return bool(code) and f"`{code[0]}`" in (survey.existing or "")


def _about(survey: Survey) -> str:
    counts = [f"{one.name} ({one.files:,})" for one in survey.languages]
    more = " There is more than was looked at." if survey.is_cut else ""
    made = f"Languages, by files: {', '.join(counts)}.{more}" if counts else more.strip()
    return "\n".join(filter(None, (_sentence(survey.about), made)))


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")


def _commands(commands: Sequence[Command]) -> Iterator[str]:
    for purpose, title in TITLES.items():
        same = [command for command in commands if command.purpose == purpose]
        for command in same:
            yield f"- {title}: {_told(command)}"
    for command in commands:
        if command.purpose == "other":
            yield f"- {_told(command)}"


def _told(command: Command) -> str:
    about = f": {command.about}" if command.about else ""
    return f"`{command.text}` ({command.source}){about}"


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "", *lines] if lines else []
