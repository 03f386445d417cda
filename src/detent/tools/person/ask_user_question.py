"""AskUserQuestion: a choice that is the person's to make.

The question goes through the gate like any permission; the answers come back with the consent, in
`Desk.answer`. What a model itself writes into `answers` is none.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from detent.ports import Desk
from detent.tools.base import TypedTool
from detent.types.effects import Asks, Effect
from detent.types.outcomes import Outcome, done

NO_ANSWER = "The user gave no answer; decide yourself and say what you assumed."


class Option(Struct, frozen=True, omit_defaults=True):
    label: Annotated[str, Meta(description="The choice in one to five words.", min_length=1)]
    description: Annotated[str, Meta(description="What choosing it means.")]
    preview: Annotated[
        str, Meta(description="What it would look like, to compare: code or a sketch.")
    ] = ""


class Choice(Struct, frozen=True):
    question: Annotated[str, Meta(description="The whole question.", min_length=1)]
    header: Annotated[str, Meta(description="A label for it, at most 12 characters.")]
    options: Annotated[
        list[Option],
        Meta(description="Two to four that exclude each other.", min_length=2, max_length=4),
    ]
    multiSelect: Annotated[bool, Meta(description="Several may be chosen.")] = False


class AskUserQuestionArgs(Struct, frozen=True):
    questions: Annotated[list[Choice], Meta(description="One to four.", min_length=1, max_length=4)]


class AskUserQuestion(TypedTool[AskUserQuestionArgs]):
    name = "AskUserQuestion"
    aliases = ("ask_user_question", "AskUserQuestionTool")
    args = AskUserQuestionArgs

    def effects(self, args: AskUserQuestionArgs, cwd: str) -> tuple[Effect, ...]:
        return (Asks(),)

    async def act(self, args: AskUserQuestionArgs, desk: Desk) -> Outcome:
        answers = _answers(args.questions, desk.answer.get("answers"))
        data = {"questions": to_builtins(args.questions), "answers": answers}
        if not answers:
            return done(NO_ANSWER, data)
        lines = (f"- {each.question} -> {_said(each, answers)}" for each in args.questions)
        return done("\n".join(("The user answered:", *lines)), data)


TOOL = AskUserQuestion


def _answers(questions: list[Choice], given: Any) -> dict[str, str]:
    """By question, in the order they were asked; several labels of one joined."""
    if not isinstance(given, Mapping):
        return {}
    found = {each.question: _joined(given.get(each.question)) for each in questions}
    return {question: answer for question, answer in found.items() if answer}


def _joined(answer: Any) -> str:
    if isinstance(answer, list):
        return ", ".join(str(label) for label in answer)
    return "" if answer is None else str(answer)


def _said(asked: Choice, answers: Mapping[str, str]) -> str:
    return answers.get(asked.question, "no answer; decide yourself and say what you assumed")
