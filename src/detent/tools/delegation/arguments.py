"""What delegate_agent takes: groups of children, in whatever form a model writes them."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from detent.tools.base import UNADVERTISED, Arguments


class Child(Struct, frozen=True, omit_defaults=True):
    prompt: Annotated[str, Meta(description="The whole task: it knows nothing else.", min_length=1)]
    name: Annotated[str, Meta(description="For `depends_on`; child-1, … unless given.")] = ""
    description: Annotated[str, Meta(description="Three to five words.")] = ""
    subagent_type: Annotated[str, Meta(description="As for Agent.")] = ""
    depends_on: Annotated[
        list[str],
        Meta(description="Children or groups that must be done first; it gets their answers."),
    ] = []
    model: str = ""
    max_turns: Annotated[int, Meta(ge=0)] = 0
    resume_session_id: Annotated[str, Meta(description="An earlier agent to go on from.")] = ""
    include_parent_context: Annotated[
        bool, Meta(description="It knows this conversation, too.")
    ] = False
    isolation: Annotated[
        Literal["", "worktree"], Meta(description="`worktree`: a git worktree of its own.")
    ] = ""
    at_end: Annotated[Literal["", "merge", "keep", "discard"], UNADVERTISED] = ""
    effort: Annotated[str, UNADVERTISED] = ""
    mode: Annotated[str, UNADVERTISED] = ""


class Group(Struct, frozen=True, omit_defaults=True):
    children: Annotated[list[Child], Meta(min_length=1)]
    name: str = ""
    strategy: Annotated[
        Literal["parallel", "serial"], Meta(description="`parallel` unless given.")
    ] = "parallel"
    depends_on: list[str] = []
    continue_on_error: Annotated[
        bool | msgspec.UnsetType,
        Meta(description="The rest begins although one has failed. Unless given: not if serial."),
    ] = msgspec.UNSET
    max_failures: Annotated[
        int | msgspec.UnsetType,
        Meta(description="So many may fail; with one more, no other child begins."),
    ] = msgspec.UNSET


class DelegateAgentArgs(Arguments, frozen=True):
    groups: Annotated[tuple[Group, ...], Meta(description="One is enough in most cases.")] = ()
    continue_on_error: Annotated[bool | msgspec.UnsetType, UNADVERTISED] = msgspec.UNSET
    """For groups that do not say; false also counts for all of them together."""
    max_failures: Annotated[int | msgspec.UnsetType, UNADVERTISED] = msgspec.UNSET
    """Of all groups together."""
    include_parent_context: Annotated[bool, UNADVERTISED] = False
    """For all children."""
    resume_group_id: Annotated[
        str, Meta(description="Instead of `groups`: go on with a call that was cut off.")
    ] = ""
    retry_failed: Annotated[
        bool, Meta(description="With `resume_group_id`: failed children go on, too.")
    ] = False


FLAT = ("children", "subtasks", "tasks", "agents")
"""Names of a list of children that are in no group."""
OF_THE_GROUP = ("strategy", "continue_on_error", "max_failures")
"""What stands beside them then, and is said of the one group that they are."""
CHILD_NAMES = (
    ("task", "prompt"),
    ("instructions", "prompt"),
    ("id", "name"),
    ("label", "name"),
    ("agent", "subagent_type"),
    ("agent_type", "subagent_type"),
    ("subagentType", "subagent_type"),
    ("dependsOn", "depends_on"),
    ("dependencies", "depends_on"),
    ("maxTurns", "max_turns"),
    ("resume", "resume_session_id"),
    ("session_id", "resume_session_id"),
)
GROUP_NAMES = (
    *((name, "children") for name in FLAT[1:]),
    ("id", "name"),
    ("group", "name"),
    ("dependsOn", "depends_on"),
    ("dependencies", "depends_on"),
)


def in_groups(given: dict[str, Any]) -> dict[str, Any]:
    """Flat lists and a single prompt as the groups that they mean."""
    given = {name: value for name, value in given.items() if value is not None}
    groups = [_group(group) for group in _listed(given.pop("groups", []), "children")]
    if (flat := next((name for name in FLAT if name in given), "")) and not groups:
        of_it = {name: given.pop(name) for name in OF_THE_GROUP if name in given}
        groups = [_group({"children": given.pop(flat), **of_it})]
    elif not groups and ("prompt" in given or "task" in given):
        child = {name: given.pop(name) for name in list(given) if name in _OF_A_CHILD}
        groups = [_group({"children": [child]})]
    return {**given, "groups": groups} if groups else given


def _group(given: Any) -> Any:
    if isinstance(given, list):
        given = {"children": given}
    if not isinstance(given, dict):
        return given
    group = _renamed(given, GROUP_NAMES)
    group["children"] = [_child(child) for child in _listed(group.get("children", []), "prompt")]
    return _with_names(group)


def _child(given: Any) -> Any:
    if isinstance(given, str):
        given = {"prompt": given}
    if not isinstance(given, dict):
        return given
    child = _with_names(_renamed(given, CHILD_NAMES))
    if isinstance(child.get("prompt"), str):
        child["prompt"] = child["prompt"].strip()  # so that one of blanks is seen to be empty
    if child.get("isolation") == "none":
        del child["isolation"]
    return child


def _with_names(given: dict[str, Any]) -> dict[str, Any]:
    """A single dependency may stand without its list, and numbers are names, too."""
    names = given.get("depends_on")
    if isinstance(names, str):
        names = _read(names) if names.startswith("[") else [names] if names else []
    elif isinstance(names, int):
        names = [names]
    if isinstance(names, list):
        given["depends_on"] = [_name(name) for name in names]
    if "name" in given:
        given["name"] = _name(given["name"])
    return given


def _name(given: Any) -> Any:
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


def _renamed(given: dict[str, Any], names: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Without nulls: many models write null for "not given"."""
    adapted = {name: value for name, value in given.items() if value is not None}
    for theirs, ours in names:
        if theirs in adapted and ours not in adapted:
            adapted[ours] = adapted.pop(theirs)
    return adapted


def _listed(given: Any, inner: str) -> list[Any]:
    """Some models write a list as text, one thing without its list, or names to things."""
    if isinstance(given, str):
        given = _read(given)
    if isinstance(given, list):
        return given
    if not isinstance(given, dict) or inner in given:
        return [given]
    return [
        {"name": name, **thing} if isinstance(thing, dict) else {"name": name, inner: thing}
        for name, thing in given.items()
    ]


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


_OF_A_CHILD = {*Child.__struct_fields__, *(theirs for theirs, _ in CHILD_NAMES)}
