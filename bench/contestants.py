"""Who is measured: floors of our own, detent, and whatever peers are on PATH.

``{url}`` and ``{home}`` in arguments, environments and files are filled in at launch.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scenarios import SCENARIOS, Tool

FLOORS = Path(__file__).resolve().parent / "floors"
EVERYTHING = frozenset(SCENARIOS) - {"flood"}  # floors and peers would hold it all in memory
BASH = Tool()
MESSAGES_ENV = {
    "ANTHROPIC_API_KEY": "x",
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_MODEL": "claude-bench",
}
CHAT_ENV = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "gpt-bench"}


@dataclass(frozen=True)
class Contestant:
    name: str
    program: Sequence[str]
    arguments: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)
    wire: str = "messages"
    tool: Tool = BASH
    plays: frozenset[str] = EVERYTHING
    text_options: Sequence[str] = ()  # for the stream scenario, where a user reads plain text
    json_options: Sequence[str] = ()  # for all others
    files: dict[str, str] = field(default_factory=dict)  # configuration below the home
    only_starts: bool = False  # sends no request: its launch is its whole run
    keeps_log: bool = False  # a run without a session log does not count

    def launch(self, scenario: str, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
        def fill(text: str) -> str:
            return text.replace("{url}", url).replace("{home}", str(home))

        for name, content in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill(content))
        options = self.text_options if scenario == "stream" else self.json_options
        common = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
        env = {**common, **{key: fill(value) for key, value in self.env.items()}}
        return [fill(part) for part in [*self.program, *self.arguments, *options]], env


def python_floors(python: Path) -> list[Contestant]:
    """With ``-I``, and imported so that bytecode is cached: a floor should be low."""

    def client(module: str) -> list[str]:
        start = f"import sys; sys.path.insert(0, {str(FLOORS)!r}); import {module} as m; m.main()"
        return ["-I", "-c", start]

    program = [str(python)]
    bare = ["-I", "-c", "pass"]
    return [
        Contestant("floor-python", program, bare, plays=frozenset({"startup"}), only_starts=True),
        Contestant("floor-asyncio", program, client("asyncio_client"), MESSAGES_ENV),
        Contestant("floor-sync", program, client("sync_client"), MESSAGES_ENV),
    ]


def c_floor(binary: Path) -> Contestant:
    return Contestant("floor-c", [str(binary)], env=MESSAGES_ENV)


def curl_floor() -> list[Contestant]:
    """One process per request; only its start can be compared."""
    curl = shutil.which("curl")
    body = '{"model":"bench","stream":true,"tools":[],"messages":[]}'
    arguments = ["-sN", "-H", "Expect:", "-d", body, "{url}/v1/messages"]
    start_only = frozenset({"startup"})
    return [Contestant("floor-curl", [curl], arguments, plays=start_only)] if curl else []


def detents(command: Sequence[str]) -> list[Contestant]:
    # Budgets are on, so that what they cost is measured; none is reached.
    budgets = ["--max-tokens", "1000000000", "--max-tool-calls", "100000"]
    arguments = ["-p", "go", "--dangerously-skip-permissions", "--max-turns", "1000", *budgets]

    def detent(name: str, wire: str, env: dict[str, str]) -> Contestant:
        return Contestant(
            name,
            command,
            arguments,
            {"DETENT_HOME": "{home}/.detent", **env},
            wire,
            text_options=("--output-format", "text"),
            json_options=("--output-format", "json"),
            plays=frozenset(SCENARIOS),
            keeps_log=True,
        )

    return [
        detent("detent", "messages", MESSAGES_ENV),
        detent("detent-chat", "chat", CHAT_ENV),
    ]
