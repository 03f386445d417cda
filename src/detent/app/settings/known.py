"""The keys of settings that we know: our own, and those of the ecosystem's files."""

from collections.abc import Iterator

from detent.app.settings.record import Source

PROGRAMS = frozenset({"hooks", "statusLine", "fileSuggestion"})
"""What runs by itself: off where hooks are."""
INTERFACE = frozenset({
    "editorMode", "fileSuggestion", "outputStyle", "preferredNotifChannel", "prefersReducedMotion",
    "reducedMotion", "respectGitignore", "screenReader", "showThinkingSummaries",
    "spinnerTipsEnabled", "spinnerVerbs", "statusLine", "theme", "tui", "verbose",
})  # fmt: skip
"""Of the terminal."""
OURS = INTERFACE | frozenset({
    "agent", "agents", "allowManagedHooksOnly", "allowManagedPermissionRulesOnly", "apiKeyHelper",
    "autoCompactEnabled", "autoCompactWindow", "autoMode", "budget", "claudeMdExcludes",
    "compaction", "disableAllHooks", "durability", "effortLevel", "fallbackModel", "features",
    "hooks", "idleTimeout", "includeGitInstructions", "keepBackground", "lsp", "maxAgentDepth",
    "maxConcurrentAgents", "maxStopContinuations", "maxThinkingTokens", "maxToolConcurrency",
    "maxTurns", "memoryFiles", "model", "passEnv", "permissions", "profile", "promptCacheTtl",
    "providers", "reactiveCompact", "replayThinking", "requestTimeout", "retryDelays",
    "retryJitter", "retryLongestWait", "sandbox", "streamingToolExecution", "subagentModel",
    "toolGateOrder", "toolSearch", "toolTimeouts", "trustedFolders", "undo", "webFetch",
    "webSearch",
})  # fmt: skip
THEIRS = frozenset({
    "$schema", "advisorModel", "allowManagedMcpServersOnly", "allowedHttpHookUrls",
    "allowedMcpServers", "alwaysThinkingEnabled", "attribution",
    "autoMemoryDirectory", "autoMemoryEnabled", "autoUpdatesChannel",
    "availableModels", "awsAuthRefresh", "awsCredentialExport", "blockedMarketplaces",
    "claudeMd", "cleanupPeriodDays", "companyAnnouncements", "deniedMcpServers",
    "disableAutoMode", "disableBundledSkills", "disableSkillShellExecution",
    "disabledMcpjsonServers", "enableAllProjectMcpServers", "enabledMcpjsonServers",
    "enabledPlugins", "enforceAvailableModels", "env", "extraKnownMarketplaces", "fastMode",
    "fileCheckpointingEnabled", "forceLoginMethod", "forceLoginOrgUUID",
    "gcpAuthRefresh", "httpHookAllowedEnvVars", "includeCoAuthoredBy",
    "keybindingFlavor", "language", "mcpServers", "modelOverrides", "otelHeadersHelper",
    "plansDirectory", "pluginConfigs", "prUrlTemplate",
    "promptSuggestionEnabled",
    "skillListingBudgetFraction", "skillListingMaxDescChars", "skillOverrides",
    "skipDangerousModePermissionPrompt",
    "strictKnownMarketplaces", "subagentStatusLine", "switchModelsOnFlag", "teammateMode",
    "ultracode", "useAutoModeDuringPlan", "viewMode", "worktree",
})  # fmt: skip
"""Read by other programs, or by us in a later version: no mistakes."""

MOST_NAMED = 20
"""To look for what may have been meant takes its time."""


def unknown_keys(source: Source) -> Iterator[str]:
    """A line for each, with what may have been meant."""
    unknown = source.values.keys() - OURS - THEIRS
    if not unknown:
        return
    from difflib import get_close_matches

    for key in sorted(unknown)[:MOST_NAMED]:
        near = get_close_matches(key, OURS | THEIRS, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        yield f"{source.path}: unknown setting {key}{hint}"
    if len(unknown) > MOST_NAMED:
        yield f"{source.path}: {len(unknown) - MOST_NAMED:,} more settings are unknown"
