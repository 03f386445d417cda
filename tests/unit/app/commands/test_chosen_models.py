"""Which model a session goes on with, after turns that had one of their own."""

from __future__ import annotations

from detent.app.kept_choices import kept_model
from detent.types.events import Entry, Replied, Switched
from detent.types.running import Equipped
from detent.types.usage import Usage


def begins(model: str) -> Entry:
    return Equipped(model=model, window=1, max_output=1, begins=True)


def replied(model: str, provider: str = "house") -> Entry:
    return Replied(
        turn=1, step=1, content=(), stop="end_turn", usage=Usage(), model=model, provider=provider
    )


def once(model: str) -> Entry:
    return Switched(model=model, once=True)


def test_a_model_of_one_turn_is_not_the_sessions() -> None:
    entries = [begins("m"), replied("m"), once("other"), replied("other", "else")]
    assert kept_model(entries) == "house/m", "also where it was killed in that turn"
    assert kept_model([*entries, once("m")]) == "house/m"
    assert kept_model([*entries, once("m"), replied("m")]) == "house/m"


def test_one_that_was_chosen_meanwhile_is() -> None:
    entries = [begins("m"), replied("m"), Switched(model="n"), once("other"), replied("other")]
    assert kept_model([*entries, once("n")]) == "n"
    assert kept_model([*entries, once("n"), replied("n")]) == "house/n"


def test_the_first_turn_may_be_such_a_one() -> None:
    entries = [begins("m"), once("other"), replied("other"), once("m")]
    assert kept_model(entries) == ""
    assert kept_model([*entries, replied("m")]) == "house/m"


def test_a_new_run_begins_anew() -> None:
    entries = [begins("m"), once("other"), begins("n"), replied("n")]
    assert kept_model(entries) == "house/n"
