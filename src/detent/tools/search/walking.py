"""The search without `rg`: slower, the same answers."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

from detent.ports import Desk
from detent.tools.files.texts import is_binary, lines_of
from detent.tools.paths import absolute, shown
from detent.tools.search.excludes import excludes, is_excluded
from detent.tools.search.findings import LINE_WIDTH, Findings, GrepArgs, Row
from detent.tools.search.patterns import matcher

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


async def search(args: GrepArgs, where: str, desk: Desk) -> Findings:
    if args.type and args.type not in TYPES:
        return Findings(fault=f"unknown type {args.type}; known: {', '.join(TYPES)}. Or use glob.")
    try:
        regex = re.compile(args.pattern, _flags(args))
    except re.error as error:
        return Findings(fault=f"the pattern is not valid: {error}")
    rows: list[Row] = []
    files = 0
    async for path in _candidates(args, absolute(where, desk.cwd), desk):
        files += 1
        if files > MOST_FILES or len(rows) > MOST_ROWS:
            return Findings(tuple(rows), note=f"stopped after {files - 1:,} files")
        text = await _text(desk, path)
        # In a thread: some patterns take very long on some texts, and the loop must not stand.
        rows += await asyncio.to_thread(_rows, regex, text, shown(path, desk.cwd), args)
    return Findings(tuple(rows))


def _flags(args: GrepArgs) -> re.RegexFlag:
    case = re.IGNORECASE if args.ignore_case else re.NOFLAG
    return case | (re.DOTALL | re.MULTILINE if args.multiline else re.NOFLAG)


async def _candidates(args: GrepArgs, root: str, desk: Desk) -> AsyncIterator[str]:
    facts = await desk.host.facts(root)
    if facts is not None and not facts.is_dir:
        yield root
        return
    pattern = args.glob if "/" in args.glob else f"**/{args.glob or '*'}"
    wanted = matcher(pattern.removeprefix("/")).fullmatch
    endings = tuple(f".{ending}" for ending in TYPES.get(args.type, "").split())
    skip = len(root.rstrip("/")) + 1
    hidden = excludes(desk)
    found = [
        facts.path
        async for facts in desk.host.walk(root)
        if not facts.is_dir
        and facts.size <= LARGEST
        and wanted(facts.path[skip:])
        and (not endings or facts.path.endswith(endings))
        and not is_excluded(facts.path, hidden)
    ]
    for path in sorted(found):
        yield path


async def _text(desk: Desk, path: str) -> str:
    try:
        data = await desk.host.read(path, LARGEST)
    except OSError:  # unreadable, or gone since
        return ""
    return "" if is_binary(data) else data.decode("utf-8", "surrogateescape")


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
    if args.multiline:
        line, seen = 1, 0
        for match in regex.finditer(text):
            line, seen = line + text.count("\n", seen, match.start()), match.start()
            yield line, match.group()
    else:
        for line, content in enumerate(lines_of(text), 1):
            for match in regex.finditer(content.removesuffix("\r")):
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
        yield Row(path, lines[line - 1].removesuffix("\r")[:LINE_WIDTH], line, line in hits)
