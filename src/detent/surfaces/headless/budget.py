"""Budgets on the command line, and what a result tells of them."""

from math import ceil, isfinite
from typing import Any

from msgspec import Struct

from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.types.budget import Budget, Spent, What
from detent.types.errors import BadInput
from detent.types.events import TurnEnded


class Named(Struct, frozen=True):
    flag: str
    key: str
    """In the result."""
    is_whole: bool = True


NAMES: dict[What, Named] = {
    "tokens": Named("--max-tokens", "tokens"),
    "input": Named("--max-input-tokens", "input_tokens"),
    "output": Named("--max-output-tokens", "output_tokens"),
    "reasoning": Named("--max-reasoning-tokens", "reasoning_tokens"),
    "dollars": Named("--max-budget-usd", "usd", False),
    "turns": Named("--max-session-turns", "session_turns"),
    "calls": Named("--max-tool-calls", "tool_calls"),
    "delegations": Named("--max-delegated-tasks", "delegated_tasks"),
    "requests": Named("--max-model-calls", "model_calls"),
    "seconds": Named("--max-session-time", "session_seconds", False),
}


def budget_options(arguments: Arguments) -> dict[str, Any]:
    """0 or `none` lifts a limit that the session has kept."""
    limits: dict[str, Any] = {
        what: _limit(arguments, named.flag, is_whole=named.is_whole)
        for what, named in NAMES.items()
    }
    given: dict[str, Any] = {
        "max_tokens": limits.pop("tokens"),
        "max_tool_calls": limits.pop("calls"),
        "max_budget_usd": limits.pop("dollars"),
        "budget": Budget(strict=_strict(arguments), **limits),
        "on_budget": arguments.value("--on-budget"),
        "task_budget": _limit(arguments, "--task-budget", is_whole=True),
    }
    return given


def _strict(arguments: Arguments) -> bool | None:
    """`--strict-budget=false` lifts it."""
    if arguments.on("--strict-budget"):
        return True
    return False if "--strict-budget" in arguments.values else None


def _limit(arguments: Arguments, name: str, *, is_whole: bool) -> float | None:
    text = arguments.values.get(name)
    if text is None:
        return None
    if not text.strip():
        raise BadInput(f"{name} was given an empty value")
    try:
        value = 0.0 if text == "none" else float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise BadInput(f"{name} takes a number, not {text!r}")
    if value < 0:
        raise BadInput(f"{name} must not be negative")
    if is_whole and value != int(value):
        raise BadInput(f"{name} takes a whole number, not {text!r}")
    return int(value) if is_whole else value


def told(session: Session, ended: TurnEnded) -> dict[str, Any]:
    """What may be spent, was spent and is left: of the session, but for the turn's own `turns` and
    `seconds`."""
    options, spent = session.options, session.spent
    of_turn = {"turns": options.max_turns, "seconds": options.max_seconds}
    limits = {NAMES[what].key: most for what, most in session.budget.limits().items()}
    used: dict[str, Any] = {k.key: _rounded(spent.of(what)) for what, k in NAMES.items()}
    used["usd"] = _dollars(spent)
    found: dict[str, Any] = {
        "limits": {**{name: most for name, most in of_turn.items() if most}, **limits},
        "used": {"turns": len(ended.steps), "seconds": ended.ms / 1000, **used},
        "left": {NAMES[what].key: _rounded(rest) for what, rest in session.left().items()},
        "by": {name: _part(part) for name, part in session.spending().items()},
        "prices": session.prices_date,
    }
    if session.budget.strict:
        found["strict"] = True
    if spent.estimated:
        found["estimated"] = True
    if spent.unpriced:
        found["tokens_of_unknown_price"] = spent.unpriced
    if (task := session.task) is not None:
        remaining = task.total if task.remaining is None else task.remaining
        found["task"] = {"total": task.total, "remaining": remaining}
    if way := way_on(session, ended):
        found["go_on"] = way
    return found


def way_on(session: Session, ended: TurnEnded) -> str:
    """The command that goes on with more, where a limit of this session has ended the turn."""
    if not session.path or not ended.limit:
        return ""
    flag, most = _more(session, ended)
    return f'detent -p --resume {session.id} {flag} {most:.10g} "go on"' if most else ""


def _more(session: Session, ended: TurnEnded) -> tuple[str, float]:
    """The limit that was met, and one that leaves as much again as it was."""
    options, limits = session.options, session.budget.limits()
    if ended.limit == "steps":
        return "--max-turns", 2 * (options.max_turns or 0)
    if ended.limit == "seconds" and "seconds" not in limits:
        return "--max-time", 2 * (options.max_seconds or 0)
    what: What = ended.limit  # type: ignore[assignment]
    if what not in limits:  # of an account that the session draws on
        return "", 0
    more = limits[what] + max(session.spent.of(what), ended.needed)
    return NAMES[what].flag, more if what == "dollars" else ceil(more)


def _part(spent: Spent) -> dict[str, Any]:
    return {
        "tokens": spent.usage.total,
        "usd": _dollars(spent),
        "model_calls": spent.requests,
    }


def _dollars(spent: Spent) -> float | None:
    """A price that nobody knows is none, not 0."""
    return None if spent.unpriced else _rounded(spent.dollars)


def _rounded(amount: float) -> float:
    return amount if isinstance(amount, int) else round(amount, 8)
