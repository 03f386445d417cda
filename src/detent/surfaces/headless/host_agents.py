"""Agents that a host program defines when it introduces itself, and what it is told of all."""

from typing import Any

from msgspec.structs import replace

from detent.sdk.agents import agents_of
from detent.sdk.options import Options
from detent.types.errors import BadInput


def with_agents(options: Options, agents: Any) -> Options:
    """Raises BadInput for agents that cannot be read."""
    if not agents:
        return options
    if not isinstance(agents, dict):
        raise BadInput("agents must be an object: agents by name")
    options = replace(options, agents={**options.agents, **agents})
    agents_of(options)
    return options


def told_agents(options: Options) -> list[dict[str, str]]:
    """What else is wrong is told with the first prompt."""
    try:
        kinds = agents_of(options).kinds
    except BadInput:
        return []
    models = ({"model": kind.model} if kind.model else {} for kind in kinds)
    named = ({"name": kind.name, "description": kind.description} for kind in kinds)
    return [{**name, **model} for name, model in zip(named, models, strict=True)]
