"""What the settings say of making room in the window."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from detent.app.settings.values import Values, number, one_of, switch, table, texts, whole
from detent.context.shaping import ORDER, Stage
from detent.types.errors import BadInput

INSIDE = ("inputTokens", "keep", "order", "percent", "projected", "summariser", "tokens")
SUMMARISERS: tuple[Literal["model", "local"], ...] = ("model", "local")
GATES = {
    "HISTORY_SNIP": "snip_window",
    "CONTEXT_COLLAPSE": "collapse",
    "REACTIVE_COMPACT": "reactive",
    "streamingToolExecution": "streamingToolExecution",
}
"""Names that others gave to what can be switched off."""
FEATURES = {**{name.lower(): name for name in (*ORDER, "reactive", "streamingToolExecution")},
            **{gate.lower(): name for gate, name in GATES.items()}}  # fmt: skip


class CompactionWishes(Struct, frozen=True):
    """None is not said."""

    enabled: bool = True
    window: int | None = None
    percent: float | None = None
    tokens: int | None = None
    input_tokens: int | None = None
    keep: int | None = None
    summariser: Literal["model", "local", ""] = ""
    order: tuple[Stage, ...] | None = None
    is_projected: bool = False
    features: Mapping[str, bool] = {}
    """By our own names."""


def compaction_wishes(
    values: Values, name: str, old: CompactionWishes
) -> tuple[CompactionWishes, list[str]]:
    """And what is not known of it."""
    given, inside = table(values, "compaction", name), f"{name}: compaction"
    features, unknown = _features(values, name)
    unknown += [f"{inside}: unknown setting {key}" for key in given if key not in INSIDE]
    wishes = replace(
        old,
        enabled=switch(values, "autoCompactEnabled", name, old.enabled),
        window=whole(values, "autoCompactWindow", name, old.window),
        percent=_percent(given, inside, old.percent),
        tokens=whole(given, "tokens", inside, old.tokens),
        input_tokens=whole(given, "inputTokens", inside, old.input_tokens),
        keep=whole(given, "keep", inside, old.keep),
        summariser=one_of(given, "summariser", SUMMARISERS, inside) or old.summariser,
        order=_order(given, inside) if "order" in given else old.order,
        is_projected=switch(given, "projected", inside, old.is_projected),
        features={**old.features, **features},
    )
    return wishes, unknown


def _percent(given: Values, name: str, default: float | None) -> float | None:
    value = number(given, "percent", name, default)
    if value is not None and value > 100:
        raise BadInput(f"{name}: percent must lie between 0 and 100")
    return value


def _order(given: Values, name: str) -> tuple[Stage, ...]:
    """Each at most once; a stage that is not named does not run."""
    wanted = texts(given, "order", name)
    order = tuple(stage for word in wanted for stage in ORDER if stage == word)
    if len(order) != len(wanted) or len(set(order)) != len(order):
        raise BadInput(f"{name}: order names stages, each once: {', '.join(ORDER)}")
    return order


def _features(values: Values, name: str) -> tuple[dict[str, bool], list[str]]:
    given = table(values, "features", name)
    known = {feature: FEATURES.get(feature.lower(), "") for feature in given}
    found = {
        ours: switch(given, feature, f"{name}: features", True)
        for feature, ours in known.items()
        if ours
    }
    unknown = [
        f"{name}: features: unknown {feature}" for feature, ours in known.items() if not ours
    ]
    return found, unknown
