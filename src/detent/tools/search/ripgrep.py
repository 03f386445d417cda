"""The search through the `rg` program."""

import asyncio

from msgspec import Struct

from detent.ports import Desk, FileFacts
from detent.tools.paths import shown
from detent.tools.search.excludes import excludes
from detent.tools.search.findings import LINE_WIDTH, Findings, GrepArgs, Row
from detent.tools.search.globs import globs_of, rooted
from detent.tools.search.line_ends import for_any_line_end
from detent.tools.shell.truncate import Kept

MOST_BYTES = 8 * 1024 * 1024
TIMEOUT = 60.0
FAILED = 2
_FIRST_ENGINE = "default regex engine error:"
_BINARY = ": binary file matches (found "


class Enough(Exception):
    """More output than anyone will read; the host ends the program when a sink raises."""


class _Collected(Struct):
    data: bytearray

    def feed(self, chunk: bytes) -> None:
        self.data += chunk
        if len(self.data) > MOST_BYTES:
            raise Enough


async def search(program: str, args: GrepArgs, where: FileFacts, desk: Desk) -> Findings:
    output, errors = _Collected(bytearray()), Kept()
    note, exit_code = "", 0
    try:
        finished = await desk.host.run(
            [program, *_options(args), *_scope(args, where, desk), "--", where.path],
            # Globs with a slash count from where the program stands. From here they can name any
            # path, also one that begins above the folder searched.
            cwd="/",
            timeout=TIMEOUT,
            output=output.feed,
            errors=errors.feed,
        )
    except Enough:
        note = f"stopped after {MOST_BYTES:,} bytes of matches"
    else:
        exit_code = finished.exit_code
        if finished.timed_out:
            note = f"stopped after {TIMEOUT:g} s; narrow it with path or glob"
    # Files that could not be opened also give exit code 2, but no message: see --no-messages.
    if exit_code == FAILED and errors.seen:
        return Findings(fault=_explained(errors.text().strip()))
    return await asyncio.to_thread(_findings, bytes(output.data), args, desk.cwd, note)


def _options(args: GrepArgs) -> list[str]:
    # Sorted, because a page and the next must be parts of one order.
    options = ["--no-config", "--no-messages", "--color=never", "--sort=path", "--hidden", "--null"]
    # The second engine of rg knows what the first does not: look-around and back references.
    options += ["--with-filename", "--no-heading", "--engine=auto", "--crlf"]
    match args.output_mode:
        case "files_with_matches":
            options.append("--files-with-matches")
        case "count":
            options.append("--count-matches")
        case "content":
            before, after = args.margins
            options += ["--line-number", f"--before-context={before}", f"--after-context={after}"]
            options += [f"--max-columns={LINE_WIDTH}", "--max-columns-preview"]
            options += ["--only-matching"] if args.only_matching else []
    options += ["--ignore-case"] if args.ignore_case else []
    options += ["--multiline"] if args.spans_lines else []
    options += ["--multiline-dotall"] if args.multiline else []
    options += [f"--type={args.type}"] if args.type else []
    pattern = for_any_line_end(args.pattern) if args.spans_lines else args.pattern
    return [*options, f"--regexp={pattern}"]


def _scope(args: GrepArgs, where: FileFacts, desk: Desk) -> list[str]:
    """A file named by itself was judged by itself; a folder must not give away what is in it."""
    if not where.is_dir:
        return []
    wanted = [f"--glob={rooted(glob, where.path)}" for glob in globs_of(args.glob)]
    return [*wanted, "--glob=!.git", *(f"--iglob=!{glob}" for glob in excludes(desk))]


def _explained(errors: str) -> str:
    """What rg says of a pattern that neither engine takes, without the words of the second."""
    said = errors.removeprefix("rg: ")
    if _FIRST_ENGINE in said:
        said = said.partition(_FIRST_ENGINE)[2].partition("\nPCRE2")[0].strip("~\n")
    if "regex parse error" in said:
        return f"{said}\nEscape what is meant literally: `\\(`, `\\[`, `\\{{`, `\\.`"
    if "unrecognized file type" in said:
        return f"{said}. Use glob instead, such as `*.xyz`."
    return said


def _findings(data: bytes, args: GrepArgs, cwd: str, note: str) -> Findings:
    """In a thread: there may be many."""
    text = data.decode("utf-8", "surrogateescape")
    if args.output_mode == "files_with_matches":
        return Findings(tuple(Row(shown(path, cwd)) for path in text.split("\0") if path), "", note)
    rows: list[Row] = []
    binary = ""
    for line in text.split("\n"):
        row = _row(line, args, cwd)
        if row is not None:
            rows.append(row)
        elif _BINARY in line:
            binary = shown(line.partition(_BINARY)[0], cwd)
    return Findings(tuple(rows), "", note, binary)


def _row(line: str, args: GrepArgs, cwd: str) -> Row | None:
    """A line without a name is the gap between two places, or the torn end of a cut output."""
    path, named, rest = line.partition("\0")
    if not named:
        return Row("", "--") if line.rstrip("\r") == "--" else None
    if args.output_mode == "count":
        return Row(shown(path, cwd), number=int(rest))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if not digits:
        return None
    is_match = rest[digits : digits + 1] == ":"
    return Row(shown(path, cwd), rest[digits + 1 :].rstrip("\r"), int(rest[:digits]), is_match)
