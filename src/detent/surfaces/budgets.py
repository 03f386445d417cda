"""Budgets on the command line, and what a result tells of them."""

from math import ceil
from typing import Any

from msgspec import Struct

from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.types.budget import WHOLE, Budget, Spent, What
from detent.types.events import TurnEnded


class Named(Struct, frozen=True):
    flag: str
    key: str
    """In the result."""


NAMES: dict[What, Named] = {
    "tokens": Named("--max-tokens", "tokens"),
    "input": Named("--max-input-tokens", "input_tokens"),
    "output": Named("--max-output-tokens", "output_tokens"),
    "reasoning": Named("--max-reasoning-tokens", "reasoning_tokens"),
    "dollars": Named("--max-budget-usd", "usd"),
    "turns": Named("--max-session-turns", "session_turns"),
    "calls": Named("--max-tool-calls", "tool_calls"),
    "delegations": Named("--max-delegated-tasks", "delegated_tasks"),
    "requests": Named("--max-model-calls", "model_calls"),
    "seconds": Named("--max-session-time", "session_seconds"),
}


def budget_options(arguments: Arguments) -> dict[str, Any]:
    """0 or `none` lifts a limit that the session has kept."""
    limits: dict[str, Any] = {
        what: arguments.number(named.flag, whole=what in WHOLE) for what, named in NAMES.items()
    }
    given: dict[str, Any] = {
        "max_tokens": limits.pop("tokens"),
        "max_tool_calls": limits.pop("calls"),
        "max_budget_usd": limits.pop("dollars"),
        "budget": Budget(strict=_strict(arguments), **limits),
        "on_budget": arguments.value("--on-budget"),
        "task_budget": arguments.number("--task-budget", whole=True),
    }
    return given


def _strict(arguments: Arguments) -> bool | None:
    """`--strict-budget=false` lifts it."""
    if arguments.on("--strict-budget"):
        return True
    return False if "--strict-budget" in arguments.values else None


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
