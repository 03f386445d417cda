"""Heads of files: whatever stands there is read without harm, and JSON means what it says."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from detent.context.head import parse_head, split_head

SIGNS = st.text(alphabet="ab: -[]{}\"'|>#,\n\\()~1", max_size=200)
KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20)
VALUES = st.recursive(
    TEXTS | st.integers(-(10**14), 10**14) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(SIGNS)
def test_anything_is_read(text: str) -> None:
    values, faults = parse_head(text.split("\n"))
    assert isinstance(values, dict)
    assert all(isinstance(fault, str) for fault in faults)


@given(SIGNS)
def test_what_is_no_head_is_the_body(text: str) -> None:
    head, body = split_head(text)
    whole = body if head is None else "\n".join(["---", *head, "---", body])
    assert whole == text or (head is not None and "--- " in text)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_json_is_understood(values: dict[str, object]) -> None:
    """A text of a table's key is stripped as people's are."""
    stripped = json.loads(json.dumps(values), object_pairs_hook=_stripped)
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    assert parse_head(lines) == (stripped, [])


def _stripped(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {key.strip(): value for key, value in pairs}
