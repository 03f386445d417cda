"""What the user wrote behind a command's name, put into its text."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from detent.app.commands.placeholders import filled, given, takes_arguments, words_of

VARIABLES = {"CLAUDE_SESSION_ID": "s-1", "CLAUDE_PROJECT_DIR": "/p"}


def told(body: str, text: str = "", names: tuple[str, ...] = ()) -> str:
    return filled(body, given(body, text, names, VARIABLES))


@pytest.mark.parametrize(
    ("body", "text", "said"),
    [
        ("fix $ARGUMENTS now", "a b", "fix a b now"),
        ("$1 then $2", "a b", "a then b"),
        ("$0 then $1", "a b", "a then b"),
        ("$ARGUMENTS[0]/$ARGUMENTS[1]", "a b", "a/b"),
        ("$ARGUMENTS[1] of $1", "a b", "b of b"),
        ("$1 and $3", "a b", "a and "),
        ("$0", "", ""),
        ("$1", "'a b' c", "a b"),
        ("$1|$2", "don't stop", "don't|stop"),
        ("costs $100 or $1.50 or $5k", "a", "costs $100 or $1.50 or $5k"),
        ("$ARGUMENTSX $ARGUMENTS", "a", "$ARGUMENTSX a"),
        ("$HOME ${HOME} $", "a", "$HOME ${HOME} $"),
        ("${CLAUDE_SESSION_ID} in ${CLAUDE_PROJECT_DIR}", "", "s-1 in /p"),
        ("$1", "$2 b", "$2"),
        ("$ARGUMENTS", "$1 ${CLAUDE_SESSION_ID}", "$1 ${CLAUDE_SESSION_ID}"),
    ],
)
def test_what_is_put_in(body: str, text: str, said: str) -> None:
    assert told(body, text) == said


def test_words_with_names() -> None:
    body = "merge $branch for $issue, not $branches"
    assert told(body, "12 main", ("issue", "branch")) == "merge main for 12, not $branches"
    assert takes_arguments("see $issue", ("issue",))
    assert not takes_arguments("see $issue", ())


@pytest.mark.parametrize("body", ["", "plain", "$HOME", "${CLAUDE_PROJECT_DIR}", "$100"])
def test_texts_without_a_place_for_them(body: str) -> None:
    assert not takes_arguments(body, ())


@pytest.mark.parametrize("body", ["$ARGUMENTS", "$0", "x $12", "$ARGUMENTS[3]"])
def test_texts_with_one(body: str) -> None:
    assert takes_arguments(body, ())


@for_all(st.text())
def test_any_text_has_words_and_stays_what_it_is(text: str) -> None:
    assert all(isinstance(word, str) for word in words_of(text))
    assert told("<$ARGUMENTS>", text) == f"<{text.strip()}>"
