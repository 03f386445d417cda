"""Agents that are always there. Their prompts stand in files beside this one."""

import os
from functools import cache

from detent.app.agents.kinds.finding import BUILT_IN
from detent.app.agents.kinds.record import GENERAL, AgentKind

LOOKING = ("Read", "Glob", "Grep", "LSP", "WebFetch", "WebSearch", "Bash")


@cache
def built_in() -> tuple[AgentKind, ...]:
    return (
        AgentKind(name=GENERAL, description=BUILT_IN[GENERAL]),
        _made("Explore", LOOKING, mode="plan", reads_only=True),
        _made("Plan", LOOKING, mode="plan", reads_only=True),
        _made("Verify", (*LOOKING, "TaskOutput", "TaskStop")),
    )


def _made(
    name: str, tools: tuple[str, ...], mode: str = "", *, reads_only: bool = False
) -> AgentKind:
    path = os.path.join(os.path.dirname(__file__), f"{name.lower()}.md")
    with open(path, encoding="utf-8") as file:
        prompt = file.read().strip()
    return AgentKind(
        name=name,
        description=BUILT_IN[name],
        prompt=prompt,
        tools=tools,
        mode=mode,
        reads_only=reads_only,
    )
