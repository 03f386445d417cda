"""Files that a text names with an `@`, found in the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.app.mentions.finding import Place, mentions


def likeliest(text: str) -> list[Place]:
    return [one.places[0] for one in mentions(text)]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see @a.py", ["a.py"]),
        ("@a.py and @src/b.py", ["a.py", "src/b.py"]),
        ("@docs/ please", ["docs/"]),
        ("(@a.py", ["a.py"]),
        ("a,@b", ["b"]),
        ('@"a b.txt" x', ["a b.txt"]),
        ("@~/notes @/etc/x @../y", ["~/notes", "/etc/x", "../y"]),
        ("@a @a", ["a"]),
        ("@datei-größe.txt", ["datei-größe.txt"]),
        ("write to me@example.org", []),
        ("x@y @@z @ alone @", []),
        ("use `@decorator` here", []),
        ("``a ` @b`` and @c", ["c"]),
        ("```\n@decorator\n```\n@a", ["a"]),
        ("~~~py\n@a\n~~~\n", []),
        ("```\n@a", []),
    ],
)
def test_what_is_one(text: str, paths: list[str]) -> None:
    assert [place.path for place in likeliest(text)] == paths


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("@a.py#L10-20", Place("a.py", 10, 20)),
        ("@a.py#L10-L20", Place("a.py", 10, 20)),
        ("@a.py#L7", Place("a.py", 7, 7)),
        ("@a.py:10-20", Place("a.py", 10, 20)),
        ("@a.py:3.", Place("a.py", 3, 3)),
        ("@a.py:20-10", Place("a.py", 20, 20)),
        ("@a.py.", Place("a.py")),
        ("(see @a.py).", Place("a.py")),
        ("@a.py?!", Place("a.py")),
        ('@"a b.py"#L3-4,', Place("a b.py", 3, 4)),
    ],
)
def test_what_may_be_meant(text: str, place: Place) -> None:
    (mention,) = mentions(text)
    assert place in mention.places


def test_a_file_of_that_very_name_is_meant_first() -> None:
    (mention,) = mentions("@odd:10-20")
    assert mention.places == (Place("odd:10-20"), Place("odd", 10, 20))


@given(st.text("@a/b.:#L1-2\"`~ \n(),'x", max_size=60))
def test_any_text(text: str) -> None:
    for mention in mentions(text):
        assert mention.written in text
        assert mention.places and all(place.path for place in mention.places)
        assert all(place.first <= place.last for place in mention.places)


@given(st.from_regex(r"[\w.+-]{1,20}@[\w-]{1,20}\.[a-z]{2,5}", fullmatch=True))
def test_no_address_of_mail(address: str) -> None:
    assert mentions(f"ask {address} now") == []


def test_a_long_line_takes_no_time() -> None:
    assert len(mentions("@" * 100_000)) == 0
    assert len(mentions("@a" + ")" * 4_000)) == 1
    assert mentions("`" * 50_000 + "@a") == []
