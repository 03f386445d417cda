"""`detent sessions export` and `import`."""

import os
import sys
from contextlib import suppress

from detent.sdk.exporting import FORMS, Form, Imported
from detent.sdk.exporting import export_session as exported
from detent.sdk.exporting import import_sessions as imported
from detent.sdk.options import Options
from detent.surfaces.arguments import Arguments
from detent.surfaces.counting import counted
from detent.types.codec import encode
from detent.types.errors import BadInput

ENDINGS: dict[str, Form] = {
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}


def export_session(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent sessions export takes one session, not {len(words)}")
    output = arguments.value("--output")
    form = _form(arguments.value("--format"), output)
    if output and os.path.lexists(output) and not arguments.on("--yes"):
        raise BadInput(f"{output} exists already (--yes replaces it)")
    options = Options(cwd=arguments.value("--cwd"))
    made = exported(next(iter(words), ""), form, options)
    data = made.data
    for note in made.notes:
        print(f"detent: {note}", file=sys.stderr)
    if not output:
        return _printed(data)
    return _written(output, data, replace=arguments.on("--yes"))


def _form(wanted: str, output: str) -> Form:
    for form in FORMS:
        if form == wanted:
            return form
    if wanted:
        raise BadInput(f"--format takes {', '.join(FORMS)}; not {wanted!r}")
    ending = os.path.splitext(output)[1].lower()
    if output and ending not in ENDINGS:
        raise BadInput(f"what should {output} be? --format takes {', '.join(FORMS)}")
    return ENDINGS.get(ending, "md")


def _printed(data: bytes) -> int:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # a file on a full disk
        print(f"detent: it cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _written(path: str, data: bytes, *, replace: bool) -> int:
    """For its owner alone: a session holds whatever was read in it."""
    try:
        if not replace:
            _create(path, data)
        elif os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as device:  # a terminal, a pipe, /dev/null: nothing to replace
                device.write(data)
        else:
            whole = os.path.realpath(path)  # a link stays, and what it leads to is replaced
            _create(f"{whole}.{os.getpid()}.partial", data, becomes=whole)
    except FileExistsError:
        raise BadInput(f"{path} exists already (--yes replaces it)") from None
    except OSError as error:
        print(f"detent: {path} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{path}: {len(data):,} bytes", file=sys.stderr)
    return 0


def _create(path: str, data: bytes, becomes: str = "") -> None:
    """All of it, or nothing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        if becomes:
            os.replace(path, becomes)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def import_sessions(words: tuple[str, ...], arguments: Arguments) -> int:
    """Exit code 1 where a file could not be read, or there was none."""
    if not words:
        raise BadInput("detent sessions import takes files or folders, as ~/.claude/projects")
    count = failures = 0
    for one in imported(words, is_trial=arguments.on("--dry-run")):
        count += 1
        failures += one.status == "failed"
        is_error = one.status == "failed" and not arguments.on("--json")
        text = encode(one).decode() if arguments.on("--json") else _told(one)
        print(text, file=sys.stderr if is_error else sys.stdout)
    if not count:
        print("detent: there are no transcripts there", file=sys.stderr)
    return 1 if failures or not count else 0


def _told(one: Imported) -> str:
    if one.status == "failed":
        return _plain(f"detent: {one.path}: {one.why}")
    said = f"{counted(one.prompts, 'prompt')}, {counted(one.answers, 'answer')}"
    parts = [f"{what}: {times}" for what, times in sorted(one.left_out.items())]
    rest = f"; left out: {', '.join(parts)}" if parts else ""
    return _plain(f"{one.session}  {one.status}  {said}  {one.cwd}{rest}")


def _plain(text: str) -> str:
    """What stands in a file of somebody else is not for the terminal to obey."""
    return "".join(char if char.isprintable() else "?" for char in text)
