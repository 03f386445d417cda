"""The states, by subject: a function each, that brings a bench there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from ..bench import Bench, taken
from ..picture import Shot

Make = Callable[[Bench], Awaitable[None]]


class State(Struct, frozen=True):
    make: Make
    columns: int = 90
    rows: int = 30
    theme: str = "dark"
    environ: dict[str, str] = {}

    def shot(self) -> Shot:
        return taken(self.make, self.columns, self.rows, self.theme, self.environ)


STATES: dict[str, State] = {}


def state(
    *,
    columns: int = 90,
    rows: int = 30,
    theme: str = "dark",
    environ: dict[str, str] | None = None,
) -> Callable[[Make], Make]:
    """Named as the function is."""

    def add(make: Make) -> Make:
        name = make.__name__.replace("_", "-")
        assert name not in STATES, f"there are two states called {name}"
        STATES[name] = State(make, columns, rows, theme, environ or {})
        return make

    return add


def all_states() -> dict[str, State]:
    from . import asking, choosing, ended, looks, typing, working

    assert all((asking, choosing, ended, looks, typing, working))
    return dict(sorted(STATES.items()))
