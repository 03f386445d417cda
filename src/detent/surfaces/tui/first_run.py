"""The first five minutes: no model is known yet. One screen, one question."""

import asyncio
from contextlib import aclosing

from msgspec.structs import replace

from detent.sdk.interface import keep
from detent.sdk.keyless import keyless
from detent.sdk.keys import known_providers, provider_of_key, store_key
from detent.sdk.local_models import (
    INSTALL,
    PullFailed,
    embedded_state,
    look_for_servers,
    pull_embedded,
)
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.tui import header
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.dialogs.dialog import Dialog, Entry, Row
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.drawing.amounts import bar
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.seat import Seat
from detent.types.errors import BadInput

ABOUT = (
    "A coding agent for your terminal. It needs a model to think with, and no account.",
    "A key is kept in your keyring, or in a file that only you can read.",
)
TITLE = "No model is known yet. How shall Detent think?"
KEY, LOCAL, EMBEDDED, NONE = "key", "local", "embedded", "none"


class TextDialog(Dialog[str]):
    """A line of text; a key is not shown as it is typed or pasted."""

    is_all_entry = True

    def __init__(self, title: str, *, is_secret: bool = False) -> None:
        super().__init__()
        self.entry = Entry(f"{title} (esc: back)", is_secret=is_secret)

    def lines(self, look: Look, height: int) -> list[str]:
        return [look.theme.paint("strong", self.entry.title if self.entry else "")]

    def press(self, key: str) -> None:
        if key in ("escape", "ctrl+c"):
            self.resolve("")

    def give(self, text: str) -> None:
        self.entry = None
        self.resolve(text.strip())


async def choose(seat: Seat, options: Options) -> Options | None:
    """Options with a model; None when the person leaves."""
    paint = seat.stage.look.theme.paint
    seat.stage.show_lines([paint("heading", header.title()), *ABOUT, ""])
    while True:
        row = await seat.stage.ask(Listing(TITLE, await _rows()))
        if row is None:
            return None
        kind, what = row.value
        found = await _with_key(seat, options) if kind == KEY else options
        if kind == LOCAL:
            keep("model", what)
            found = replace(options, model=what)
        elif kind == EMBEDDED:
            found = await _embedded(seat, options)
        elif kind == NONE:
            seat.stage.show(Told("No model: commands work (/help), prompts do not."))
            found = keyless(options)
        if found is not None:
            return found


async def _rows() -> tuple[Row, ...]:
    """Servers that answer on this machine stand first: they need nothing more."""
    rows = [
        Row(f"Use {server.title} on {server.address}", model, (LOCAL, model))
        for server in await look_for_servers()
        for model in server.models[:3]
    ]
    rows.append(Row("Paste a key", "Anthropic, OpenAI, Gemini, OpenRouter …", (KEY, "")))
    about = {"ready": "small, offline, on this machine", "extra missing": f"first: {INSTALL}"}
    state = embedded_state()
    told = about.get(state, "small, offline; fetched once, 1.1 GB")
    rows.append(Row("Use the embedded model", told, (EMBEDDED, "")))
    rows.append(Row("Look around without a model", "commands work, prompts do not", (NONE, "")))
    return tuple(rows)


async def _with_key(seat: Seat, options: Options) -> Options | None:
    key = await seat.stage.ask(TextDialog("Paste a key and press enter", is_secret=True))
    if not key:
        return None
    provider = provider_of_key(key)
    if not provider:
        rows = tuple(Row(one.title, one.variable, one.name) for one in known_providers())
        row = await seat.stage.ask(Listing("Whose key is it?", rows))
        if row is None:
            return None
        provider = row.value
    try:
        place = await asyncio.to_thread(store_key, provider, key)
    except BadInput as error:
        seat.stage.show(Told(str(error), "error"))
        return None
    seat.stage.show(Told(f"The key for {provider} is kept in {place}."))
    return await _with_name(seat, provider, options)


async def _with_name(seat: Seat, provider: str, options: Options) -> Options | None:
    """Who sells models of many makers has no usual one: the person names it."""
    try:
        async with Session(replace(options, persist=False)):
            return options
    except BadInput:
        name = await seat.stage.ask(TextDialog(f"Which model of {provider}?"))
    if not name:
        return None
    model = f"{provider}/{name.removeprefix(f'{provider}/')}"
    keep("model", model)
    return replace(options, model=model)


async def _embedded(seat: Seat, options: Options) -> Options | None:
    state = embedded_state()
    if state == "extra missing":
        seat.stage.show(Told(f"The engine is not installed: {INSTALL}", "warning"))
        return None
    if state != "ready":
        seat.busy = "Fetching the model"
        try:
            async with aclosing(pull_embedded()) as steps:
                async for step in steps:
                    share = step.done / step.total if step.total else 0.0
                    seat.busy = f"Fetching the model {bar(share)} {share:.0%}"
                    seat.stage.touch()
        except (PullFailed, OSError) as error:
            seat.stage.show(Told(f"It could not be fetched: {error}", "error"))
            return None
        finally:
            seat.busy = ""
    return replace(options, model="embedded")
