"""`--json-schema`: the answer is data, whichever wire it comes over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.testing import call, reply, say

from .conftest import BOTH_WIRES, Runner

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
LIST = {"type": "array", "items": {"type": "integer"}}
NAME = "StructuredOutput"
PARIS = {"city": "Paris"}
NUMBER = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


def schema(of: dict[str, Any] = CITY) -> tuple[str, str]:
    return "--json-schema", json.dumps(of)


@BOTH_WIRES
def test_the_value_is_in_the_result(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo Paris")), reply(call(NAME, PARIS)))
    ran = runner.prompt("where?", *schema())
    assert ran.code == 0, ran
    result = ran.result
    assert result["structured_output"] == PARIS
    assert json.loads(result["result"]) == PARIS, "there is no other text"
    assert (result["subtype"], result["terminal_reason"]) == ("success", "completed")
    assert len(runner.requests) == 2
    first = runner.requests[0].json
    (offered,) = [tool for tool in first["tools"] if NAME in json.dumps(tool)]
    assert offered == first["tools"][-1], "the others stay in their cached places"
    assert json.dumps(CITY["properties"]) in json.dumps(offered)
    system = json.dumps(first.get("system") or first["messages"][0])
    assert f"calling {NAME}" in system


@BOTH_WIRES
def test_any_root_and_a_file(runner: Runner) -> None:
    (runner.work / "list.json").write_text(json.dumps(LIST))
    runner.serve(reply(say("Here it is."), call(NAME, {"value": [1, 2]})))
    ran = runner.prompt("count", "--json-schema", "list.json")
    assert ran.code == 0, ran
    assert (ran.result["structured_output"], ran.result["result"]) == ([1, 2], "Here it is.")


@BOTH_WIRES
def test_as_text_the_value_alone_is_printed(runner: Runner) -> None:
    runner.serve("Let me think." * 100, reply(say("Done."), call(NAME, PARIS)))
    ran = runner.run("-p", "where?", *schema())
    assert (ran.code, ran.stdout) == (0, '{"city":"Paris"}\n')


@BOTH_WIRES
def test_6_no_answer_fitted(runner: Runner) -> None:
    runner.serve("words", reply(call(NAME, city=5)), after="repeat_last")
    ran = runner.prompt("where?", *schema())
    assert ran.code == 6, ran
    result = ran.result
    assert result["subtype"] == "error_max_structured_output_retries"
    assert result["terminal_reason"] == "structured_output_retry_exhausted"
    assert result["is_error"] is True
    assert "structured_output" not in result
    assert "$.city" in result["errors"][0]
    assert len(runner.requests) == 5
    assert f"by calling {NAME}" in json.dumps(runner.requests[1].json["messages"][-1])


@BOTH_WIRES
def test_a_session_goes_on_with_and_without_a_form(runner: Runner) -> None:
    runner.serve(reply(call(NAME, PARIS)), "It is in France.", reply(call(NAME, city="Rome")))
    first = runner.prompt("where?", *schema()).result
    plain = runner.prompt("and that is?", "-r", first["session_id"]).result
    assert plain["result"] == "It is in France."
    assert "structured_output" not in plain
    last = runner.prompt("and in Italy?", "-r", first["session_id"], *schema()).result
    assert last["structured_output"] == {"city": "Rome"}
    ended = [e for e in runner.entries(first["session_id"]) if e["type"] == "turnended"]
    assert [e.get("output") for e in ended] == [PARIS, None, {"city": "Rome"}]


@BOTH_WIRES
def test_an_interrupted_try_can_be_resumed(runner: Runner) -> None:
    """The limit ends the turn before a value was given; the log is the truth for the next."""
    runner.serve(reply(call(NAME, city=5)), reply(call(NAME, PARIS)))
    cut = runner.prompt("where?", "--max-turns", "1", *schema())
    assert cut.code == 4
    again = runner.prompt("go on", "-c", *schema())
    assert again.result["structured_output"] == PARIS


def test_permission_is_no_question_here(runner: Runner) -> None:
    runner.serve(reply(call(NAME, PARIS)))
    ran = runner.prompt("x", "--on-ask", "fail", "--permission-mode", "dontAsk", *schema())
    assert ran.code == 0, ran


def test_without_any_other_tool(runner: Runner) -> None:
    runner.serve(reply(call(NAME, PARIS)))
    assert runner.prompt("x", "--tools", "", *schema()).code == 0
    assert [tool["name"] for tool in runner.requests[0].json["tools"]] == [NAME]


@BOTH_WIRES
@pytest.mark.parametrize(
    "said",
    [{"jsonSchema": CITY}, {"outputFormat": {"type": "json_schema", "schema": CITY}}],
    ids=["jsonSchema", "outputFormat"],
)
def test_a_host_says_it_when_it_begins(runner: Runner, said: dict[str, Any]) -> None:
    runner.serve(reply(call(NAME, PARIS)), reply(call(NAME, city="Rome")))
    live = runner.converse()
    assert live.control("initialize", hooks=None, **said)["subtype"] == "success"
    for text, city in (("France", "Paris"), ("Italy", "Rome")):
        live.say(text)
        assert live.next("result")["structured_output"] == {"city": city}
    ran = live.finish()
    assert ran.code == 0
    (first, *_) = ran.of("system", "init")
    assert first["tools"][-1] == NAME


def test_a_host_with_a_bad_schema_is_told(runner: Runner) -> None:
    runner.serve("never")
    live = runner.converse()
    live.control("initialize", hooks=None, jsonSchema={"type": "objekt"})
    live.say("x")
    ran = live.finish()
    assert ran.code == 2, ran
    assert "JSON schema is not valid" in ran.result["result"]
    assert runner.requests == []
    assert not runner.state.exists()


@BOTH_WIRES
@pytest.mark.parametrize(
    ("given", "said", "value"),
    [
        (NUMBER, '{"n": 4}', {"n": 4}),
        (NUMBER, 'Here:\n{"n": 4}', None),
        (NUMBER, '```json\n{"n": 4}\n```', {"n": 4}),
        (NUMBER, '{"n": "four"}', None),
        ('{"type": "integer"}', "4", 4),
        ('{"type": "array"}', "[1, 2]", [1, 2]),
        ('{"type": "object"}', "", None),
    ],
)
def test_a_value_written_down_is_taken_if_it_fits(
    runner: Runner, given: str, said: str, value: Any
) -> None:
    runner.serve(said or reply(stop="end_turn"), *[said or reply(stop="end_turn")] * 4)
    ran = runner.prompt("x", "--json-schema", given)
    if value is None:
        assert ran.code != 0, ran
        assert "structured_output" not in ran.result
    else:
        assert ran.code == 0, ran
        assert ran.result["structured_output"] == value
        assert len(runner.requests) == 1
