"""The models that can be had here, as people read them."""

from collections.abc import Iterator

from detent.sdk.local_models import INSTALL, AtHand
from detent.surfaces.tables.widths import one_line


def at_hand(found: AtHand, way: str = "--model") -> Iterator[str]:
    """`way` is how one is chosen where this is read."""
    yield "By key:"
    stored = (f"{name} (its key is stored)" for name in found.stored)
    yield from (f"  {name}" for name in (*found.keys, *stored) or ("(none is set)",))
    yield "Servers on this machine:"
    for server in found.servers:
        yield f"  {one_line(server.title)} on {server.address}"
        yield from (f"    {way} {one_line(model)}" for model in server.models)
    if not found.servers:
        yield "  (none answers)"
    yield f"Embedded: {found.title}, {found.licence}, {found.gigabytes:.1f} GB"
    yield f"  {_embedded(found, way)}"


def _embedded(found: AtHand, way: str) -> str:
    match found.embedded:
        case "ready":
            return f"ready: {way} embedded (small and offline; docs/local-models.md says what for)"
        case "not pulled":
            return "not pulled yet: detent models pull"
        case "damaged":
            return "damaged: detent models pull mends it"
        case "extra missing":
            return f"not installed: {INSTALL}, then detent models pull"
