"""What a file may say that lies in a project nobody has trusted: it may restrict, and no more."""

from typing import Any

from msgspec.structs import replace

from detent.app.settings.known import OURS
from detent.app.settings.record import Settings, Source

NEVER = frozenset(
    {"providers", "apiKeyHelper", "lsp", "webSearch", "webFetch", "passEnv", "trustedFolders",
     "disableAllHooks", "autoMode"}
)  # fmt: skip
"""No project sets them, trusted or not: whoever reads them says so."""
RESTRICTING = ("deny", "ask")
"""Of the permissions: these count without any trust."""
ELSEWHERE = (
    "env",
    *(f"permissions.{key}" for key in ("allow", "additionalDirectories", "defaultMode")),
)
"""What would do more than restrict and is no key of ours at the top."""
KEPT = NEVER | {"permissions", "sandbox", "maxTurns", "budget"}
"""Of these something may count. Nothing else does, a key of a later version included."""


def as_a_stranger(source: Source, old: Settings) -> tuple[Source, tuple[str, ...]]:
    """The source without what takes trust, and the line that says so."""
    values = {key: value for key, value in source.values.items() if key in KEPT}
    lost = {**source.values, **_widening(values)}
    turns = values.get("maxTurns")
    if old.max_turns and isinstance(turns, int | float) and not 1 <= turns <= old.max_turns:
        del values["maxTurns"]  # none is no limit at all
    dropped = [key for key in lost if key not in values and _asks(key, lost[key])]
    return replace(source, values=values), _note(source, dropped)


def _widening(values: dict[str, Any]) -> dict[str, Any]:
    """What the permissions say beside what restricts; it is taken out of them."""
    permissions = values.get("permissions")
    if not isinstance(permissions, dict):
        return {}
    values["permissions"] = {k: v for k, v in permissions.items() if k in RESTRICTING}
    return {f"permissions.{k}": v for k, v in permissions.items() if k not in RESTRICTING}


def _asks(key: str, value: Any) -> bool:
    """Whether it would have done anything."""
    return (key in OURS or key in ELSEWHERE) and value not in (None, {}, [], "")


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
