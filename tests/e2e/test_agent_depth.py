"""How deep agents may start agents: five levels on the command line, unless the settings differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Runner

DOWN = call("Agent", description="further", prompt="SCENARIO:down")


@pytest.mark.parametrize(("settings", "deepest"), [({}, 5), ({"maxAgentDepth": 2}, 2)])
def test_the_command_line_has_a_bound(
    runner: Runner, settings: dict[str, Any], deepest: int
) -> None:
    runner.state.mkdir(exist_ok=True)
    (runner.state / "settings.json").write_text(json.dumps(settings))
    runner.serve(scenarios={"down": [reply(DOWN), "up"]}, pick="by_turn")
    ran = runner.prompt("SCENARIO:down")
    assert (ran.code, ran.result["result"]) == (0, "up"), ran
    (log,) = runner.logs
    logs = [path.read_text().splitlines()[0] for path in (log.with_suffix("") / "agents").iterdir()]
    depths = sorted(json.loads(line)["lineage"].get("depth", 1) for line in logs)
    assert depths == list(range(1, deepest + 1))
