"""What the prompt says of permissions (F072, F074, F075)."""

from __future__ import annotations

from detent.context.prompt import build_prompt
from detent.context.prompt.access import MOST_RULES, Access, access_text
from detent.context.prompt.facts import Facts, Surroundings

ALL = ("Bash", "Edit", "Read", "Write")


def test_destruction_needs_the_users_word_unless_questions_are_off() -> None:
    assert access_text(Access(tools=ALL)).splitlines() == [
        "# Permissions",
        "- Commit, push, publish, overwrite or delete only what the user asked for.",
    ]
    unsafe = access_text(Access("bypassPermissions", ALL))
    assert "Permission questions are off" in unsafe
    assert "only what the user asked for" not in unsafe


def test_a_blocked_shell_comes_with_the_way_to_permit_it() -> None:
    assert "a rule such as Bash(make test)" in access_text(Access(tools=("Read", "Write")))
    assert "Commands cannot be run" not in access_text(Access(tools=ALL))


def test_without_writing_tools_a_patch_is_the_alternative() -> None:
    assert "as a patch" in access_text(Access(tools=("Bash", "Read")))
    for one in ("Edit", "Write"):
        assert "as a patch" not in access_text(Access(tools=("Bash", one)))


def test_rules_and_modes_are_told() -> None:
    text = access_text(
        Access("dontAsk", ALL, denied=("Bash(git push:*)", "Read(.env)"), asked=("Bash(npm:*)",))
    )
    assert "Bash(git push:*), Read(.env)." in text
    assert "The user is asked first: Bash(npm:*)." in text
    assert "Nobody can be asked" in text
    assert "Plan mode" in access_text(Access("plan", ALL))


def test_a_long_list_of_rules_is_cut_and_says_so() -> None:
    rules = tuple(f"Read(secret{number})" for number in range(MOST_RULES + 3))
    text = access_text(Access(denied=rules))
    assert rules[MOST_RULES - 1] in text and rules[MOST_RULES] not in text
    assert "and 3 more" in text


def test_missing_trust_appears() -> None:
    assert "has not trusted this folder" in access_text(Access(tools=ALL, is_stranger=True))
    assert "trusted" not in access_text(Access(tools=ALL))


def test_it_stands_behind_what_never_changes() -> None:
    around = Surroundings("/p", "Linux", "2026-01-01")
    one = build_prompt(Facts(around, Access("plan", ALL)))
    other = build_prompt(Facts(around, Access("default", ALL, denied=("Bash",))))
    assert one[0] == other[0] and one[1] != other[1]
