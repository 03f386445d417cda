"""`--on-ask stdio` outside stream-json: the question on stderr, the answer a line of stdin."""

import asyncio
import os
import re
from typing import Any, Literal

from detent.sdk.approval import Answer, Question
from detent.surfaces.lines.reading import Lines
from detent.surfaces.lines.telling import tell
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode

CHOOSING = "AskUserQuestion"
PLAN = "ExitPlanMode"
SCOPES: dict[str, Literal["session", "local", "project", "user"]] = {
    "s": "session",
    "l": "local",
    "p": "project",
    "u": "user",
}
LONGEST = 10_000
"""Bytes of an answer."""
ONCE = "Run it? y: this once. Anything else is no, and your words are the reason."
KEEP = (
    "Run it? y: this once. To keep a rule: s for this session, l for you in this project, "
    "p for the project, u for you everywhere; s2 keeps the second. Anything else is no, and your "
    "words are the reason."
)


class LineApprover:
    """One question at a time: a line must not answer another one than the person has read."""

    def __init__(self, lines: Lines | None = None) -> None:
        """Reads stdin from the first question on, unless somebody does so already."""
        self._lines = lines
        self._turn = asyncio.Lock()
        self._was_withdrawn = False

    async def ask(self, question: Question) -> Answer:
        async with self._turn:
            try:
                return await self._put(question)
            except asyncio.CancelledError:
                self._was_withdrawn = True
                if question.agent:
                    tell(f"The subagent {visible(question.agent)} no longer asks.")
                raise

    async def _put(self, question: Question) -> Answer:
        if self._was_withdrawn and self._lines is not None and os.isatty(0):
            self._lines.drop()  # what was typed too late is no answer to this one
        self._was_withdrawn = False
        proposal = question.proposal
        if proposal.tool == CHOOSING:
            return await self._choose(proposal.arguments)
        if proposal.tool == PLAN:
            plan = visible(proposal.arguments["plan"])
            return await self._consent(f"The plan:\n{plan}\nGo on? [y/N]", ())
        return await self._consent(asked(question), question.rules)

    def tell_kept(self, text: str) -> None:
        """After an answer that keeps a rule: what is kept, and where."""
        tell(visible(text))

    async def _consent(self, text: str, rules: tuple[str, ...]) -> Answer:
        tell(text)
        said = await self._line()
        if said is not None and is_slip(said, rules):
            tell(f"There is no rule {visible(said)[:20]!r} to keep. Once more: {_ways(rules)}")
            said = await self._line()
        if said is None:
            return Answer(False, "Nobody answered: stdin has ended.", by="nobody to ask")
        return consent(said, rules)

    async def _choose(self, arguments: dict[str, Any]) -> Answer:
        """A line for each question: numbers of options, or words of one's own."""
        answers = {}
        for each in arguments["questions"]:
            tell(_menu(each))
            if said := await self._line():
                answers[each["question"]] = chosen(said, _labels(each))
        return Answer(True, arguments={**arguments, "answers": answers}, by="user")

    async def _line(self) -> str | None:
        """None at the end of input."""
        self._lines = self._lines or Lines()
        line = await self._lines.next()
        return None if line is None else line[:LONGEST].decode(errors="replace").strip()


def asked(question: Question) -> str:
    """Why it is asked, all of what would run and where, and the rules as they would be kept."""
    who = f"The subagent {visible(question.agent)} wants to run this. " if question.agent else ""
    lines = [f"{who}{visible(question.reason)}", *_call(question)]
    if question.proposal.cwd:
        lines.append(f"  in {visible(question.proposal.cwd)}")
    if question.rules:
        lines.append("Rules that would permit it from now on:")
        lines += (f"  {n}. {visible(rule, 4)}" for n, rule in enumerate(question.rules, 1))
    return "\n".join((*lines, _ways(question.rules)))


def _call(question: Question) -> list[str]:
    """A command as it is, an edit as what it changes, all else as data."""
    tool, arguments = question.proposal.tool, dict(question.proposal.arguments)
    if tool == "Bash" and isinstance(arguments.get("command"), str):
        command = arguments.pop("command")
        further = [f"  with {_data(arguments)}"] if arguments else []
        return [f"  {tool}: {visible(command, indent=4)}", *further]
    from detent.surfaces.wording.change import change_lines

    change, rest = change_lines(tool, arguments)
    return [f"  {tool} {_data(rest)}", *(f"    {line}" for line in change)]


def _data(arguments: dict[str, Any]) -> str:
    return visible(encode(arguments).decode(), indent=4)


def _ways(rules: tuple[str, ...]) -> str:
    return KEEP if rules else ONCE


def is_slip(said: str, rules: tuple[str, ...]) -> bool:
    """It would keep a rule, but none of those that are offered."""
    meant = re.fullmatch(r"[slpu](\d*)", said.lower())
    return meant is not None and (meant[1] or "1") not in map(str, range(1, len(rules) + 1))


def consent(said: str, rules: tuple[str, ...]) -> Answer:
    """A letter that keeps a rule, with its number; what is not exactly that is a no."""
    word = said.lower()
    if word in ("y", "yes"):
        return Answer(True, by="user")
    numbered = {str(number): rule for number, rule in enumerate(rules, 1)}
    scope, rule = SCOPES.get(word[:1]), numbered.get(word[1:] or "1")
    if scope is not None and rule is not None:
        return Answer(True, rules=(rule,), scope=scope, by="user")
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
    numbered = {str(number): label for number, label in enumerate(labels, 1)}
    words = [word.strip() for word in said.split(",")]
    return ", ".join(numbered[word] for word in words) if numbered.keys() >= set(words) else said
