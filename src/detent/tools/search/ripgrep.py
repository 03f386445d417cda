"""The search through the `rg` program."""

from msgspec import Struct

from detent.ports import Desk
from detent.tools.paths import absolute
from detent.tools.search.excludes import excludes
from detent.tools.search.findings import LINE_WIDTH, Findings, GrepArgs, Row
from detent.tools.shell.truncate import Kept

MOST_BYTES = 8 * 1024 * 1024
TIMEOUT = 60.0
FAILED = 2
_FIRST_ENGINE = "default regex engine error:"


class Enough(Exception):
    """More output than anyone will read; the host ends the program when a sink raises."""


class _Collected(Struct):
    data: bytearray

    def feed(self, chunk: bytes) -> None:
        self.data += chunk
        if len(self.data) > MOST_BYTES:
            raise Enough


async def search(program: str, args: GrepArgs, where: str, desk: Desk) -> Findings:
    output, errors = _Collected(bytearray()), Kept()
    facts = await desk.host.facts(absolute(where, desk.cwd))
    # A file named by itself was judged by itself; a folder must not give away what is in it.
    hidden = [f"--glob=!{glob}" for glob in excludes(desk)] if facts and facts.is_dir else []
    note, exit_code = "", 0
    try:
        finished = await desk.host.run(
            [program, *_options(args), *hidden, "-e", args.pattern, "--", where],
            cwd=desk.cwd,
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
    return Findings(_rows(output.data.decode("utf-8", "surrogateescape"), args), note=note)


def _options(args: GrepArgs) -> list[str]:
    # Sorted, because a page and the next must be parts of one order.
    options = ["--no-config", "--no-messages", "--color=never", "--sort=path", "--hidden", "--null"]
    # The second engine of rg knows what the first does not: look-around and back references.
    options += ["--with-filename", "--no-heading", "--engine=auto"]
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
    options += ["--multiline", "--multiline-dotall"] if args.multiline else []
    options += [f"--type={args.type}"] if args.type else []
    options += [f"--glob={args.glob}"] if args.glob else []
    return [*options, "--glob=!.git"]


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


def _rows(text: str, args: GrepArgs) -> tuple[Row, ...]:
    if args.output_mode == "files_with_matches":
        return tuple(Row(_name(path)) for path in text.split("\0") if path)
    rows = (_row(line, args) for line in text.split("\n") if line)
    return tuple(row for row in rows if row is not None)


def _row(line: str, args: GrepArgs) -> Row | None:
    """A line without a name is the gap between two places, or the torn end of a cut output."""
    path, named, rest = line.partition("\0")
    if not named:
        return Row("", line) if line == "--" else None
    if args.output_mode == "count":
        return Row(_name(path), number=int(rest))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if not digits:
        return None
    is_match = rest[digits : digits + 1] == ":"
    return Row(_name(path), rest[digits + 1 :].rstrip("\r"), int(rest[:digits]), is_match)


def _name(path: str) -> str:
    return path.removeprefix("./")
