"""The sandbox: every promise of every backend, tried anew, whatever is remembered."""

import asyncio

from msgspec import Struct

from detent.app.grounds import Grounds
from detent.sdk.health.record import Check
from detent.types.errors import BadInput

PATIENCE = 60.0
"""Seconds: each try is bounded by itself, and there are some twenty."""


class Promised(Struct, frozen=True):
    promise: str
    text: str
    held: dict[str, bool]
    """By backend: whether trying to break it has failed."""
    details: dict[str, str] = {}
    """By backend: what got through, or why it could not be tried."""


class SandboxHealth(Struct, frozen=True):
    wanted: str
    chosen: str
    """bwrap, landlock, or none."""
    profile: str
    promises: tuple[Promised, ...]
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    hint: str = ""
    """How to get a better one."""


async def look(grounds: Grounds | None) -> tuple[SandboxHealth | None, Check]:
    if grounds is None:
        return None, Check("sandbox", "warning", "not known: the settings cannot be read")
    try:
        async with asyncio.timeout(PATIENCE):
            health, trouble = await _tried(grounds)
    except TimeoutError:
        text = f"not known: trying it took longer than {PATIENCE:g} s"
        return None, Check("sandbox", "warning", text)
    except BadInput as error:
        return None, Check("sandbox", "problem", str(error))
    except OSError as error:
        return None, Check("sandbox", "warning", f"not known: {error}")
    return health, _check(health, trouble)


def _check(health: SandboxHealth, trouble: str) -> Check:
    if trouble:
        advice = health.hint or "detent doctor shows what got through"
        return Check("sandbox", "problem", trouble, advice)
    if health.chosen != "none":
        text = f"{health.chosen} holds commands, profile {health.profile}"
        return Check("sandbox", "ok", text)
    if health.wanted == "off":
        return Check("sandbox", "ok", "switched off: commands may do whatever you may")
    text = "none works here: commands may do whatever you may"
    return Check("sandbox", "warning", text, health.hint)


async def _tried(grounds: Grounds) -> tuple[SandboxHealth, str]:
    """And what is wrong with it."""
    from detent.app.sandboxing import wishes_of
    from detent.host.sandbox.choosing import ORDER, all_proven, hint
    from detent.host.sandbox.promises import PROMISES, Probe, holds, trouble

    wishes, probes = wishes_of(grounds), await all_proven()
    by: dict[str, tuple[Probe, ...]] = {
        backend: tuple(probe for probe in probes if probe.backend == backend) for backend in ORDER
    }
    wanted = wishes.backend
    candidates = ORDER if wanted == "auto" else () if wanted == "off" else (wanted,)
    working = [backend for backend in candidates if holds(by[backend])]
    health = SandboxHealth(
        wanted,
        working[0] if working else "none",
        wishes.profile,
        tuple(
            Promised(
                promise,
                text,
                {probe.backend: probe.held for probe in probes if probe.promise == promise},
                {p.backend: p.detail for p in probes if p.promise == promise and p.detail},
            )
            for promise, text in PROMISES.items()
        ),
        wishes.allowed_domains,
        wishes.denied_domains,
        hint(),
    )
    if working or not wishes.is_required:
        return health, ""
    reason = "; ".join(f"{backend}: {trouble(by[backend])}" for backend in candidates)
    return health, f"the sandbox that is asked for does not work: {reason}"
