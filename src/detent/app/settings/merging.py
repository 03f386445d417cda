"""All sources into one: scalars of the strongest, lists of all.

A fault is named with its file, and never widens anything.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from detent.app.settings.for_the_user import (
    auto_mode,
    endpoints,
    language_servers,
    passed_variables,
    trusted_folders,
    web,
)
from detent.app.settings.known import INTERFACE, PROGRAMS, unknown_keys
from detent.app.settings.permissions import permissions_of
from detent.app.settings.record import Settings, Source
from detent.app.settings.strangers import as_a_stranger
from detent.app.settings.values import (
    delays,
    names,
    number,
    one_of,
    switch,
    table,
    text,
    texts,
    tool_seconds,
    whole,
)

if TYPE_CHECKING:
    from detent.app.settings.budget import BudgetWishes
    from detent.app.settings.compaction import CompactionWishes
    from detent.app.settings.interface import InterfaceWishes
    from detent.app.settings.sandbox import SandboxWishes
    from detent.app.settings.undo import UndoWishes
    from detent.gate.hooks.entry import HookEntry

REPLAYS: tuple[Literal["never", "tool_turns", "always"], ...] = ("never", "tool_turns", "always")
CACHE_TTLS: tuple[Literal["5m", "1h"], ...] = ("5m", "1h")
GATE_ORDERS: tuple[Literal["hooks_first", "permission_first"], ...] = (
    "hooks_first",
    "permission_first",
)
TOOL_SEARCHES: tuple[Literal["auto", "always", "never"], ...] = ("auto", "always", "never")
DURABILITIES: tuple[Literal["process", "power"], ...] = ("process", "power")
PROFILES: tuple[Literal["small", "full"], ...] = ("small", "full")


def merge_all(sources: Sequence[Source], *, trusted: bool) -> Settings:
    without_hooks = _without_hooks(sources)
    merged = Settings(
        managed_rules_only=_managed_say(sources, "allowManagedPermissionRulesOnly"),
        without_hooks=without_hooks,
    )
    for source in sources:
        hints = unknown_keys(source)
        is_trusted = not source.doubt and (trusted or source.is_trusted)
        notes: tuple[str, ...] = ()
        if source.is_project and not is_trusted:
            source, notes = as_a_stranger(source, merged)
        if source.name in without_hooks:
            source = replace(source, values=_without_programs(source.values))
        merged = replace(
            merged,
            is_stranger=merged.is_stranger or bool(notes),
            changed=(*merged.changed, *(f"{part} in {source.path}" for part in source.changed)),
            notices=(*merged.notices, *notes),
            hints=(*merged.hints, *hints),
        )
        merged = _merged(merged, source, is_trusted=is_trusted)
    return merged


def _merged(old: Settings, source: Source, *, is_trusted: bool) -> Settings:
    values, name = source.values, source.path
    permissions = permissions_of(source, old)
    model, of_model = _model(source)
    providers, models, helper, of_endpoints = endpoints(old, source)
    web_search, may_reach, of_web = web(old, source)
    lsp, of_lsp = language_servers(old, source)
    auto_model, auto_guidance, of_auto = auto_mode(old, source)
    mode, of_mode = _without_bypass(permissions.mode or old.mode, no=permissions.no_bypass)
    sandbox, of_sandbox = _sandbox(old, source, is_trusted=is_trusted)
    hooks, of_hooks = _hooks(source)
    spending, of_spending = _spending(old, source)
    compaction, unknown = _compaction(old, source)
    undo, of_undo = _undo(old, source)
    interface, of_interface = _interface(old, source)
    rest = (*of_endpoints, *of_web, *of_lsp, *of_auto, *of_sandbox, *of_hooks, *of_spending)
    notes = (*permissions.notices, *of_mode, *of_model, *rest)
    return replace(
        old,
        model=model or old.model,
        fallback_models=names(values, "fallbackModel", name) or old.fallback_models,
        mode=mode,
        no_bypass=permissions.no_bypass,
        allow=(*old.allow, *permissions.allow),
        ask=(*old.ask, *permissions.ask),
        deny=(*old.deny, *permissions.deny),
        directories=(*old.directories, *permissions.directories),
        trusted_folders=trusted_folders(old, source),
        hooks=(*old.hooks, *hooks),
        sandbox=sandbox,
        auto_model=auto_model,
        auto_guidance=auto_guidance,
        max_turns=whole(values, "maxTurns", name, old.max_turns),
        spending=spending,
        stop_continuations=whole(values, "maxStopContinuations", name, old.stop_continuations),
        early_calls=switch(values, "streamingToolExecution", name, old.early_calls),
        compaction=compaction,
        reactive_compact=switch(values, "reactiveCompact", name, old.reactive_compact),
        undo=undo,
        **_tools(old, source),
        lsp=lsp,
        **_thinking(old, source),
        **_patience(old, source),
        **_sessions(old, source),
        cache_ttl=one_of(values, "promptCacheTtl", CACHE_TTLS, name) or old.cache_ttl,
        profile=one_of(values, "profile", PROFILES, name) or old.profile,
        key_helper=helper,
        pass_env=passed_variables(old, source),
        providers=providers,
        models=models,
        web_search=web_search,
        may_reach=may_reach,
        **_reminders(old, source),
        **_delegation(old, source),
        interface=interface,
        notices=(*old.notices, *notes),
        hints=(*old.hints, *permissions.hints, *unknown, *of_undo, *of_interface),
    )


def _model(source: Source) -> tuple[str, tuple[str, ...]]:
    model = text(source.values, "model", source.path)
    if source.is_project and model.startswith("scripted:"):
        return "", (f"{source.path}: a scripted model is ignored; only you can choose one",)
    return model, ()


def _sessions(old: Settings, source: Source) -> dict[str, Any]:
    """A project may ask for more durability than the user does, not for less."""
    values, name = source.values, source.path
    wanted = one_of(values, "durability", DURABILITIES, name)
    counts = wanted and (wanted == "power" or not source.is_project)
    return {
        "durability": wanted if counts else old.durability,
        "keep_background": switch(values, "keepBackground", name, old.keep_background),
    }


def _patience(old: Settings, source: Source) -> dict[str, Any]:
    """With a provider that is slow, or fails."""
    values, name = source.values, source.path
    return {
        "idle_timeout": number(values, "idleTimeout", name, old.idle_timeout),
        "request_timeout": number(values, "requestTimeout", name, old.request_timeout),
        "retry_delays": delays(values, "retryDelays", name, old.retry_delays),
        "retry_longest_wait": number(values, "retryLongestWait", name, old.retry_longest_wait),
        "retry_jitter": number(values, "retryJitter", name, old.retry_jitter),
    }


def _tools(old: Settings, source: Source) -> dict[str, Any]:
    values, name = source.values, source.path
    most = old.max_tool_concurrency
    return {
        "max_tool_concurrency": whole(values, "maxToolConcurrency", name, most),
        "tool_timeouts": {**old.tool_timeouts, **tool_seconds(values, "toolTimeouts", name)},
        "gate_order": one_of(values, "toolGateOrder", GATE_ORDERS, name) or old.gate_order,
        "tool_search": one_of(values, "toolSearch", TOOL_SEARCHES, name) or old.tool_search,
    }


def _thinking(old: Settings, source: Source) -> dict[str, Any]:
    values, name = source.values, source.path
    return {
        "effort": text(values, "effortLevel", name) or old.effort,
        "thinking_budget": whole(values, "maxThinkingTokens", name, old.thinking_budget),
        "replay_thinking": one_of(values, "replayThinking", REPLAYS, name) or old.replay_thinking,
    }


def _reminders(old: Settings, source: Source) -> dict[str, Any]:
    """What the program tells the model; memory in settings is the organisation's alone."""
    values, name = source.values, source.path
    said = text(values, "claudeMd", name)
    is_managed = source.name == "managed" and not source.doubt
    return {
        "tells_git": switch(values, "includeGitInstructions", name, old.tells_git),
        "memory_files": switch(values, "memoryFiles", name, old.memory_files),
        "memory_excludes": (*old.memory_excludes, *texts(values, "claudeMdExcludes", name)),
        "managed_memory": said if is_managed and said else old.managed_memory,
    }


def _without_bypass(mode: str, *, no: bool) -> tuple[str, tuple[str, ...]]:
    if mode != "bypassPermissions" or not no:
        return mode, ()
    return "", ("mode bypassPermissions is ignored: disableBypassPermissionsMode is set",)


def _hooks(source: Source) -> "tuple[tuple[HookEntry, ...], list[str]]":
    if not source.values.get("hooks"):
        return (), []
    from detent.app.settings.hooks import declared_hooks, unread_keys

    hooks = declared_hooks(source.values, source.path)
    return hooks, unread_keys(source.values, source.path)


def _sandbox(
    old: Settings, source: Source, *, is_trusted: bool
) -> "tuple[SandboxWishes | None, tuple[str, ...]]":
    if "sandbox" not in source.values:
        return old.sandbox, ()
    from detent.app.settings.sandbox import SandboxWishes, sandbox_wishes

    return sandbox_wishes(
        source.values,
        source.path,
        old.sandbox or SandboxWishes(),
        is_project=source.is_project,
        trusted=is_trusted,
    )


def _compaction(old: Settings, source: Source) -> "tuple[CompactionWishes | None, list[str]]":
    if not {"autoCompactEnabled", "autoCompactWindow", "compaction", "features"} & set(
        source.values
    ):
        return old.compaction, []
    from detent.app.settings.compaction import CompactionWishes, compaction_wishes

    return compaction_wishes(source.values, source.path, old.compaction or CompactionWishes())


def _delegation(old: Settings, source: Source) -> dict[str, Any]:
    """Agents, and how many of them."""
    values, name = source.values, source.path
    most = old.max_concurrent_agents
    return {
        "agents": _agents(old, source),
        "agent": text(values, "agent", name) or old.agent,
        "max_agent_depth": whole(values, "maxAgentDepth", name, old.max_agent_depth),
        "max_concurrent_agents": whole(values, "maxConcurrentAgents", name, most),
        "subagent_model": text(values, "subagentModel", name) or old.subagent_model,
    }


def _agents(old: Settings, source: Source) -> tuple[Source, ...]:
    if "agents" not in source.values:
        return old.agents
    agents = table(source.values, "agents", source.path)
    for agent in agents:
        table(agents, agent, f"{source.path}: agents")
    return (*old.agents, replace(source, values=dict(agents), text=b""))


def _undo(old: Settings, source: Source) -> "tuple[UndoWishes | None, list[str]]":
    if "undo" not in source.values:
        return old.undo, []
    from detent.app.settings.undo import UndoWishes, undo_wishes

    return undo_wishes(source.values, source.path, old.undo or UndoWishes())


def _interface(old: Settings, source: Source) -> "tuple[InterfaceWishes | None, list[str]]":
    if INTERFACE.isdisjoint(source.values):
        return old.interface, []
    from detent.app.settings.interface import InterfaceWishes, interface_wishes

    return interface_wishes(source.values, source.path, old.interface or InterfaceWishes())


def _spending(old: Settings, source: Source) -> "tuple[BudgetWishes | None, tuple[str, ...]]":
    if "budget" not in source.values:
        return old.spending, ()
    from detent.app.settings.budget import BudgetWishes, budget_wishes

    before = old.spending or BudgetWishes()
    return budget_wishes(
        source.values,
        source.path,
        before,
        is_project=source.is_project,
        is_managed=source.name == "managed" and not source.doubt,
    )


def _without_programs(values: dict[str, Any]) -> dict[str, Any]:
    """Without hooks, and what else runs by itself."""
    return {key: value for key, value in values.items() if key not in PROGRAMS}


def _managed_say(sources: Sequence[Source], key: str) -> bool:
    return any(
        switch(source.values, key, source.path, False)
        for source in sources
        if source.name == "managed" and not source.doubt
    )


def _without_hooks(sources: Sequence[Source]) -> frozenset[str]:
    """Levels whose hooks do not run. A project cannot switch off those of others."""
    others = frozenset({"user", "project", "local", "flag"})
    if _managed_say(sources, "disableAllHooks"):
        return others | {"managed"}
    own = (source for source in sources if not source.is_project)
    disabled = any(switch(s.values, "disableAllHooks", s.path, False) for s in own)
    return others if disabled or _managed_say(sources, "allowManagedHooksOnly") else frozenset()
