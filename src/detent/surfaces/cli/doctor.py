"""`detent doctor`: what works here, tried out."""

import asyncio

from detent.sdk.doctor import Health, Promised, SandboxHealth, examine
from detent.surfaces.arguments import Arguments
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.errors import BadInput

BACKENDS = ("bwrap", "landlock")


def doctor(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent doctor takes no words; not {' '.join(words)!r}")
    health = asyncio.run(examine(options_from(arguments)))
    if arguments.on("--json"):
        print(encode(health).decode())
    else:
        show(health)
    return 1 if health.problems else 0


def show(health: Health) -> None:
    print(f"detent {health.version}, Python {health.python}, {health.platform}")
    print(f"Folder: {visible(health.folder)} ({visible(_trust(health))})")
    print("Settings:")
    for file in health.settings:
        print(f"  {file.level:<8} {visible(file.path)}")
    if not health.settings:
        print("  (no file)")
    if health.sandbox is not None:
        _show_sandbox(health.sandbox)
    for notice in health.notices:
        print(f"Note: {visible(notice)}")
    for problem in health.problems:
        print(f"Problem: {visible(problem)}")


def _trust(health: Health) -> str:
    if not health.is_trusted:
        return "not trusted"
    return f"trusted, but changed: {', '.join(health.changed)}" if health.changed else "trusted"


def _show_sandbox(sandbox: SandboxHealth) -> None:
    print(f"Sandbox: {sandbox.chosen} (wanted: {sandbox.wanted}), profile {sandbox.profile}")
    untried = _untried(sandbox.promises)
    width = max(len(promised.text) for promised in sandbox.promises)
    print(f"  {'':<{width}}  " + "  ".join(f"{name:<8}" for name in BACKENDS).rstrip())
    for promised in sandbox.promises:
        marks = (f"{'held' if promised.held.get(name) else 'NOT':<8}" for name in BACKENDS)
        print(f"  {promised.text:<{width}}  " + "  ".join(marks).rstrip())
        for name, detail in promised.details.items():
            if name not in untried:
                print(f"    got through {name}: {visible(detail)}")
    for name, why in untried.items():
        print(f"  {name}: {visible(why)}")
    hosts = ", ".join(sandbox.allowed_domains) or "none"
    but = f", but not {', '.join(sandbox.denied_domains)}" if sandbox.denied_domains else ""
    print(f"Hosts that commands may reach: {visible(hosts + but)}")
    if sandbox.hint:
        print(sandbox.hint)


def _untried(promises: tuple[Promised, ...]) -> dict[str, str]:
    """Why a backend could not be tried: that is said of every promise alike."""
    said = {name: {one.details.get(name, "") for one in promises} for name in BACKENDS}
    return {name: why.pop() for name, why in said.items() if len(why) == 1 and "" not in why}
