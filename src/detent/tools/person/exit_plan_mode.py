"""ExitPlanMode: the plan before the user; with their consent the work begins."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Asks, Effect
from detent.types.outcomes import Outcome, done

CHOICES = ("default", "acceptEdits")
"""The modes that the answer to a plan may ask for."""


class ExitPlanModeArgs(Struct, frozen=True):
    plan: Annotated[
        str,
        Meta(
            description="The plan in Markdown: what you will change, where, and how you will check "
            "it.",
            min_length=1,
        ),
    ]


class ExitPlanMode(TypedTool[ExitPlanModeArgs]):
    name = "ExitPlanMode"
    aliases = ("exit_plan_mode", "ExitPlanModeTool")
    args = ExitPlanModeArgs

    def effects(self, args: ExitPlanModeArgs, cwd: str) -> tuple[Effect, ...]:
        return (Asks(leaves="plan"),)

    def moves(self, args: ExitPlanModeArgs) -> bool:
        return True

    async def act(self, args: ExitPlanModeArgs, desk: Desk) -> Outcome:
        wanted = desk.answer.get("mode")
        mode = await desk.shop.switch_mode(wanted if wanted in CHOICES else "")
        text = f"The plan was approved. You are in {mode} mode now: go on."
        if "plan" in desk.answer:
            text += f"\nThe user has changed it; this is the plan to follow:\n\n{args.plan}"
        return done(text, {"plan": args.plan, "filePath": None})


TOOL = ExitPlanMode
