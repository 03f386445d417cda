"""Agents as a table, and one of them with all that is known of it."""

from collections.abc import Iterator

from detent.sdk.agents import AgentKind, Agents
from detent.surfaces.tables.widths import fitted, one_line, width_of
from detent.surfaces.wording.shown import visible

LONGEST_NAME = 32


def agent_lines(found: Agents, width: int) -> Iterator[str]:
    """In a terminal each but a notice fits into a line (a width of 0 is no limit)."""
    yield from (fitted(line, width) if width else line for line in _table(found))
    yield from (f"Note: {visible(text)}" for text in found.notices)


def _table(found: Agents) -> Iterator[str]:
    every = (*found.kinds, *found.shadowed)
    room = min(LONGEST_NAME, max(width_of(one_line(kind.name)) for kind in every))
    models = max(len("model"), *(width_of(one_line(_model(kind))) for kind in every))
    yield f"{'name':<{room}}  {'source':<8}  {'model':<{models}}  tools"
    for kind in found.kinds:
        yield _line(kind, room, models)
        yield f"  {one_line(kind.description)}"
    for kind in found.shadowed:
        yield _line(kind, room, models)
        which = f": {one_line(kind.path)}" if kind.path else ""
        yield f"  not used, there is another of this name{which}"


def _line(kind: AgentKind, room: int, models: int) -> str:
    name, model = fitted(one_line(kind.name), room), one_line(_model(kind))
    name += " " * (room - width_of(name))
    model += " " * (models - width_of(model))
    return f"{name}  {kind.source:<8}  {model}  {one_line(_tools(kind))}"


def _model(kind: AgentKind) -> str:
    return kind.model or "inherit"


def _tools(kind: AgentKind) -> str:
    tools = "all" if kind.tools is None else ", ".join(_parts(kind)) or "none"
    return (
        f"{tools}, but not {', '.join(kind.disallowed_tools)}" if kind.disallowed_tools else tools
    )


def _parts(kind: AgentKind) -> Iterator[str]:
    """Of a tool that it has in part: which."""
    for name in kind.tools or ():
        yield from [rule for rule in kind.only if rule.partition("(")[0] == name] or [name]


def told_in_full(kind: AgentKind) -> Iterator[str]:
    """What is not as usual, and the prompt."""
    facts = {
        "name": kind.name,
        "source": f"{kind.source}  {kind.path}".rstrip(),
        "description": kind.description,
        "model": _model(kind),
        "tools": _tools(kind),
        "may start": "" if kind.may_start is None else ", ".join(kind.may_start) or "none",
        "mode": kind.mode,
        "reads only": "yes" if kind.reads_only else "",
        "max turns": str(kind.max_turns or ""),
        "effort": kind.effort,
        "background": "yes" if kind.background else "",
        "isolation": kind.isolation,
        "memory": kind.memory,
        "skills": ", ".join(kind.skills),
        "hooks": ", ".join(kind.hooks),
        "servers": ", ".join(
            one if isinstance(one, str) else ", ".join(one) for one in kind.mcp_servers
        ),
        "first prompt": kind.initial_prompt,
    }
    for name, value in facts.items():
        if value:
            yield f"{name:<13} {visible(value, indent=14)}"
    yield ""
    yield visible(kind.prompt) if kind.prompt else "It has the prompt of whoever starts it."
