"""Lists to choose from."""

from __future__ import annotations

from detent.sdk.sessions import SessionCard
from detent.sdk.switching import Switch
from detent.sdk.undo import Point, Report, Rewinding, Touched
from detent.surfaces.commands import known, said
from detent.surfaces.tui import own_commands, picking
from detent.surfaces.tui.dialogs.sessions import SessionDialog
from detent.types.content import Text

from .. import story
from ..bench import FOLDER, NOON, Bench
from . import state

POINTS = (
    Point(1, 1, "explain how the cart is kept", NOON, 4),
    Point(2, 9, "why is the total of an empty cart 0.01?", NOON, 4),
    Point(3, 20, "make the totals right, with Decimal, and round half up as invoices do", NOON, 3),
    Point(4, 41, "format the sources", NOON, 0),
)


def with_past(bench: Bench) -> None:
    bench.session.prompts = POINTS
    files = tuple(Touched(f"{FOLDER}/{path}", "changed") for path in ("src/price.py", "README.md"))
    files = (*files, Touched(f"{FOLDER}/tests/test_empty.py", "removed"))
    report = Report("s", "undo", (3, 4), files, (), is_preview=True)
    bench.session.going_back = Rewinding(POINTS[2], "both", 12, report, is_preview=True)
    bench.session.entries = (story.prompt("x"),)
    bench.open()


@state()
async def rewind_list(bench: Bench) -> None:
    with_past(bench)
    bench.act("escape")
    bench.act("escape")
    await bench.press("up")


@state()
async def rewind_preview(bench: Bench) -> None:
    with_past(bench)
    bench.act("escape")
    bench.act("escape")
    await bench.press("up", "enter")


CARDS = (
    SessionCard("0199c0de1111", "p", FOLDER, NOON - 300, "make the totals right", 3, name="totals"),
    SessionCard("0199bead2222", "p", FOLDER, NOON - 90_000, "explain how the cart is kept", 1),
    SessionCard("0199abba3333", "p", FOLDER, NOON - 800_000,
                "why does the login page of the shop take four seconds when nobody is logged in?",
                12, state="interrupted"),
    SessionCard("0199cafe4444", "p", FOLDER, NOON - 900_000, "日本語の領収書を直して", 2),
)  # fmt: skip


@state()
async def resume_list(bench: Bench) -> None:
    bench.open()
    await bench.ask(SessionDialog(CARDS), "down")


@state()
async def resume_narrowed(bench: Bench) -> None:
    bench.open()
    await bench.ask(SessionDialog(CARDS), *"cart")


@state()
async def history_search(bench: Bench) -> None:
    bench.open()
    bench.act("search")
    await bench.press(*"cart")


@state()
async def model_switch(bench: Bench) -> None:
    async def look_at_switch(session: object, name: str) -> Switch:
        return Switch("claude-opus-4-1", 24_400, 0.366)

    bench.session.entries = (story.prompt("x"),)
    bench.replace(picking, "look_at_switch", look_at_switch)
    bench.open()
    await bench.begin(picking.model(bench.seat, bench.session, "opus"))  # type: ignore[arg-type]


@state()
async def theme_list(bench: Bench) -> None:
    bench.open()
    one = said((Text("/theme"),), own_commands.COMMANDS)
    assert one is not None and known(own_commands.COMMANDS)
    await bench.begin(own_commands.run(bench.seat, one), "down", "down")
