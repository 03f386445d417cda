"""What in a project's file takes trust, and digests by which a change is seen."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from detent.app.settings.strangers import RESTRICTING

_encode = msgspec.json.Encoder(order="sorted").encode


def relevant(values: Mapping[str, Any]) -> dict[str, Any]:
    """By name: everything but what can only restrict. A key nobody knows yet counts, too."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key == "permissions" and isinstance(value, dict):
            found |= {f"{key}.{k}": v for k, v in value.items() if k not in RESTRICTING}
        elif key == "mcpServers" and isinstance(value, dict):
            found |= {f"{key}.{name}": server for name, server in value.items()}
        elif key != "$schema":
            found[key] = value
    return {name: value for name, value in found.items() if value not in ({}, [], "", None)}


def digests(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: sha256(_encode(value)).hexdigest() for name, value in relevant(values).items()}


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k)))
