"""Files are opened where they were judged: a link that is bent meanwhile leads nowhere else."""

from collections.abc import Mapping

from detent.ports import Host
from detent.types.effects import Effect, Reads, Writes


def places_of(effects: tuple[Effect, ...], host: Host) -> dict[str, str]:
    """Where each file that a call declares really is, now."""
    paths = [effect.path for effect in effects if isinstance(effect, Reads | Writes)]
    return {path: host.real(path) for path in paths}


def with_places(effects: tuple[Effect, ...], places: Mapping[str, str]) -> tuple[Effect, ...]:
    """With an effect of its own for each place that goes by another name: both are judged."""
    further = [
        type(effect)(places[effect.path])
        for effect in effects
        if isinstance(effect, Reads | Writes) and places[effect.path] != effect.path
    ]
    return (*effects, *further)
