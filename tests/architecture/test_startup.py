"""What a headless start imports: pinned, because every module is paid for in each run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.testing import script, serve

HEAVY = {
    "argparse", "bz2", "csv", "dataclasses", "difflib", "email", "fnmatch", "getpass", "gettext",
    "glob", "hashlib", "html", "http", "http.client", "httpx", "importlib.metadata", "json", "lzma",
    "multiprocessing", "optparse", "pathlib", "pickle", "pydantic", "random", "requests", "rich",
    "shlex", "shutil", "sqlite3", "tempfile", "tomllib", "tree_sitter", "unittest", "urllib",
    "urllib.parse", "urllib.request", "yaml", "zipfile",
}  # fmt: skip
"""Not here, for they cannot be avoided: what asyncio, ssl and msgspec import (logging, inspect,
subprocess, uuid, decimal, datetime)."""

USED = """
detent
detent.app agents agents.kinds agents.kinds.finding approvers clock desk durability engine \
equipping fittings gating grounds inbox journal models options places prompting recorder \
reminders settings settings.record settings.sources shaping surroundings toolbox wire wishes \
workshop
detent.context account bounds conversation media pressure project prompt prompt.access \
prompt.facts shaping tokens
detent.gate gate hooks paths terms
detent.http exchange transport
detent.loop calls form kit limits listener rest room spending stages step turn
detent.models assemble build catalog client credentials protocols \
protocols.anthropic_messages protocols.caching protocols.stops protocols.wire providers retry \
route sse watch
detent.ports delegation machine
detent.sdk approval channel interactive options session summary
detent.session log store
detent.surfaces arguments cli cli.flags cli.main headless headless.activity headless.exit_codes \
headless.result headless.signals headless.single headless.start headless.stdin headless.stdout \
headless.text lines lines.telling wishes wording wording.marks
detent.tools registry
detent.types agents budget codec content deltas durable effects errors events files messages \
outcomes running usage verdicts version
"""
"""In each line a package, and the modules of it that a run in text mode uses."""


def pinned() -> set[str]:
    found = set()
    for line in USED.strip().splitlines():
        package, *modules = line.split()
        found |= {package, *(f"{package}.{module}" for module in modules)}
    return found


def imported(*arguments: str, home: Path, **environ: str) -> tuple[set[str], str]:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", _MAIN, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(home), **environ},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in ran.stderr.splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip() for line in lines}, ran.stdout


_MAIN = "from detent.surfaces.cli.main import main; main()"


@pytest.fixture(scope="module")
def run_in_text_mode(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    home = tmp_path_factory.mktemp("home")
    with serve(script("hello there")) as server:
        keys = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        modules, output = imported("-p", "hi", home=home, **keys)
    assert output == "hello there\n"
    return modules


def test_nothing_heavy_is_imported(run_in_text_mode: set[str]) -> None:
    assert run_in_text_mode & HEAVY == set()


def test_exactly_the_pinned_modules_of_ours_are_imported(run_in_text_mode: set[str]) -> None:
    """A module that is new here must be worth its time in every run; then add it above."""
    ours = {name for name in run_in_text_mode if name.split(".")[0] == "detent"}
    assert ours - pinned() == set(), "imported, but not pinned"
    assert pinned() - ours == set(), "pinned, but no longer imported"


def test_the_list_of_heavy_ones_would_notice(tmp_path: Path) -> None:
    """The other way to look: what uses json is seen to import it."""
    script_file = tmp_path / "s.json"
    script_file.write_text('{"replies": ["hi"]}')
    modules, _ = imported("-p", "hi", "--model", f"scripted:{script_file}", home=tmp_path)
    assert {"json", "dataclasses"} <= modules & HEAVY


def test_the_version_costs_next_to_nothing(tmp_path: Path) -> None:
    modules, output = imported("--version", home=tmp_path)
    assert output.startswith("detent ")
    assert not modules & {"asyncio", "msgspec", "re", "typing", *HEAVY}
    ours = {name for name in modules if name.split(".")[0] == "detent"}
    assert ours <= {
        "detent", "detent.surfaces", "detent.surfaces.cli", "detent.surfaces.cli.main",
        "detent.types", "detent.types.version",
    }  # fmt: skip


def test_the_codec_is_imported_without_what_it_does_not_need() -> None:
    """In a process of its own; what was left out can still be imported by those who need it."""
    code = """if True:
        import sys
        from detent.surfaces.cli.main import _import_codec
        _import_codec()
        left_out = {"msgspec.inspect", "msgspec._json_schema", "platform", "typing_extensions"}
        print(left_out & set(sys.modules), "msgspec" in sys.modules)
        import msgspec
        print(msgspec.json.schema(int), msgspec.json.schema_components([int])[0])
        import msgspec.inspect, platform, typing_extensions, uuid
        print(msgspec.inspect.type_info(int) == msgspec.inspect.IntType())
        print(platform.python_version() != "", uuid._LINUX == (platform.system() == "Linux"))
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    integer = "{'type': 'integer'}"
    assert ran.stdout == f"set() True\n{integer} ({integer},)\nTrue\nTrue True\n"


def test_importing_the_package_loads_no_machinery(tmp_path: Path) -> None:
    code = "import sys, detent; print(*(n for n in sys.modules if n.startswith('detent.')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == {"detent.types", "detent.types.version"}
