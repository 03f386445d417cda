"""Files that a prompt names, put behind it: as Read shows them, and only what Read may open without
a question. The session has seen them then, as if they had been read."""

import os
import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from detent.app.approvers import DenyingApprover
from detent.app.engine import Engine
from detent.app.mentions.finding import Mention, Place, mentions
from detent.app.recorder import to_nobody
from detent.context.bounds import harmless_line
from detent.loop.passage import Passage, Prepared
from detent.loop.places import places_of, with_places
from detent.ports import Proposal
from detent.tools.files.neighbours import entries_of
from detent.tools.paths import absolute, shown
from detent.types.codec import encode
from detent.types.content import MENTIONED, Call, Text, UserBlock
from detent.types.effects import Effect, Reads
from detent.types.outcomes import Done, text_of
from detent.types.verdicts import Allow

MOST_FILES = 20
MOST_CHARACTERS = 150_000
"""Of all texts together."""
LISTED = 500
"""Names of a folder."""
LONGEST_NAME, LONGEST_REASON = 200, 300
_QUOTED = str.maketrans({'"': "'", "<": "(", ">": ")"})
_CLOSING = re.compile(r"<\s*/\s*mentioned", re.IGNORECASE)
TOO_MUCH = "there is no room for more; Read shows it"

Attached = tuple[tuple[UserBlock, ...], tuple[str, ...]]
"""Blocks, and why some files are not among them."""


class _Meant(Struct, frozen=True):
    """Something that is there."""

    mention: Mention
    place: Place
    path: str
    is_folder: bool


class _NotAttached(Exception):
    """With the reason."""


async def attached(engine: Engine, texts: Iterable[str], *, is_running: bool = False) -> Attached:
    """Never raises for what is wrong with a file."""
    if engine.tools.find("Read") is None:
        return (), ()
    found: dict[tuple[str, int, int], _Meant] = {}
    for mention in (mention for text in texts for mention in mentions(text)):
        if (meant := await _meant(engine, mention)) is not None:
            found.setdefault((meant.path, meant.place.first, meant.place.last), meant)
    if found and not is_running and _are_hooks(engine):
        engine.recorder.attach(to_nobody, lambda event: None)
        await engine.begin()  # what hooks leave in the log comes behind its beginning
    return await _read_all(engine, found.values())


async def _read_all(engine: Engine, meant: Iterable[_Meant]) -> Attached:
    blocks: list[UserBlock] = []
    notices: list[str] = []
    room = MOST_CHARACTERS
    for number, one in enumerate(meant):
        try:
            if number >= MOST_FILES or room <= 0:
                raise _NotAttached(TOO_MUCH)
            content = await _read(engine, one)
        except _NotAttached as error:
            name = harmless_line(one.mention.written, LONGEST_NAME)
            notices.append(f"{name} is not attached: {error}")
            continue
        room -= sum(len(block.text) for block in content if isinstance(block, Text))
        blocks += content
    return tuple(blocks), tuple(notices)


async def _meant(engine: Engine, mention: Mention) -> _Meant | None:
    """None where it names nothing: then it is a text as any other."""
    host, own = engine.shop.host, engine.grounds.own
    for place in mention.places:
        name = place.path
        if f"{name}/".startswith("~/"):
            name = os.path.join(own, name[2:])
        path = absolute(name, engine.cwd)
        try:
            facts = await host.facts(path)
        except (OSError, ValueError):
            continue
        if facts is not None and (facts.is_dir or not name.endswith("/")):
            return _Meant(mention, place, path, facts.is_dir)
    return None


async def _read(engine: Engine, meant: _Meant) -> tuple[UserBlock, ...]:
    """Judged as a Read of it, and by hooks as well; nobody is asked, and no model."""
    kit = replace(engine.kit, toolbox=engine.tools, approver=DenyingApprover())
    call = Call(kit.clock.new_id("mention"), "Read", _arguments(meant))
    effects: tuple[Effect, ...] = (Reads(meant.path),)
    effects = with_places(effects, places_of(effects, engine.shop.host))
    verdict = engine.gate.judge(Proposal(call, "Read", {}, effects, engine.cwd))
    if not isinstance(verdict, Allow):
        raise _NotAttached(_line(verdict.reason))
    passage = Passage(kit, call)
    prepared = await passage.prepare()
    if not isinstance(prepared, Prepared):
        raise _NotAttached(_line(text_of(prepared)))
    if meant.is_folder:
        return (Text(_told(meant, engine.cwd, await _listing(engine, meant.path))),)
    outcome = await passage.perform(prepared)
    if not isinstance(outcome, Done):
        raise _NotAttached(_line(text_of(outcome)))
    texts = "".join(block.text for block in outcome.content if isinstance(block, Text))
    others = tuple(block for block in outcome.content if not isinstance(block, Text))
    return (Text(_told(meant, engine.cwd, texts or "It follows.")), *others)


def _arguments(meant: _Meant) -> str:
    given: dict[str, str | int] = {"file_path": meant.path}
    if meant.place.first:
        lines = meant.place.last - meant.place.first + 1
        given |= {"offset": meant.place.first, "limit": lines}
    return encode(given).decode()


async def _listing(engine: Engine, folder: str) -> str:
    names = await entries_of(engine.shop.host, folder, LISTED + 1)
    more = ["... (find the others with Glob)"] if len(names) > LISTED else []
    return "\n".join([*names[:LISTED], *more]) or "(empty)"


def _told(meant: _Meant, cwd: str, text: str) -> str:
    """No file can end its own tag and go on in another's name."""
    kind = "folder" if meant.is_folder else "file"
    name = harmless_line(shown(meant.path, cwd), LONGEST_NAME).translate(_QUOTED)
    return f'{MENTIONED}{kind}="{name}">\n{_CLOSING.sub("< /mentioned", text)}\n</mentioned>'


def _line(text: str) -> str:
    return harmless_line(" ".join(text.split()), LONGEST_REASON)


def _are_hooks(engine: Engine) -> bool:
    return any(map(engine.gate.hears, ("before_call", "after_call", "permission_refused")))
