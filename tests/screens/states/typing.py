"""Before anything is said, and while it is written."""

from __future__ import annotations

from detent.sdk.local_models import Found
from detent.sdk.trust import Asking, Wish, WouldRun
from detent.surfaces.tui import first_run as first
from detent.surfaces.tui.dialogs.trusting import TrustDialog

from ..bench import FOLDER, HOME, Bench, settle
from . import state


@state()
async def start(bench: Bench) -> None:
    bench.open(tip=True)


@state()
async def first_run(bench: Bench) -> None:
    async def look_for_servers() -> list[Found]:
        return [Found("ollama", 11434, ("ollama/qwen3:8b", "ollama/gemma3:4b"))]

    bench.replace(first, "look_for_servers", look_for_servers)
    bench.replace(first, "embedded_state", lambda: "not pulled")
    await bench.begin(first.choose(bench.seat, bench.seat.options))


@state()
async def trust(bench: Bench) -> None:
    from detent.app.settings.sources import Where

    where = Where(FOLDER, FOLDER, f"{HOME}/.detent", f"{HOME}/.claude")
    settings = Asking(
        f"{FOLDER}/.claude/settings.json",
        (
            Wish("runs", "PostToolUse(Edit|Write): npx prettier --write ."),
            Wish("allows", "Bash(npm test:*)"),
            Wish("variable", "NODE_ENV=development"),
        ),
        {},
    )
    server = Asking(f"{FOLDER}/.mcp.json", (Wish("server", "db: npx db-mcp --rw"),), {})
    await bench.ask(TrustDialog(WouldRun(where, (settings, server))))


@state()
async def slash_menu(bench: Bench) -> None:
    bench.open()
    bench.type("/co")


@state()
async def slash_menu_all(bench: Bench) -> None:
    bench.open()
    bench.type("/")
    for _ in range(6):
        bench.act("down")


@state()
async def file_menu(bench: Bench) -> None:
    bench.open()
    bench.type("Why does @pri")
    await settle()
    bench.act("down")


@state(rows=42)
async def key_help(bench: Bench) -> None:
    bench.open()
    bench.act("keys")


@state()
async def several_lines(bench: Bench) -> None:
    bench.open()
    bench.type(
        "Please make the totals right:\n"
        "- a cart without lines costs nothing\n"
        "- amounts are rounded half up, in Decimal, as the accountants want it and as the tests "
        "of the invoices expect it too\n"
        "- [Pasted text #1: 48 lines] says how others do it\n"
    )


@state()
async def shell_line(bench: Bench) -> None:
    bench.open()
    bench.type("!git log --oneline -5", 4)


@state()
async def memory_line(bench: Bench) -> None:
    bench.open()
    bench.type("# amounts are Decimal, never float")


@state()
async def vim_keys(bench: Bench) -> None:
    bench.session.effort, bench.session.name = "high", "totals"
    bench.open()
    bench.seat.keyboard.vim = True
    bench.type("round half up")


@state()
async def twice_to_leave(bench: Bench) -> None:
    bench.session.mode = "acceptEdits"
    bench.open()
    bench.act("cancel")
