"""What `detent doctor` found, in lines: a mark for each check, and what to do about it."""

from collections.abc import Iterator, Sequence

from detent.sdk.doctor import Check, Health, Promised, SandboxHealth, State
from detent.surfaces.counting import counted
from detent.surfaces.wording.shown import visible

BACKENDS = ("bwrap", "landlock")
MARKS: dict[State, str] = {"ok": "✓", "warning": "!", "problem": "✗"}
WORDS: dict[State, str] = {"ok": "ok", "warning": "warning", "problem": "problem"}
NAME = 10


def lines(health: Health, *, plain: bool = False) -> list[str]:
    """Nothing in them that a terminal would obey. `plain` has words for marks: for a screen reader,
    or where marks cannot be shown."""
    return [*_head(health), *_checks(health.checks, plain=plain), *_sandbox(health), *_end(health)]


def _head(health: Health) -> Iterator[str]:
    yield f"detent {health.version}, Python {health.python}, {health.platform}"
    yield f"Folder: {visible(health.folder)} ({visible(_trust(health))})"
    if health.settings:
        yield "Settings:"
    for file in health.settings:
        yield f"  {file.level:<8} {visible(file.path)}"
    yield ""


def _trust(health: Health) -> str:
    if not health.is_trusted:
        return "not trusted"
    return f"trusted, but changed: {', '.join(health.changed)}" if health.changed else "trusted"


def _checks(checks: Sequence[Check], *, plain: bool) -> Iterator[str]:
    marks, arrow = (WORDS, "to do:") if plain else (MARKS, "→")
    width = max(map(len, marks.values()))
    indent = width + NAME + 2
    before = ""
    for check in checks:
        name = check.name if plain or check.name != before else ""
        before = check.name
        text = visible(check.text, indent=indent)
        yield f"{marks[check.state]:<{width}} {name:<{NAME}} {text}"
        if check.advice:
            yield f"{'':<{indent}}{arrow} {visible(check.advice, indent=indent)}"


def _sandbox(health: Health) -> Iterator[str]:
    sandbox = health.sandbox
    if sandbox is None:
        return
    yield ""
    yield f"Sandbox: {sandbox.chosen} (wanted: {sandbox.wanted}), profile {sandbox.profile}"
    untried = _untried(sandbox.promises)
    width = max((len(promised.text) for promised in sandbox.promises), default=0)
    yield f"  {'':<{width}}  " + "  ".join(f"{name:<8}" for name in BACKENDS).rstrip()
    for promised in sandbox.promises:
        marks = (f"{'held' if promised.held.get(name) else 'NOT':<8}" for name in BACKENDS)
        yield f"  {promised.text:<{width}}  " + "  ".join(marks).rstrip()
        for name, detail in promised.details.items():
            if name not in untried:
                yield f"    got through {name}: {visible(detail)}"
    for name, why in untried.items():
        yield f"  {name}: {visible(why)}"
    yield f"Hosts that commands may reach: {visible(_hosts(sandbox))}"
    if sandbox.hint:
        yield sandbox.hint


def _hosts(sandbox: SandboxHealth) -> str:
    hosts = ", ".join(sandbox.allowed_domains) or "none"
    but = f", but not {', '.join(sandbox.denied_domains)}" if sandbox.denied_domains else ""
    return hosts + but


def _untried(promises: tuple[Promised, ...]) -> dict[str, str]:
    """Why a backend could not be tried: that is said of every promise alike."""
    said = {name: {one.details.get(name, "") for one in promises} for name in BACKENDS}
    return {name: why.pop() for name, why in said.items() if len(why) == 1 and "" not in why}


def _end(health: Health) -> Iterator[str]:
    warnings = sum(check.state == "warning" for check in health.checks)
    yield ""
    for problem in health.problems:
        yield f"Problem: {visible(problem)}"
    if not health.problems:
        yield f"No problems, {counted(warnings, 'warning')}." if warnings else "All is well."
