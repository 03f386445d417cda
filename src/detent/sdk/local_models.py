"""Which models can be had here: by key, from a server on this machine, or embedded."""

import os
from collections.abc import AsyncGenerator, Mapping
from typing import Literal

from msgspec import Struct

from detent.app.key_file import providers_kept
from detent.app.models import known_models
from detent.app.places import detent_home
from detent.app.settings.sources import load_sources, merge, where_of
from detent.models.discovery import Found, discover
from detent.models.embedded.engine import INSTALL, is_installed
from detent.models.embedded.pull import Progress, PullFailed, pull, remove
from detent.models.embedded.weights import QWEN, is_present, place_of

__all__ = [
    "INSTALL",
    "AtHand",
    "Embedded",
    "Found",
    "Progress",
    "PullFailed",
    "embedded_state",
    "look_for_models",
    "look_for_servers",
    "pull_embedded",
    "remove_embedded",
]

Embedded = Literal["ready", "not pulled", "damaged", "extra missing"]


class AtHand(Struct, frozen=True):
    keys: tuple[str, ...]
    """Names of the variables that are set, for keys and for addresses; never their values."""
    servers: tuple[Found, ...]
    embedded: Embedded
    stored: tuple[str, ...] = ()
    """Providers whose keys the user has given us to keep."""
    title: str = QWEN.title
    licence: str = QWEN.licence
    gigabytes: float = QWEN.size / 1e9

    @property
    def any(self) -> bool:
        return bool(self.keys or self.stored or self.servers) or self.embedded == "ready"


async def look_for_models(environ: Mapping[str, str] | None = None) -> AtHand:
    environ = os.environ if environ is None else environ
    servers = await discover(environ)
    return AtHand(_keys(environ), tuple(servers), _embedded(environ), providers_kept(environ))


async def models_to_choose(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Names for people to choose from: what servers here offer, the usual ones of those whose key
    there is, the embedded one. Others can be had by their names."""
    environ = os.environ if environ is None else environ
    found = await look_for_models(environ)
    known = known_models(
        merge(load_sources(where_of(os.getcwd(), environ), ("user",)), trusted=False)
    )
    names = [model for server in found.servers for model in server.models]
    for name, facts in known.providers.items():
        if name in found.stored or any(variable in found.keys for variable in facts.variables):
            aliased = (
                one for one in known.aliases.values() if one.startswith(facts.prefixes or "/")
            )
            names += (facts.model, *aliased)
    if found.embedded == "ready":
        names.append("embedded")
    return tuple(dict.fromkeys(filter(None, names)))


async def look_for_servers(environ: Mapping[str, str] | None = None) -> list[Found]:
    return await discover(os.environ if environ is None else environ)


def pull_embedded(environ: Mapping[str, str] | None = None) -> AsyncGenerator[Progress, None]:
    return pull(detent_home(os.environ if environ is None else environ))


def remove_embedded(environ: Mapping[str, str] | None = None) -> int:
    """How many bytes that freed."""
    return remove(detent_home(os.environ if environ is None else environ))


def _keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Of all providers that are known, the user's own included."""
    sources = load_sources(where_of(os.getcwd(), environ), ("user",))
    known = known_models(merge(sources, trusted=False))
    names = (
        name
        for facts in known.providers.values()
        for name in (*facts.key_from, *facts.token_from, *facts.base_url_from)
        if environ.get(name)
    )
    return tuple(dict.fromkeys(names))


def embedded_state(environ: Mapping[str, str] | None = None) -> Embedded:
    return _embedded(os.environ if environ is None else environ)


def _embedded(environ: Mapping[str, str]) -> Embedded:
    path = place_of(QWEN, detent_home(environ))
    if os.path.exists(path) and not is_present(QWEN, path):
        return "damaged"
    if not is_installed():
        return "extra missing"
    return "ready" if is_present(QWEN, path) else "not pulled"
