"""Events of subagents, out of what their parents have wrapped them in."""

from detent.types.events import Event, Nested


def innermost(event: Event) -> tuple[str, Event]:
    """What happened, and the agent that it happened to; empty is the session itself."""
    agent = ""
    while isinstance(event, Nested):
        agent, event = event.agent, event.event
    return agent, event
