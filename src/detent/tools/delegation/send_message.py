"""SendMessage: says something to another agent of the session."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.ports.delegation import CannotDelegate
from detent.tools.base import UNADVERTISED, TypedTool
from detent.types.effects import Effect
from detent.types.outcomes import Failed, Outcome, done


class SendMessageArgs(Struct, frozen=True):
    to: Annotated[
        str, Meta(description="Its id or name; a subagent also reaches parent, main.", min_length=1)
    ]
    message: Annotated[str, Meta(description="What it shall know or do.", min_length=1)]
    summary: Annotated[str, UNADVERTISED] = ""


class SendMessage(TypedTool[SendMessageArgs]):
    name = "SendMessage"
    aliases = ("send_message", "SendMessageTool")
    renames = (
        ("recipient", "to"),
        ("agent_id", "to"),
        ("agentId", "to"),
        ("content", "message"),
        ("text", "message"),
        ("prompt", "message"),
    )
    args = SendMessageArgs

    def effects(self, args: SendMessageArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: SendMessageArgs, desk: Desk) -> Outcome:
        agents = desk.shop.agents
        before = agents.find(args.to)
        try:
            record = await agents.send(args.to, args.message)
        except CannotDelegate as error:
            return Failed(f"SendMessage: {error}")
        who = record.name or record.agent
        if before is None or before.state == "running":
            text = f"{who} reads it before its next step."
        else:
            text = f"{who} had ended ({before.state}); it goes on with this in the background."
        return done(text, {"success": True, "message": text, "agentId": record.agent})


TOOL = SendMessage
