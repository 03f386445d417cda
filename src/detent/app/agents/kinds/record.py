"""What an agent is: its prompt, its tools, its model, and who says so."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

Source = Literal["managed", "flag", "project", "user", "plugin", "built-in"]

GENERAL = "general-purpose"


class AgentKind(Struct, frozen=True, kw_only=True):
    name: str
    description: str
    """When to use it."""
    prompt: str = ""
    """Empty: that of whoever starts it."""
    tools: tuple[str, ...] | None = None
    """Their real names; None: all that its parent has."""
    only: tuple[str, ...] = ()
    """Rules: of the tools that they name it has only what they cover, `Bash(git diff:*)`."""
    disallowed_tools: tuple[str, ...] = ()
    """Rules: names of tools, or `Bash(git push:*)`."""
    may_start: tuple[str, ...] | None = None
    """The kinds that it may start, where `Agent(a, b)` stands among its tools; None: any."""
    model: str = ""
    """Empty: that of its parent."""
    mode: str = ""
    """A permission mode; it may hold back more than that of its parent, never less."""
    reads_only: bool = False
    """Whatever rules and people permit: nothing but what is proven to only read, and the web."""
    max_turns: int = 0
    effort: str = ""
    background: bool = False
    isolation: Literal["", "worktree"] = ""
    color: str = ""
    initial_prompt: str = ""
    """Goes before the first prompt where a session runs as this agent."""
    skills: tuple[str, ...] = ()
    mcp_servers: tuple[Any, ...] = ()
    """As they stand in the file: names, or tables."""
    memory: Literal["", "user", "project", "local"] = ""
    hooks: Mapping[str, Any] = {}
    """As they stand in the file."""
    source: Source = "built-in"
    path: str = ""
    """The file; `--agents` where it came with the command line or a host."""

    def may_begin(self, other: "AgentKind") -> bool:
        """Whether it may give work to this one."""
        return self.may_start is None or key_of(other.name) in map(key_of, self.may_start)


def key_of(name: str) -> str:
    """By which names are the same: models do not keep to how we write them. As rules have it, which
    must not be got around by another spelling (`gate.rules.agent_key`)."""
    key = name.strip().casefold().replace("_", "-").replace(" ", "-")
    return GENERAL if key in ("", "general") else key


class Kinds:
    """Those that count, and those behind them that have the same name."""

    def __init__(
        self,
        strongest_first: Iterable[AgentKind],
        behind: Iterable[AgentKind] = (),
        notices: Iterable[str] = (),
    ) -> None:
        """Those `behind` never count."""
        self._by_key: dict[str, AgentKind] = {}
        shadowed: list[AgentKind] = []
        for kind in strongest_first:
            if self._by_key.setdefault(key_of(kind.name), kind) is not kind:
                shadowed.append(kind)
        self.shadowed = (*shadowed, *behind)
        self.notices = tuple(notices)

    def find(self, name: str) -> AgentKind | None:
        """Empty is the general one."""
        return self._by_key.get(key_of(name))

    def all(self) -> tuple[AgentKind, ...]:
        """Built-in ones first, the others by name: the same order in every run."""
        kinds = self._by_key.values()
        own = [kind for kind in kinds if kind.source == "built-in"]
        others = (kind for kind in kinds if kind.source != "built-in")
        return (*own, *sorted(others, key=lambda kind: key_of(kind.name)))

    def names(self) -> str:
        """For people and models who have named one that is not there."""
        return ", ".join(kind.name for kind in self.all())
