"""How the conversation is to be shaped: from options, environment and settings, in this order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detent.app.options import Options
from detent.app.settings.record import Settings
from detent.context.shaping import Shaping

if TYPE_CHECKING:
    from detent.app.settings.compaction import CompactionWishes

VARIABLES = ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "DISABLE_AUTO_COMPACT", "DISABLE_COMPACT",
             "EXPERIMENTAL_FEATURES")  # fmt: skip
NO = ("", "0", "false", "no", "off")


def shaping_of(options: Options, settings: Settings, environ: Mapping[str, str]) -> Shaping:
    cumulative = options.auto_compact_input_tokens
    if cumulative is None:
        cumulative = _threshold(environ)
    wishes = settings.compaction
    if wishes is None and not any(map(environ.get, VARIABLES)):  # as nearly always
        return Shaping(cumulative=cumulative, reactive=settings.reactive_compact)
    return _wished(settings, wishes, environ, cumulative)


def starts_calls_early(settings: Settings, environ: Mapping[str, str]) -> bool:
    if settings.compaction is None and not environ.get("EXPERIMENTAL_FEATURES"):
        return settings.early_calls
    features = _features(settings.compaction, environ)
    return features.get("streamingToolExecution", settings.early_calls)


def _wished(
    settings: Settings,
    wishes: "CompactionWishes | None",
    environ: Mapping[str, str],
    cumulative: int | None,
) -> Shaping:
    from detent.app.settings.compaction import CompactionWishes
    from detent.context.shaping import KEEP, ORDER

    features = _features(wishes, environ)
    wishes = wishes or CompactionWishes()
    no_compaction = _says(environ, "DISABLE_COMPACT")
    percent = _percent(environ)
    if percent is None:
        percent = wishes.percent
    return Shaping(
        order=tuple(s for s in wishes.order or ORDER if features.get(s, True)),
        share=None if percent is None else percent / 100,
        tokens=wishes.tokens,
        cumulative=wishes.input_tokens if cumulative is None else cumulative,
        window=wishes.window or 0,
        is_projected=wishes.is_projected,
        is_automatic=wishes.enabled
        and not no_compaction
        and not _says(environ, "DISABLE_AUTO_COMPACT"),
        reactive=features.get("reactive", settings.reactive_compact) and not no_compaction,
        manual=not no_compaction,
        summariser=wishes.summariser or "model",
        keep=KEEP if wishes.keep is None else wishes.keep,
    )


def _threshold(environ: Mapping[str, str]) -> int | None:
    """A value that is no positive number counts as none."""
    text = environ.get("CLAUDE_CODE_AUTO_COMPACT_INPUT_TOKENS", "")
    return int(text) if text.isdecimal() and int(text) else None


def _percent(environ: Mapping[str, str]) -> float | None:
    try:
        percent = float(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
    except ValueError:
        return None
    return percent if 0 < percent <= 100 else None


def _says(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() not in NO


def _features(wishes: "CompactionWishes | None", environ: Mapping[str, str]) -> Mapping[str, bool]:
    """`NAME`, `-NAME` and `NAME=0`, with commas between them. What is not ours is passed over."""
    found = dict(wishes.features) if wishes is not None else {}
    text = environ.get("EXPERIMENTAL_FEATURES", "")
    if not text.strip():
        return found
    from detent.app.settings.compaction import FEATURES

    for word in text.split(","):
        name, _, value = word.strip().partition("=")
        is_on = not name.startswith("-") and (value.strip().lower() or "1") not in NO
        if ours := FEATURES.get(name.strip().removeprefix("-").lower()):
            found[ours] = is_on
    return found
