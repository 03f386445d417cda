"""Who answers "may I?" in the terminal: a dialog, one question at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from detent.sdk.approval import Answer, Question
from detent.surfaces.tui.blocks import Output, Told
from detent.surfaces.tui.dialogs.choosing import ChoosingDialog
from detent.surfaces.tui.dialogs.dialog import Dialog
from detent.surfaces.tui.dialogs.permission import PermissionDialog
from detent.surfaces.tui.dialogs.plan import PlanDialog
from detent.types.effects import Runs

if TYPE_CHECKING:
    from detent.sdk.permissions import Explanation
    from detent.sdk.session import Session
    from detent.surfaces.tui.stage import Stage

CHOOSING, PLAN = "AskUserQuestion", "ExitPlanMode"


class DialogApprover:
    def __init__(self, stage: "Stage", call: Callable[[str], Awaitable[None]]) -> None:
        """`call` makes the person look: somebody is waited for."""
        self._stage, self._call = stage, call
        self.session: Session | None = None
        """Once there is one: its gate says why a question came."""

    async def ask(self, question: Question) -> Answer:
        dialog = self._dialog(question)
        calling = asyncio.ensure_future(self._call(f"{question.proposal.tool} needs your answer"))
        try:
            return await self._stage.ask(dialog)
        finally:
            calling.cancel()

    def tell_kept(self, text: str) -> None:
        """After an answer that keeps a rule: what is kept, and where."""
        self._stage.show(Told(text))

    def _dialog(self, question: Question) -> Dialog[Answer]:
        proposal = question.proposal
        if proposal.tool == CHOOSING:
            return ChoosingDialog(proposal.arguments)
        if proposal.tool == PLAN:
            plan = str(proposal.arguments.get("plan", ""))
            self._stage.show(Output("", plan, is_markdown=True))
            return PlanDialog()
        return PermissionDialog(
            question,
            lambda: self._explain(question),
            self._reach(question),
            self._stage.show_lines,
        )

    def _reach(self, question: Question) -> str:
        """Of a command, what it could touch without being asked again."""
        from detent.sdk.standing import reach_of

        is_command = any(isinstance(effect, Runs) for effect in question.proposal.effects)
        return reach_of(self.session) if is_command and self.session is not None else ""

    def _explain(self, question: Question) -> "Explanation | None":
        """By the function that decides; what the rules say of this very call."""
        from detent.sdk.rules_in_force import explain_call_in

        proposal = question.proposal
        if self.session is None:
            return None
        return explain_call_in(self.session, proposal.tool, dict(proposal.arguments))
