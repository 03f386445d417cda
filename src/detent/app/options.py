"""Everything a caller may set about a session, with defaults that work."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from detent.app.recorder import Observer
from detent.app.settings.sources import MANAGED
from detent.context.account import Account
from detent.gate.hooks import HookSet
from detent.loop.stages import Trace, no_trace
from detent.ports import Approver, Classifier, Clock, Host, Model, Tool, Toolbox
from detent.types.budget import Budget


class Options(Struct, frozen=True, kw_only=True):
    model: str | Model = ""
    """`PROVIDER/NAME`, an alias, `scripted:FILE`, or an object of your own."""
    fallback_models: tuple[str, ...] = ()
    """Tried in this order when the model cannot be had; each may be of another provider."""
    effort: str = ""
    """low, medium, high, xhigh or max; empty leaves it to the settings and the provider."""
    thinking_budget: int | None = None
    """Tokens for thinking; 0 is none at all, None leaves it to the settings and the provider."""
    betas: tuple[str, ...] = ()
    server_tools: Sequence[Mapping[str, Any]] = ()
    """Tools the provider runs itself, in its own notation."""
    json_schema: Mapping[str, Any] | None = None
    """The answer must be a value of this schema: `TurnEnded` carries it."""
    cwd: str = ""
    """Empty is the current folder."""
    add_dirs: tuple[str, ...] = ()

    tools: Sequence[str] | None = None
    """Names of the built-in tools to offer; None is all of them."""
    custom_tools: Sequence[Tool] = ()
    toolbox: Toolbox | None = None
    """Replaces every tool: the seam for a static executor."""
    plugin_dirs: tuple[str, ...] = ()

    agents: Mapping[str, Any] = {}
    """Agents by name: `description` and `prompt`, and what else their files may say."""
    agent: str = ""
    """The session runs as this agent: its prompt, tools, model and limits, where no other option
    says otherwise."""

    permission_mode: str = ""
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    approver: Approver | None = None
    """None denies whatever would have to be asked."""
    classifier: Classifier | None = None
    """Asked in mode `auto` about what no rule decides; None is the model that the settings name."""
    hooks: HookSet = HookSet()
    sandbox: str = ""
    """What holds commands: auto (the best that works), bwrap, landlock, or off; empty leaves it to
    the settings, and else to auto. One that is named and does not work is an error."""
    trust: bool = False
    """Honour what the project's own settings allow."""

    system_prompt: str | None = None
    append_system_prompt: str = ""
    override_system_prompt: str = ""

    max_turns: int | None = None
    """Most model requests in a turn. For all limits 0 is none, and None leaves it to the settings,
    or for a session that goes on to what it kept."""
    max_seconds: float | None = None
    """Of a turn."""
    max_tokens: int | None = None
    """Of the whole session, as the two that follow and all of `budget`."""
    max_tool_calls: int | None = None
    max_budget_usd: float | None = None
    budget: Budget = Budget()
    account: Account | None = None
    """Of another session, on which this one draws."""
    siblings: int = 1
    """How many sessions draw on that account, where it is shared equally."""
    max_agent_depth: int | None = None
    """Levels of subagents below the session; 0 is no bound, None leaves it to the settings."""
    usual_agent_depth: int | None = None
    """What counts when neither says anything."""
    waits_for_agents: bool = False
    """A turn does not end while subagents work in the background: it goes on with their news."""
    task_budget: int | None = None
    """Tokens that the model is told it has for all of its work. It may pass them."""
    max_output_tokens: int | None = None
    max_tool_concurrency: int | None = None
    """None is what the settings say, else 10; 1 is one after another."""
    raise_on_limit: bool = False
    on_budget: Literal["", "halt", "wrap_up"] = ""
    """What a spent budget does: end the turn, or allow one last answer without tools. Empty leaves
    it to the settings, and else it is `halt`."""
    auto_compact_input_tokens: int | None = None
    """Input tokens since the last compaction after which room is made; 0 is never. None leaves it
    to the environment and the settings (`compaction`), which also say at what size room is made."""

    session_id: str = ""
    resume: str = ""
    """A session: its id or the beginning of it, its name, or words that only it holds."""
    name: str = ""
    """What people call the session, from now on."""
    continue_newest: bool = False
    fork: bool = False
    resume_at: str = ""
    """The UUID of a message: of what comes after it nothing counts."""
    drops_turn: str | None = None
    """The UUID of the one prompt that may be lost by that."""
    persist: bool = True
    keep_background: bool | None = None
    """Background jobs outlive the session, and are found again when it goes on. None leaves it to
    the settings."""
    durability: Literal["", "process", "power"] = ""
    """What the log survives before anything depends on it: the end of the process, or a power cut.
    Empty leaves it to the settings, and else it is `process`."""
    allow_unsaved: bool = False
    """Calls with effects run also when the log cannot be written, and no record of them is kept."""

    settings: Mapping[str, Any] | str | None = None
    """Values, or the name of a file that holds them."""
    setting_sources: Sequence[str] = ("user", "project", "local")
    managed_folders: Sequence[str] = MANAGED
    """Where `managed-settings.json` of the machine is looked for."""
    environ: Mapping[str, str] | None = None
    """None is the process's own."""
    host: Host | None = None
    clock: Clock | None = None
    observers: Sequence[Observer] = ()
    trace: Trace = no_trace
    record: str = ""
    """A folder for the bytes that go to models and come from them."""
