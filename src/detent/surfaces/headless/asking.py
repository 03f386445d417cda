"""`--on-ask stdio` outside stream-json: the question on stderr, the answer a line of stdin."""

from typing import Any

from detent.sdk.approval import Answer, Question
from detent.surfaces.headless.activity import tell
from detent.surfaces.headless.stdin import Lines

CHOOSING = "AskUserQuestion"
PLAN = "ExitPlanMode"


class LineApprover:
    def __init__(self) -> None:
        self._lines: Lines | None = None

    async def ask(self, question: Question) -> Answer:
        proposal = question.proposal
        if proposal.tool == CHOOSING:
            return await self._choose(proposal.arguments)
        if proposal.tool == PLAN:
            return await self._consent(f"The plan:\n{proposal.arguments['plan']}\nGo on? [y/N]")
        call = f"{proposal.tool} {proposal.call.arguments}"
        return await self._consent(f"{question.reason}\n  {call}\nRun it? [y/N]")

    async def _consent(self, text: str) -> Answer:
        tell(text)
        said = await self._line()
        if said.lower() in ("y", "yes"):
            return Answer(True, by="user")
        return Answer(False, said if said.lower() not in ("", "n", "no") else "", by="user")

    async def _choose(self, arguments: dict[str, Any]) -> Answer:
        """A line for each question: numbers of options, or words of one's own."""
        answers = {}
        for each in arguments["questions"]:
            tell(_menu(each))
            if said := await self._line():
                answers[each["question"]] = chosen(said, _labels(each))
        return Answer(True, arguments={**arguments, "answers": answers}, by="user")

    async def _line(self) -> str:
        self._lines = self._lines or Lines()
        line = await self._lines.next()
        return (line or b"").decode(errors="replace").strip()


def _labels(each: dict[str, Any]) -> list[str]:
    return [option["label"] for option in each["options"]]


def _menu(each: dict[str, Any]) -> str:
    lines = [each["question"]]
    for number, option in enumerate(each["options"], 1):
        lines.append(f"  {number}. {option['label']}: {option['description']}")
    several = "Numbers with commas" if each.get("multiSelect") else "A number"
    return "\n".join((*lines, f"{several}, or an answer of your own:"))


def chosen(said: str, labels: list[str]) -> str:
    """Numbers become labels; anything else is the answer as it stands."""
    words = [word.strip() for word in said.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= len(labels) for word in words):
        return said
    return ", ".join(labels[int(word) - 1] for word in words)
