"""The tool that takes the final answer: any schema, wrapped where providers want an object."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.ports import BadArguments
from detent.tools.schemas import MOST_FAULTS
from detent.tools.structured_output import KEY, NAME, StructuredOutput, wrapped
from detent.types.errors import BadInput

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
}
TREE = {
    "$defs": {"leaf": {"type": "integer"}},
    "anyOf": [{"$ref": "#/$defs/leaf"}, {"type": "array", "items": {"$ref": "#"}}],
}


def schema_of(tool: StructuredOutput) -> Any:
    return json.loads(bytes(tool.spec.schema))


def test_a_schema_of_an_object_is_offered_as_it_is() -> None:
    tool = StructuredOutput(PERSON)
    assert (tool.spec.name, schema_of(tool)) == (NAME, PERSON)
    assert tool.parse('{"name": "Ada"}') == {"name": "Ada"}
    assert tool.effects({}, "/p") == ()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"type": "string"}, "x"),
        ({"enum": [1, "a", None]}, None),
        ({"type": ["object", "null"]}, None),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"b": 1}),
        ({}, {"any": "thing"}),
        (TREE, [1, [2, [3]]]),
    ],
)
def test_any_other_schema_is_wrapped_and_the_value_unwrapped(schema: Any, value: Any) -> None:
    tool = StructuredOutput(schema)
    offered = schema_of(tool)
    assert (offered["type"], list(offered["properties"])) == ("object", [KEY])
    assert not {"anyOf", "oneOf", "allOf"} & set(offered)
    assert tool.parse(json.dumps({KEY: value})) == value
    outcome = asyncio.run(tool.run(value, None))  # type: ignore[arg-type]
    assert outcome.data == {"structured_output": value}  # type: ignore[union-attr]


@pytest.mark.parametrize("arguments", ["", "[1]", '{"other": 1}', '{"value": [1], "x": 2}'])
def test_a_value_that_is_not_wrapped_is_asked_for_again(arguments: str) -> None:
    with pytest.raises(BadArguments, match=KEY):
        StructuredOutput({"type": "array"}).parse(arguments)


def test_faults_are_named_by_their_places() -> None:
    with pytest.raises(BadArguments) as caught:
        StructuredOutput(PERSON).parse('{"tags": ["a", 1]}')
    said = str(caught.value)
    assert "$.tags[1]:" in said
    assert '$: "name" is a required property' in said


def test_only_the_first_faults_are_told() -> None:
    values = json.dumps({"name": "x", "tags": list(range(100))})
    with pytest.raises(BadArguments) as caught:
        StructuredOutput(PERSON).parse(values)
    assert str(caught.value).count("$.tags") == MOST_FAULTS
    assert str(caught.value).endswith("- and more")


@pytest.mark.parametrize("arguments", ["{", "nonsense", "[" * 5000])
def test_what_is_no_json_is_refused(arguments: str) -> None:
    with pytest.raises(BadArguments):
        StructuredOutput(PERSON).parse(arguments)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"required": "name"},
        {"properties": {"a": {"pattern": "("}}},
        {"$ref": "#/$defs/absent"},
        {"$schema": "http://nowhere.invalid/mine"},
    ],
)
def test_a_bad_schema_is_the_users_fault(schema: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="the JSON schema is not valid"):
        StructuredOutput(schema)


def test_a_schema_nested_too_deeply_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"items": deep}
    with pytest.raises(BadInput):
        StructuredOutput(deep)


def test_nothing_is_fetched_for_a_reference(tmp_path: Any) -> None:
    visits: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        watching = threading.Event()

        def watch() -> None:
            while not watching.is_set():
                try:
                    server.accept()[0].close()
                except TimeoutError:
                    continue
                visits.append(1)

        thread = threading.Thread(target=watch)
        thread.start()
        (tmp_path / "x.json").write_text("{}")
        for address in (
            f"http://127.0.0.1:{server.getsockname()[1]}/x",
            f"file://{tmp_path}/x.json",
        ):
            with pytest.raises(BadInput):
                StructuredOutput({"$ref": address})
        watching.set()
        thread.join()
    assert visits == []


def test_references_follow_the_root_to_its_new_place() -> None:
    offered = wrapped({**TREE, "$schema": "https://json-schema.org/draft/2020-12/schema"})
    assert offered["$defs"] == TREE["$defs"]
    inner = offered["properties"][KEY]
    assert inner["anyOf"][0] == {"$ref": "#/$defs/leaf"}
    assert inner["anyOf"][1]["items"] == {"$ref": f"#/properties/{KEY}"}
    assert "$schema" not in inner


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)
SCHEMAS = st.sampled_from(
    [
        TREE,
        {"type": "array", "items": {"type": "integer"}},
        {"type": ["string", "null"]},
        {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "boolean"}]},
        {
            "definitions": {
                "n": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/p"}]},
                "p": {"type": "object", "properties": {"a": {"$ref": "#/definitions/n"}}},
            },
            "$ref": "#/definitions/n",
        },
    ]
)


@given(SCHEMAS, VALUES)
def test_wrapping_changes_nothing_about_what_fits(schema: dict[str, Any], value: Any) -> None:
    fits = jsonschema_rs.is_valid(schema, value)
    assert jsonschema_rs.is_valid(wrapped(schema), {KEY: value}) == fits
    try:
        assert StructuredOutput(schema).parse(json.dumps({KEY: value})) == value
        assert fits
    except BadArguments:
        assert not fits
