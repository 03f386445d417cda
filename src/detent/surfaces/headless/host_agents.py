"""Agents that a host program defines when it introduces itself, and what it is told of all, and of
output styles."""

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


def told_styles(options: Options) -> dict[str, Any]:
    """The one that is set, whether there is such a style or not, and all that there are."""
    from detent.sdk.interface import interface_of
    from detent.sdk.styles import styles

    try:
        chosen = interface_of(options).output_style
        names = [style.name for style in styles(options=options)]
    except BadInput:
        chosen, names = "", ["default"]
    return {"output_style": chosen or "default", "available_output_styles": names}
