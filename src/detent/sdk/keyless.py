"""A session for what needs no model: it opens without a key, and asks nobody."""

from msgspec.structs import replace

from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.scales import Scales, scales_of

__all__ = ["is_keyless", "keyless"]


def keyless(options: Options) -> Options:
    """The same with a model that knows its limits and its wire, and cannot be asked."""
    grounds = grounds_of(options)
    scales = scales_of(options, grounds.settings, grounds.environ, None)
    return replace(options, model=scales, fallback_models=())


def is_keyless(options: Options) -> bool:
    return isinstance(options.model, Scales)
