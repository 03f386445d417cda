"""AskUserQuestion: what the answers look like to the model and to programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from detent.ports import BadArguments
from detent.types.effects import Asks
from detent.types.outcomes import Done, text_of

from ..conftest import Bench

Memory = Callable[..., Bench]


def question(text: str = "Which store?", **more: Any) -> dict[str, Any]:
    options = [{"label": label, "description": f"use {label}"} for label in ("SQLite", "Postgres")]
    return {"question": text, "header": "Store", "options": options, **more}


def asked(bench: Bench, questions: list[Any], answers: Any = None, written: Any = None) -> Done:
    tool = bench.registry.find("AskUserQuestion")
    assert tool is not None
    answer = {} if answers is None else {"answers": answers}
    args = tool.parse(json.dumps({"questions": questions, "answers": written, **answer}))
    assert tool.effects(args, "/p") == (Asks(),)
    outcome = asyncio.run(tool.run(args, replace(bench.desk(), answer=answer)))
    assert isinstance(outcome, Done)
    return outcome


def test_answers_by_question(memory: Memory) -> None:
    outcome = asked(memory(), [question(), question("And why?")], {"Which store?": "SQLite"})
    assert text_of(outcome) == (
        "The user answered:\n- Which store? -> SQLite\n"
        "- And why? -> no answer; decide yourself and say what you assumed"
    )
    assert outcome.data is not None
    assert outcome.data["answers"] == {"Which store?": "SQLite"}
    assert outcome.data["questions"][0] == question(multiSelect=False)


def test_several_answers_to_one_question(memory: Memory) -> None:
    several = question(multiSelect=True)
    for given in (["SQLite", "Postgres"], "SQLite, Postgres"):
        outcome = asked(memory(), [several], {"Which store?": given})
        assert outcome.data is not None
        assert outcome.data["answers"] == {"Which store?": "SQLite, Postgres"}


@pytest.mark.parametrize("answers", [None, {}, {"Another question": "x"}, "SQLite", [1]])
def test_no_answer_is_said(memory: Memory, answers: Any) -> None:
    outcome = asked(memory(), [question()], answers)
    assert text_of(outcome).startswith("The user gave no answer; decide yourself")
    assert outcome.data is not None and outcome.data["answers"] == {}


def test_what_the_model_writes_is_no_answer(memory: Memory) -> None:
    outcome = asked(memory(), [question()], written={"Which store?": "SQLite"})
    assert text_of(outcome).startswith("The user gave no answer")


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [question()] * 5,
        [question(options=[{"label": "one", "description": ""}])],
        [question(options=[{"label": "one", "description": ""}] * 5)],
        [{"question": "x", "header": "y"}],
    ],
)
def test_the_form_of_a_question(memory: Memory, questions: list[Any]) -> None:
    with pytest.raises(BadArguments, match=r'Send \{"questions": \[\{"question": string'):
        memory().call("AskUserQuestion", questions=questions)
