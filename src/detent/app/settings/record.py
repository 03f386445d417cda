"""Settings as data: what one file says, and what all of them come to."""

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from detent.gate.terms import Rule
from detent.models.catalog import ModelFacts, ProviderFacts

if TYPE_CHECKING:  # neither is needed before a file names one
    from detent.app.settings.budget import BudgetWishes
    from detent.app.settings.compaction import CompactionWishes
    from detent.app.settings.interface import InterfaceWishes
    from detent.app.settings.sandbox import SandboxWishes
    from detent.app.settings.undo import UndoWishes
    from detent.gate.hooks.entry import HookEntry


class Source(Struct, frozen=True):
    name: str
    """The level: managed, flag, local, project or user."""
    path: str
    values: dict[str, Any]
    is_project: bool
    """It lies in the project, so whoever wrote the project may have written it."""
    text: bytes = b""
    """As it stands in the file, for telling lines."""
    folder: str = ""
    """What `/p` in its rules is below."""
    is_trusted: bool = False
    """The user has agreed to what this file of a project asks for."""
    changed: tuple[str, ...] = ()
    """What in it is not as it was when the user agreed."""
    doubt: str = ""
    """Why it may not be the user's own, though it lies where only the user should write."""


class Settings(Struct, frozen=True):
    """The merged view: scalars of the strongest source, lists of all."""

    model: str = ""
    fallback_models: tuple[str, ...] = ()
    mode: str = ""
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    directories: tuple[str, ...] = ()
    no_bypass: bool = False
    """The mode bypassPermissions cannot be had, by whatever way."""
    managed_rules_only: bool = False
    """Only managed settings allow anything; what others deny or ask about still counts."""
    trusted_folders: tuple[str, ...] = ()
    hooks: "tuple[HookEntry, ...]" = ()
    without_hooks: frozenset[str] = frozenset()
    """Levels whose hooks do not run, whatever declares them."""
    sandbox: "SandboxWishes | None" = None
    auto_model: str = ""
    """Asked in mode `auto` about what no rule decides; empty: the mode is as `default`."""
    auto_guidance: tuple[str, ...] = ()
    """What the user wants it to know."""
    idle_timeout: float | None = None
    request_timeout: float | None = None
    retry_delays: tuple[float, ...] | None = None
    retry_longest_wait: float | None = None
    max_turns: int | None = None
    spending: "BudgetWishes | None" = None
    """What a session may spend, and what then."""
    stop_continuations: int | None = None
    """How often stop hooks may make one turn go on."""
    durability: Literal["", "process", "power"] = ""
    """What must be safe before anything depends on it: `Options.durability`."""
    early_calls: bool = True
    reactive_compact: bool = True
    compaction: "CompactionWishes | None" = None
    """None: no file speaks of it."""
    keep_background: bool = False
    """Background jobs outlive their session."""
    undo: "UndoWishes | None" = None
    """What is kept for undoing; None: no file speaks of it."""
    tells_git: bool = True
    """Whether the model is told what git says of the folder."""
    max_tool_concurrency: int | None = None
    max_agent_depth: int | None = None
    max_concurrent_agents: int | None = None
    subagent_model: str = ""
    tool_timeouts: dict[str, float] = {}
    gate_order: Literal["hooks_first", "permission_first"] = "hooks_first"
    tool_search: Literal["auto", "always", "never"] = "auto"
    """Whether tools from elsewhere are shown only when searched for."""
    lsp: dict[str, tuple[str, ...]] | None = {}
    """Commands of language servers by language or file ending; None: no server at all."""
    effort: str = ""
    thinking_budget: int | None = None
    replay_thinking: Literal["", "never", "tool_turns", "always"] = ""
    cache_ttl: Literal["5m", "1h"] = "5m"
    retry_jitter: float | None = None
    profile: str = ""
    key_helper: str = ""
    pass_env: tuple[str, ...] = ()
    """Variables with keys that child processes get all the same."""
    providers: dict[str, ProviderFacts] = {}
    models: dict[str, ModelFacts] = {}
    web_search: dict[str, Any] = {}
    may_reach: tuple[str, ...] = ()
    """Hosts of the web tools that need not be public."""
    memory_files: bool = True
    """Whether memory files are read at all."""
    memory_excludes: tuple[str, ...] = ()
    managed_memory: str = ""
    """Memory that stands in managed settings."""
    agents: tuple[Source, ...] = ()
    """Agents that files define, by name, weakest first."""
    agent: str = ""
    """The agent that a session runs as."""
    interface: "InterfaceWishes | None" = None
    """How the terminal looks and how the model speaks there; None: no file speaks of it."""
    is_stranger: bool = False
    """Something in the project's files takes a trust that nobody has given."""
    changed: tuple[str, ...] = ()
    """What in them is not as it was when the user trusted it."""
    notices: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    """What is worth a word to somebody who wants to know more."""
