"""A rule that is kept means, in its file and from any folder, the file it was given for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.app.settings.anchoring import Scope, anchored
from detent.gate.judging import decide
from detent.gate.rules import parse_rule
from detent.gate.terms import Origin, Policy, RuleSet, Workspace
from detent.ports import Proposal
from detent.types.content import Call
from detent.types.effects import Writes
from detent.types.verdicts import Allow, Ask

HOME = "/home/dev"
NAMES = st.text("ab[]*?!^-.~( é", min_size=1, max_size=4).filter(
    lambda name: name.strip(".") and name == name.strip()
)
FOLDERS = st.builds(
    lambda top, names: "/".join((top, *names)),
    st.sampled_from([HOME, "/nowhere", "/home/developer"]),
    st.lists(NAMES, max_size=3),
)
ELSEWHERE: tuple[tuple[Scope, str], ...] = (("user", f"{HOME}/.detent"), ("local", ""))


def allows(rule: str, path: str, began: str, folder: str) -> bool:
    """Whether a session that begins in one folder takes the rule of a file as permission."""
    parsed = parse_rule(rule, lambda name: name, Origin("user", folder=folder or began))
    workspace = Workspace(began, (began,), HOME)
    policy = Policy(RuleSet(allow=(parsed,)), "default", workspace)
    call = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(path),))
    return isinstance(decide(policy, call).verdict, Allow)


def offered(path: str, began: str) -> str:
    policy = Policy(RuleSet(), "default", Workspace(began, (began,), HOME))
    call = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes(path),))
    verdict = decide(policy, call).verdict
    assert isinstance(verdict, Ask), verdict
    return verdict.rules[0] if verdict.rules else ""


@given(FOLDERS, st.lists(st.sampled_from(["a.txt", "b", "é x"]), min_size=1, max_size=2), FOLDERS)
def test_the_same_file_and_no_other(began: str, names: list[str], later: str) -> None:
    inside = "/".join(names)
    path, rule = f"{began}/{inside}", f"Edit(/{inside})"
    if (own := offered(path, began)) and not own.startswith("Edit(//"):
        assert own == rule
    others = {f"{later}/{inside}", f"{HOME}/.detent/{inside}", f"{HOME}/{inside}", f"{path}2"}
    for scope, folder in ELSEWHERE:
        kept = anchored(rule, scope, began, HOME)
        for here in (began, later, HOME, f"{began}/sub"):
            assert allows(kept, path, here, folder), kept
            for other in others - {path}:
                assert not allows(kept, other, here, folder) or other.startswith(f"{path}/"), kept


@given(
    FOLDERS, st.sampled_from(["Edit(/a)", "Edit(//x/a)", "Bash(cat /a)", "Read(~/a)", "Edit(b)"])
)
def test_the_projects_own_file_takes_it_as_it_is(began: str, rule: str) -> None:
    assert anchored(rule, "project", began, HOME) == rule


@given(
    st.sampled_from(
        ["Bash(cat /a)", "Read(~/a)", "Edit(//x/a)", "Edit(*.py)", "Edit", "mcp__s__t"]
    ),
    st.sampled_from(["user", "local"]),
)
def test_what_has_a_place_of_its_own_or_none_stays(rule: str, scope: Scope) -> None:
    assert anchored(rule, scope, "/work/app", HOME) == rule


def test_as_people_read_it() -> None:
    assert anchored("Edit(/a.txt)", "user", f"{HOME}/app/sub", HOME) == "Edit(~/app/sub/a.txt)"
    assert anchored("Edit(/a.txt)", "local", "/srv/app", HOME) == "Edit(//srv/app/a.txt)"
    assert anchored("Write(/d/**)", "local", HOME, HOME) == "Write(~/d/**)"
    assert anchored("Read(/etc/hosts)", "user", "/", HOME) == "Read(//etc/hosts)"
