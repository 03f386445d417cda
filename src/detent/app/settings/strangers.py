"""What a file may say that lies in a project nobody has trusted: it may restrict, and no more."""

from msgspec.structs import replace

from detent.app.settings.record import Settings, Source

FOR_THE_USER = (
    "idleTimeout",
    "requestTimeout",
    "retryDelays",
    "retryLongestWait",
    "retryJitter",
    "maxToolConcurrency",
    "toolTimeouts",
    "toolGateOrder",
    "model",
    "fallbackModel",
    "effortLevel",
    "maxThinkingTokens",
)
"""Settings by which a project could make the user wait or pay, or decide who reads along."""
RUNS_OR_REDIRECTS = ("hooks", "env")
WIDENS = ("allow", "additionalDirectories", "defaultMode")
"""Of its permissions."""


def as_a_stranger(source: Source, old: Settings) -> tuple[Source, tuple[str, ...]]:
    """The source without what takes trust, and the line that says so."""
    values = dict(source.values)
    keys = (*FOR_THE_USER, *RUNS_OR_REDIRECTS)
    dropped = [key for key in keys if values.pop(key, None) not in (None, {}, [])]
    permissions = values.get("permissions")
    if isinstance(permissions, dict):
        wide = [key for key in WIDENS if permissions.get(key)]
        values["permissions"] = {k: v for k, v in permissions.items() if k not in WIDENS}
        dropped += [f"permissions.{key}" for key in wide]
    turns = values.get("maxTurns")
    if old.max_turns and isinstance(turns, int) and turns > old.max_turns:
        dropped.append("maxTurns")
        del values["maxTurns"]
    return replace(source, values=values), _note(source, dropped)


def _note(source: Source, dropped: list[str]) -> tuple[str, ...]:
    what = ", ".join(dropped)
    if source.doubt:
        lost = f"; ignored there: {what}" if what else ""
        return (f"{source.path} {source.doubt}, so others could have written it{lost}",)
    if source.changed:
        parts = ", ".join(source.changed)
        return (
            f"{source.path}: {parts} changed since you trusted it; ignored until you look at it "
            "(detent trust, or --trust for one run)",
        )
    if not dropped:
        return ()
    return (
        f"{source.path}: {what} ignored until you trust it (detent trust, or --trust for one run)",
    )
