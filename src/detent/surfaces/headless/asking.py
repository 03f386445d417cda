"""`--on-ask stdio` outside stream-json: the question on stderr, the answer a line of stdin."""

from detent.sdk.approval import Answer, Question
from detent.surfaces.headless.activity import tell
from detent.surfaces.headless.stdin import Lines


class LineApprover:
    def __init__(self) -> None:
        self._lines: Lines | None = None

    async def ask(self, question: Question) -> Answer:
        self._lines = self._lines or Lines()
        call = question.proposal.call
        tell(f"{question.reason}\n  {question.proposal.tool} {call.arguments}\nRun it? [y/N]")
        line = await self._lines.next()
        said = (line or b"").decode(errors="replace").strip()
        if said.lower() in ("y", "yes"):
            return Answer(True, by="user")
        reason = said if said.lower() not in ("", "n", "no") else ""
        return Answer(False, f"The user denied it. {reason}".strip(), by="user")
