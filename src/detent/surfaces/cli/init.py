"""`detent init`: an AGENTS.md, from what the files of a repository tell."""

from detent.sdk.initialising import AlreadyThere, Survey, missing, survey, write, written
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import write_for_people
from detent.surfaces.headless.exit_codes import ERROR
from detent.surfaces.wording.shown import shown, visible
from detent.types.codec import encode
from detent.types.errors import BadInput


def init(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent init takes one folder; not {' '.join(words)!r}")
    found = survey(words[0] if words else arguments.value("--cwd"))
    if arguments.on("--json"):
        print(encode(found).decode())
        return 0
    if arguments.on("--dry-run"):
        return write_for_people([shown(written(found)).rstrip("\n")])
    try:
        path = write(found, overwrite=arguments.on("--yes"))
    except AlreadyThere as error:
        write_for_people(refused(found, str(error)))
        return ERROR
    return write_for_people([*told(found, path)])


def refused(found: Survey, why: str) -> list[str]:
    lacks = missing(found)
    if not lacks:
        return [f"{visible(why)}, and says all that detent init would."]
    lines = [f"{visible(why)}. It does not say:", "", *shown(lacks).split("\n"), ""]
    return [*lines, "Add what is right of it, or replace the file: detent init --yes"]


def told(found: Survey, path: str) -> list[str]:
    lines = [f"Written: {visible(path)}", "Read it, correct it, and add what no file tells."]
    if any(name.endswith("CLAUDE.md") for name in found.rules):
        lines.append("CLAUDE.md stands before it here: add the line @AGENTS.md to that file.")
    return lines
