"""An answer of a given form: the model hands it over by calling one tool, and then the turn ends.

The tool itself checks the value; here is only what its outcome means for the turn.
"""

from contextlib import suppress
from typing import Any

from msgspec import UNSET

from detent.loop.kit import Kit
from detent.loop.limits import MOST_FORM_TRIES, Halt, Tally
from detent.ports import BadArguments
from detent.types.content import plain_text
from detent.types.events import CallEnded, Reminded
from detent.types.messages import Reply
from detent.types.outcomes import Done, Outcome, text_of

HAND_OVER = "The turn is not over: give your final answer by calling {tool}."


def handed_over(kit: Kit, reply: Reply) -> Any:
    """The value of the last good call in this answer; UNSET when there is none.

    Some models write the value down instead of calling: if it fits, it is the answer.
    """
    if not reply.calls:
        return _written(kit, plain_text(reply.content).strip())
    for outcome in reversed(_outcomes(kit, reply)):
        if isinstance(outcome, Done) and outcome.data is not None:
            return outcome.data["structured_output"]
    return UNSET


def _written(kit: Kit, text: str) -> Any:
    tool = kit.toolbox.find(kit.form)
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if tool is None or not bare:
        return UNSET
    for arguments in (bare, f'{{"value": {bare}}}'):  # as it is, or as the tool may wrap it
        with suppress(BadArguments):
            return tool.parse(arguments)
    return UNSET


async def out_of_form(kit: Kit, tally: Tally, reply: Reply) -> Halt | None:
    """An answer without the value costs a try; None when the model gets another."""
    failed = [text_of(outcome) for outcome in _outcomes(kit, reply)]
    if reply.calls and not failed:
        return None  # still at work
    tally.form_tries += 1
    if tally.form_tries >= MOST_FORM_TRIES:
        why = f" The last one: {failed[-1]}" if failed else " The last one was not handed over."
        return Halt(
            "schema_mismatch", f"No answer fitted the schema in {MOST_FORM_TRIES} tries.{why}"
        )
    if not failed:
        await kit.emit(Reminded(text=HAND_OVER.format(tool=kit.form), source="form"))
    return None


def _outcomes(kit: Kit, reply: Reply) -> list[Outcome]:
    """How the calls of this answer that handed a value over ended, as the log has them."""
    calls = [call.id for call in reply.calls if call.name == kit.form]
    if not calls:
        return []
    ended = {e.call_id: e.outcome for e in kit.conversation.entries if isinstance(e, CallEnded)}
    return [ended[call_id] for call_id in calls if call_id in ended]
