"""The search without `rg`: slower, the same answers."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator

from msgspec import Struct

from detent.ports import Desk, FileFacts
from detent.tools.files.texts import is_binary, lines_of
from detent.tools.paths import shown
from detent.tools.search.excludes import excluder, excludes
from detent.tools.search.findings import LINE_WIDTH, Findings, GrepArgs, Row
from detent.tools.search.globs import chooser, globs_of

LARGEST = 2 * 1024 * 1024
MOST_FILES = 20_000
MOST_ROWS = 20_000

TYPES = {
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx h",
    "css": "css scss",
    "go": "go",
    "html": "html htm",
    "java": "java",
    "js": "js jsx mjs cjs",
    "json": "json",
    "md": "md markdown",
    "py": "py pyi",
    "rust": "rs",
    "sh": "sh bash",
    "toml": "toml",
    "ts": "ts tsx mts cts",
    "txt": "txt",
    "yaml": "yaml yml",
}


class _Text(Struct, frozen=True):
    content: str
    is_binary: bool = False


async def search(args: GrepArgs, where: FileFacts, desk: Desk) -> Findings:
    if args.type and args.type not in TYPES:
        return Findings(fault=f"unknown type {args.type}; known: {', '.join(TYPES)}. Or use glob.")
    try:
        regex = re.compile(args.pattern, _flags(args))
        is_wanted = chooser(globs_of(args.glob))
    except re.error as error:
        return Findings(fault=f"the pattern is not valid: {error}")
    except ValueError as error:
        return Findings(fault=f"glob: {error}")
    if not where.is_dir:
        return await _in_file(regex, args, where.path, desk)
    rows: list[Row] = []
    files = 0
    async for path in _candidates(args, is_wanted, where.path, desk):
        files += 1
        if files > MOST_FILES or len(rows) > MOST_ROWS:
            return Findings(tuple(rows), note=f"stopped after {files - 1:,} files")
        text = await _text(desk, path)
        if not text.is_binary:
            # In a thread: some patterns take very long on some texts, and the loop must not stand.
            name = shown(path, desk.cwd)
            rows += await asyncio.to_thread(_rows, regex, text.content, name, args)
    return Findings(tuple(rows))


async def _in_file(regex: "re.Pattern[str]", args: GrepArgs, path: str, desk: Desk) -> Findings:
    text, name = await _text(desk, path), shown(path, desk.cwd)
    rows = await asyncio.to_thread(_rows, regex, text.content, name, args)
    if text.is_binary and rows and args.output_mode == "content":
        return Findings(binary=name)
    return Findings(tuple(rows))


def _flags(args: GrepArgs) -> re.RegexFlag:
    flags = re.IGNORECASE if args.ignore_case else re.NOFLAG
    flags |= re.MULTILINE if args.spans_lines else re.NOFLAG
    return flags | (re.DOTALL if args.multiline else re.NOFLAG)


async def _candidates(
    args: GrepArgs, is_wanted: Callable[[str], bool], root: str, desk: Desk
) -> AsyncIterator[str]:
    endings = tuple(f".{ending}" for ending in TYPES.get(args.type, "").split())
    skip = len(root.rstrip("/")) + 1
    is_excluded = excluder(excludes(desk), root)
    found = [
        facts.path
        async for facts in desk.host.walk(root)
        # A link is another name for what is found under its own, or lies elsewhere.
        if not (facts.is_dir or facts.is_link or facts.is_special)
        and facts.size <= LARGEST
        and is_wanted(facts.path[skip:])
        and (not endings or facts.path.endswith(endings))
        and not is_excluded(facts.path)
    ]
    for path in sorted(found):
        yield path


async def _text(desk: Desk, path: str) -> _Text:
    try:
        data = await desk.read(path, LARGEST)
    except OSError:  # unreadable, or gone since
        return _Text("")
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return _Text(text, is_binary(data))


def _rows(regex: "re.Pattern[str]", text: str, path: str, args: GrepArgs) -> list[Row]:
    if args.output_mode == "files_with_matches":
        return [Row(path)] if any(_matches(regex, text, args)) else []
    if args.output_mode == "count":
        count = sum(1 for _ in _matches(regex, text, args))
        return [Row(path, number=count)] if count else []
    if args.only_matching:
        return [Row(path, found[:LINE_WIDTH], line) for line, found in _matches(regex, text, args)]
    hits: set[int] = set()
    for line, found in _matches(regex, text, args):
        hits.update(range(line, line + found.count("\n") + 1))
    return list(_with_margins(lines_of(text), hits, path, args.margins))


def _matches(regex: "re.Pattern[str]", text: str, args: GrepArgs) -> Iterator[tuple[int, str]]:
    """The line where each match begins, and the match."""
    if args.spans_lines:
        line, seen = 1, 0
        for match in regex.finditer(text):
            line, seen = line + text.count("\n", seen, match.start()), match.start()
            yield line, match.group()
    else:
        for line, content in enumerate(lines_of(text), 1):
            for match in regex.finditer(content):
                yield line, match.group()


def _with_margins(
    lines: list[str], hits: set[int], path: str, margins: tuple[int, int]
) -> Iterator[Row]:
    before, after = margins
    near = {line for hit in hits for line in range(hit - before, hit + after + 1)}
    last = 0
    for line in sorted(near):
        if not 1 <= line <= len(lines):
            continue
        if last and line > last + 1 and (before or after):
            yield Row("", "--")
        last = line
        yield Row(path, lines[line - 1][:LINE_WIDTH], line, line in hits)
