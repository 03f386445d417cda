"""Tools that do nothing at all when they cannot write to their cache get one that they can."""

import os
from collections.abc import Collection, Mapping
from functools import lru_cache

from detent.host.sandbox.places import is_below

IN_CACHE = {"UV_CACHE_DIR": "uv", "GOCACHE": "go-build"}
IN_HOME = {"npm_config_cache": ".npm"}


def cache_variables(
    env: Mapping[str, str], writable: Collection[str], temporary: str
) -> Mapping[str, str]:
    """Only for those whose own lies where nothing may be written."""
    home = env.get("HOME", "")
    cache = env.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    usual = {name: os.path.join(cache, place) for name, place in IN_CACHE.items()}
    usual |= {name: os.path.join(home, place) for name, place in IN_HOME.items()}
    places = tuple((name, env.get(name) or place) for name, place in usual.items())
    return _moved(places, tuple(writable), temporary)


@lru_cache(maxsize=8)  # every command asks the same
def _moved(
    places: tuple[tuple[str, str], ...], writable: tuple[str, ...], temporary: str
) -> Mapping[str, str]:
    return {
        name: os.path.join(temporary, "caches", name.lower())
        for name, place in places
        if not any(is_below(os.path.realpath(place), folder) for folder in writable)
    }
