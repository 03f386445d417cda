"""Mode `auto`: a model is asked about the calls that no rule decides.

It sees what the user has asked for and the call, never what tools have brought in: text from
outside must not speak to it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

from msgspec import Raw

from detent.context.prompt import section
from detent.loop.spending import Purse
from detent.ports import Clock, Model, Proposal
from detent.types.codec import arguments_object, encode
from detent.types.content import Text, own_words, plain_text
from detent.types.deltas import Delta
from detent.types.errors import BadInput, ModelFailure, NoModel
from detent.types.events import Classified, Entry, Prompted
from detent.types.messages import Reply, Request, User
from detent.types.verdicts import Allow, Ask, Deny, Verdict

Decision = Literal["allow", "ask", "deny"]
PROMPTS = 5
LONGEST_PROMPT = 2_000
LONGEST_CALL = 20_000
LONGEST_REASON = 300
SECONDS = 60.0
MOST_OUTPUT = 1_000
FORM = Raw(
    b'{"type":"object","additionalProperties":false,"required":["decision","reason"],"properties":'
    b'{"decision":{"enum":["allow","ask","deny"]},"reason":{"type":"string"}}}'
)


class ModelClassifier:
    """The model is opened with the first question; who never gets there pays nothing."""

    def __init__(
        self,
        open_model: Callable[[], Model],
        purse: Purse,
        entries: Callable[[], Sequence[Entry]],
        clock: Clock,
        guidance: Sequence[str] = (),
    ) -> None:
        self._open, self._purse = open_model, purse
        self._entries, self._clock = entries, clock
        self._guidance = guidance
        self._model: Model | None = None

    async def classify(self, proposal: Proposal, reason: str) -> Verdict:
        """An answer that did not come, or cannot be read, decides nothing."""
        begun, shown = self._clock.elapsed(), _shown(proposal)
        if len(shown) > LONGEST_CALL:  # what is not seen whole must not be allowed
            return Ask("classifier", f"{reason} It is too long for the classifier.")
        try:
            model = self._model = self._model or self._open()
            name = model.name
            async with asyncio.timeout(SECONDS):
                reply = await self._purse.ask(model, self._request(shown, reason), _unheard)
        except (ModelFailure, BadInput, NoModel, TimeoutError) as error:
            why = str(error) or f"no answer in {SECONDS:g} s"
            return Ask("classifier", f"{reason} The classifier could not be asked: {why}.")
        decision, why = _read(reply)
        await self._purse.emit(
            Classified(
                call_id=proposal.call.id,
                name=proposal.tool,
                model=reply.model,
                decision=decision,
                reason=why,
                usage=reply.usage,
                ms=round((self._clock.elapsed() - begun) * 1000),
            )
        )
        return _verdict(decision, f"classifier {name}", why, reason)

    def _request(self, shown: str, reason: str) -> Request:
        """All as JSON: no text in a call or the name of a folder looks like a part of its own."""
        system = "\n\n".join((section("classifier"), *self._guidance))
        parts = (
            f"# What the user asked for\n{_json(_prompts(self._entries()))}",
            f"# Why a question is due\n{_json(reason)}",
            f"# The call\n{shown}",
        )
        message = User((Text("\n\n".join(parts)),))
        return Request((system,), (message,), max_output=MOST_OUTPUT, form=FORM)

    async def aclose(self) -> None:
        if self._model is not None:
            await self._model.aclose()


def _prompts(entries: Sequence[Entry]) -> list[str]:
    said = [entry.content for entry in entries if isinstance(entry, Prompted)]
    return [_shortened("".join(own_words(content))) for content in said[-PROMPTS:]]


def _shortened(text: str) -> str:
    """Without its middle: what is wanted often stands behind what it is wanted for."""
    half = LONGEST_PROMPT // 2
    return text if len(text) <= LONGEST_PROMPT else f"{text[:half]} […] {text[-half:]}"


def _shown(proposal: Proposal) -> str:
    return _json({"folder": proposal.cwd, "tool": proposal.tool, "arguments": proposal.arguments})


def _json(value: Any) -> str:
    return encode(value).decode()


def _read(reply: Reply) -> tuple[Decision, str]:
    said = plain_text(reply.content)
    found: dict[str, Any] = arguments_object(said[said.find("{") : said.rfind("}") + 1]) or {}
    decision, reason = found.get("decision"), found.get("reason")
    if decision not in get_args(Decision):
        return "ask", "Its answer was no decision."
    return cast("Decision", decision), str(reason or "")[:LONGEST_REASON]


def _verdict(decision: Decision, source: str, why: str, reason: str) -> Verdict:
    if decision == "allow":
        return Allow(source, why)
    if decision == "deny":
        return Deny(source, why or "The classifier denied it.")
    return Ask(source, f"{reason} {why}".strip())


async def _unheard(delta: Delta) -> None:
    """Nobody watches this answer come."""
