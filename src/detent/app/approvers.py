"""Who answers "may I?" when no person can be asked, and when every answer is yes."""

from detent.ports import Answer, Approver, Question


def is_person(approver: Approver | None) -> bool:
    """Whether there is somebody to put a question to, more than whether a call may run."""
    return approver is not None and getattr(approver, "is_person", True)


class DenyingApprover:
    """Headless: nobody is there. The model is told and goes on."""

    is_person = False

    async def ask(self, question: Question) -> Answer:
        return Answer(False, "Nobody can be asked in this run.", by="nobody to ask")


class FailingApprover:
    """`--on-ask fail`: the first question ends the turn."""

    is_person = False

    async def ask(self, question: Question) -> Answer:
        text = "Nobody can be asked in this run, and it was told to stop at the first question."
        return Answer(False, text, interrupt=True, by="nobody to ask")


class ApprovingApprover:
    """Says yes to everything that may be asked; deny rules still hold."""

    is_person = False

    async def ask(self, question: Question) -> Answer:
        return Answer(True, by="auto-approver")
