"""What the prompt is made from: one frozen record, so that equal facts give equal bytes."""

from msgspec import Struct

from detent.context.prompt.access import Access


class Named(Struct, frozen=True):
    """Something a session has, and what the model should know of it in a line."""

    name: str
    about: str = ""


class Surroundings(Struct, frozen=True):
    """What a session runs in; gathered by the app, so that a replay can fix it."""

    cwd: str
    platform: str
    date: str
    """Of the day when the session was opened."""
    shell: str = ""
    folders: tuple[str, ...] = ()
    """Others that it works in."""

    @property
    def named(self) -> tuple[Named, ...]:
        lines = (
            Named("Working folder", self.cwd),
            Named("Other folders", ", ".join(self.folders)),
            Named("Platform", self.platform),
            Named("Shell", self.shell),
            Named("Date", self.date),
        )
        return tuple(line for line in lines if line.about)


class Style(Struct, frozen=True):
    """How it is to speak, in place of our own words on that."""

    name: str
    text: str
    keeps_coding: bool = False
    """How it works with code is said all the same."""


class Facts(Struct, frozen=True):
    around: Surroundings
    access: Access = Access()
    agents: tuple[Named, ...] = ()
    """Subagents that can be given work."""
    plugins: tuple[Named, ...] = ()
    servers: tuple[Named, ...] = ()
    """Of MCP."""
    remotes: tuple[Named, ...] = ()
    engines: tuple[Named, ...] = ()
    """Who searches the web."""
    accounts: tuple[Named, ...] = ()
    configuration: tuple[Named, ...] = ()
    workflows: tuple[Named, ...] = ()
    teams: tuple[Named, ...] = ()
    style: Style | None = None
    """None is the usual one."""

    @property
    def codes(self) -> bool:
        return self.style is None or self.style.keeps_coding

    def has(self, *tools: str) -> bool:
        """Whether one of them is offered."""
        return any(tool in self.access.tools for tool in tools)
