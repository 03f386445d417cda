"""EnterPlanMode: from here on nothing is written until the user has approved a plan."""

from msgspec import Struct

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Effect
from detent.types.outcomes import Outcome, done

PLANNING = (
    "You are in plan mode now: read and search as much as you need, but change nothing. When you "
    "know what to do, call ExitPlanMode with the plan; the user decides."
)


class EnterPlanModeArgs(Struct, frozen=True):
    pass


class EnterPlanMode(TypedTool[EnterPlanModeArgs]):
    name = "EnterPlanMode"
    aliases = ("enter_plan_mode", "EnterPlanModeTool")
    args = EnterPlanModeArgs

    def effects(self, args: EnterPlanModeArgs, cwd: str) -> tuple[Effect, ...]:
        """None: a stricter mode needs nobody's permission."""
        return ()

    def moves(self, args: EnterPlanModeArgs) -> bool:
        return True

    async def act(self, args: EnterPlanModeArgs, desk: Desk) -> Outcome:
        await desk.shop.switch_mode("plan")
        return done(PLANNING, {"message": PLANNING})


TOOL = EnterPlanMode
