"""The servers that are on this machine, as they are. Those that are not are skipped."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from detent.tools.language import work
from detent.tools.language.code import LanguageServers
from detent.tools.language.servers import LANGUAGES, Server

PATIENCE = 50.0
PYTHON = next(language for language in LANGUAGES if language.name == "python").servers
KNOW_PLACES = [server for server in PYTHON if server.name != "ruff"]
KNOW_FAULTS = [server for server in PYTHON if server.name != "pylsp"]
"""That one has linters only where they were installed with it."""


def command(server: Server) -> tuple[str, ...]:
    beside = str(Path(sys.executable).parent)
    found = shutil.which(server.argv[0], path=f"{os.environ['PATH']}{os.pathsep}{beside}")
    if found is None:
        pytest.skip(f"{server.argv[0]} is not on this machine")
    return (found, *server.argv[1:])


def at_work(lab: Any, server: Server, talk: Any) -> Any:
    async def whole() -> Any:
        code = lab.code({"python": command(server)})
        try:
            async with asyncio.timeout(PATIENCE):
                return await talk(code)
        finally:
            await code.aclose()
            await lab.host.aclose()

    return asyncio.run(whole())


@pytest.mark.parametrize("server", KNOW_FAULTS, ids=lambda server: server.name)
def test_an_edit_that_breaks_a_file(
    lab: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wait in ("AFTER_AN_EDIT", "BASELINE", "NEWS"):
        monkeypatch.setattr(work, wait, PATIENCE)
    path = lab.file("a.py", "x = 1\n")

    async def talk(code: LanguageServers) -> list[str]:
        texts = ("x = 1\n", "x = (\n", "x = (\ny = 2\n", "x = 3\n")
        return [await code.faults(path, *pair) for pair in pairwise(texts)]

    broken, _, mended = at_work(lab, server, talk)
    assert broken.startswith("New diagnostics in a.py:\n")
    assert mended == ""


@pytest.mark.parametrize("server", KNOW_PLACES, ids=lambda server: server.name)
def test_a_definition_in_another_file(lab: Any, server: Server) -> None:
    lab.file("a.py", "\n\ndef far() -> int:\n    return 1\n")
    path = lab.file("b.py", 'from a import far\n\nx = "😀"; far()\n')

    async def talk(code: LanguageServers) -> str:
        return await code.look("definition", path, 3, 0, "far")

    text = at_work(lab, server, talk)
    assert text == "Definition of `far` (b.py:3:10):\na.py:3:5  def far() -> int:"
