"""Asking the model for a summary: the request at hand and one message more, so that the provider
reads the conversation from its cache. A few tries; whatever goes wrong, the turn goes on."""

from collections.abc import Sequence

from detent.context.compact.summary import read_summary, render
from detent.context.pressure import widest
from detent.context.prompt import section
from detent.loop.kit import Kit
from detent.loop.limits import Tally, exceeded
from detent.loop.spending import Purse, lose, unanswered
from detent.loop.urgent import learn
from detent.types.content import Text, plain_text
from detent.types.deltas import Delta
from detent.types.errors import ModelFailure, Overdrawn
from detent.types.events import Compacted, Entry, Notice, Retrying, Switched
from detent.types.messages import Message, Reply, Request, User
from detent.types.running import Unanswered
from detent.types.usage import Usage

MOST_FAILURES = 3
MOST_OUTPUT, FEWEST_OUTPUT = 8_000, 1_500
INSTRUCTION_TOKENS = 600
WORTH_ANOTHER_TRY = ("invalid_response",)
"""Other failures have been tried again already, or will not pass."""
CALLED = "it called a tool instead"
NO_SUMMARY = "its answer was no summary"


class Told:
    """What came of asking."""

    def __init__(self, model: str) -> None:
        self.text = ""
        self.written = ""
        """The answer that the text was read from."""
        self.model = model
        self.usage = Usage()
        self.failures: list[str] = []


async def ask_for_summary(kit: Kit, tally: Tally, instructions: str) -> Told:
    """Without text when no summary is to be had; its `failures` say why."""
    told = Told(kit.model.name)
    purse = Purse(kit.account, kit.price, kit.emit, "compaction")

    async def hear(delta: Delta) -> None:
        """Nobody watches this answer come; but what befell the model is told."""
        if isinstance(delta, Switched | Notice | Retrying):
            await kit.emit(delta)

    while not told.text and len(told.failures) < MOST_FAILURES:
        if why := unaffordable(kit, tally):
            told.failures.append(why)
            break
        try:
            reply = await purse.ask(kit.model, _request(kit, instructions), hear)
        except ModelFailure as failure:
            told.failures.append(failure.message)
            if not isinstance(failure, Overdrawn):
                await kit.emit(unanswered(kit.model.name, failure))
            await learn(kit, failure)
            if failure.kind not in WORTH_ANOTHER_TRY or failure.exhausted:
                break
            continue
        told.text, fault = _read(reply)
        if fault:
            told.failures.append(fault)
            useless = Unanswered(
                model=reply.model, kind="no_summary", error=fault, usage=reply.usage
            )
            await lose(kit.emit, reply.model, reply.usage, "compaction")
            await kit.emit(useless)
        else:
            told.model, told.usage = reply.model, reply.usage
            told.written = plain_text(reply.content)
    return told


def unaffordable(kit: Kit, tally: Tally) -> str:
    """Why no summary can be asked for; empty when one can."""
    if spent := exceeded(kit.limits, kit.account, tally, kit.clock.elapsed()):
        return spent.message
    return "" if room_left(kit) >= FEWEST_OUTPUT else "the window has no room left for asking"


def room_left(kit: Kit) -> int:
    """Tokens of the window for the answer."""
    window = widest(kit.shaping, kit.model.window, kit.conversation.window)
    return window - kit.conversation.tokens() - INSTRUCTION_TOKENS


def has_given_up(entries: Sequence[Entry]) -> bool:
    """So many tries in a row that came to nothing: the session does without from then on."""
    failures = 0
    for entry in reversed(entries):
        if isinstance(entry, Compacted):
            if entry.by == "model":
                break
            failures += entry.failures
    return failures >= MOST_FAILURES


def _request(kit: Kit, instructions: str) -> Request:
    text = section("summary")
    if instructions.strip():
        text += f"\n\nThe user wants of it: {instructions.strip()}"
    return request_with(kit, text)


def request_with(kit: Kit, text: str) -> Request:
    """The request at hand, with one thing more to say."""
    most = min(MOST_OUTPUT, room_left(kit), kit.model.max_output or MOST_OUTPUT)
    return Request(kit.system, _with(kit.conversation.messages(), text), kit.toolbox.specs(), most)


def _with(messages: list[Message], text: str) -> list[Message]:
    last = messages[-1] if messages else None
    if isinstance(last, User):
        return [*messages[:-1], User((*last.content, Text(text)))]
    return [*messages, User((Text(text),))]


def _read(reply: Reply) -> tuple[str, str]:
    """The summary, or what is wrong with the answer. Its calls are never run."""
    said = plain_text(reply.content)
    if summary := read_summary(said):
        return render(summary), ""
    if reply.calls:
        return "", CALLED
    return "", NO_SUMMARY if said.strip() else "its answer was empty"
