"""`--on-ask stdio` outside stream-json: the question on stderr, the answer a line of stdin."""

from typing import Any, Literal

from detent.sdk.approval import Answer, Question
from detent.surfaces.headless.activity import tell
from detent.surfaces.headless.shown import visible
from detent.surfaces.headless.stdin import Lines
from detent.types.codec import encode

CHOOSING = "AskUserQuestion"
PLAN = "ExitPlanMode"
SCOPES: dict[str, Literal["session", "local", "project", "user"]] = {
    "s": "session",
    "l": "local",
    "p": "project",
    "u": "user",
}
ONCE = "Run it? y: this once. Anything else is no, and your words are the reason."
KEEP = (
    "Run it? y: this once. To keep a rule: s for this session, l for you in this project, "
    "p for the project, u for you everywhere; s2 keeps the second. Anything else is no, and your "
    "words are the reason."
)


class LineApprover:
    def __init__(self) -> None:
        self._lines: Lines | None = None

    async def ask(self, question: Question) -> Answer:
        proposal = question.proposal
        if proposal.tool == CHOOSING:
            return await self._choose(proposal.arguments)
        if proposal.tool == PLAN:
            plan = visible(proposal.arguments["plan"])
            return await self._consent(f"The plan:\n{plan}\nGo on? [y/N]", ())
        return await self._consent(asked(question), question.rules)

    async def _consent(self, text: str, rules: tuple[str, ...]) -> Answer:
        tell(text)
        return consent(await self._line(), rules)

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


def asked(question: Question) -> str:
    """Why it is asked, all of what would run and where, and the rules as they would be kept."""
    proposal = question.proposal
    arguments = dict(proposal.arguments)
    command = arguments.pop("command", None) if proposal.tool == "Bash" else None
    lines = [visible(question.reason)]
    if isinstance(command, str):
        lines.append(f"  {proposal.tool}: {visible(command, indent=4)}")
    if arguments or command is None:
        shown = visible(encode(arguments).decode(), indent=4)
        lines.append(f"  {proposal.tool} {shown}" if command is None else f"  with {shown}")
    if proposal.cwd:
        lines.append(f"  in {visible(proposal.cwd)}")
    if question.rules:
        lines.append("Rules that would permit it from now on:")
        lines += (f"  {n}. {visible(rule, 4)}" for n, rule in enumerate(question.rules, 1))
    return "\n".join((*lines, KEEP if question.rules else ONCE))


def consent(said: str, rules: tuple[str, ...]) -> Answer:
    """A letter that keeps a rule, with its number; what is not exactly that is a no."""
    word = said.lower()
    if word in ("y", "yes"):
        return Answer(True, by="user")
    letter, number = word[:1], word[1:] or "1"
    if letter in SCOPES and number.isdecimal() and 1 <= int(number) <= len(rules):
        return Answer(True, rules=(rules[int(number) - 1],), scope=SCOPES[letter], by="user")
    return Answer(False, said if word not in ("", "n", "no") else "", by="user")


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
