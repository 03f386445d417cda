"""A call and its result in a few words, as a person would look at them."""

from collections.abc import Sequence
from typing import Any

from detent.surfaces.counting import counted
from detent.types.codec import arguments_object
from detent.types.content import Image, Text
from detent.types.outcomes import Done, Outcome, content_of, text_of

WIDTH = 100
TITLE = 40
SUBJECTS = (
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "path",
    "url",
    "query",
    "task_id",
    "bash_id",
    "shell_id",
    "taskId",
    "subject",
    "prompt",
    "resume_group_id",
)
"""Arguments of which one says what a call is about, under all names that models give them."""

BOXES = {"completed": "[x]", "in_progress": "[>]"}


def gist(arguments: str) -> str:
    """The argument a person would look at."""
    given = arguments_object(arguments)
    if given is None:
        return one_line(arguments)
    if isinstance(pattern := given.get("pattern"), str):
        place = given.get("path")
        return f"{one_line(pattern)} in {place}" if isinstance(place, str) else one_line(pattern)
    if isinstance(todos := given.get("todos"), list):
        return counted(len(todos), "item")
    if work := _given_work(given) or _for_the_person(given):
        return work
    texts = (given[name] for name in SUBJECTS if isinstance(given.get(name), str))
    return one_line(next(texts, arguments))


def _given_work(given: dict[str, Any]) -> str:
    """`explore: find the tests`, `5 children in 2 groups`; empty for any other call."""
    match given:
        case {"description": str(about), "prompt": str()}:
            return f"{given.get('subagent_type') or 'general-purpose'}: {one_line(about)}"
        case {"to": str(to), "message": str(text)}:
            return f"{to}: {one_line(text)}"
        case {"groups": list(groups)}:
            of = (group.get("children") for group in groups if isinstance(group, dict))
            children = sum(len(some) for some in of if isinstance(some, list))
            return f"{_children(children)} in {counted(len(groups), 'group')}"
        case {"children": list(children)}:
            return _children(len(children))
        case _:
            return ""


def _for_the_person(given: dict[str, Any]) -> str:
    """A plan, or questions; empty for any other call."""
    match given:
        case {"plan": str(plan)}:
            return one_line(plan)
        case {"questions": [{"question": str(first)}, *others]}:
            return f"{one_line(first)} (and {len(others)} more)" if others else one_line(first)
        case _:
            return ""


def work_title(arguments: str) -> str:
    """What work that is given to others is called, short enough for what comes of it to follow."""
    given = arguments_object(arguments) or {}
    match given:
        case {"description": str(about), "prompt": str()}:
            about = one_line(about)
        case _:
            about = gist(arguments)
    return about if len(about) <= TITLE else f"{about[: TITLE - 1]}…"


def _children(count: int) -> str:
    return counted(count, "child", "children")


def todos(arguments: str) -> list[str]:
    """`[x] done`, `[>] now`, `[ ] later`: a line for each thing to do, where a call lists some."""
    listed = (arguments_object(arguments) or {}).get("todos")
    return [
        f"{BOXES.get(str(item.get('status')), '[ ]')} {one_line(str(item.get('content', '')))}"
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    ]


def came_to(outcome: Outcome) -> str:
    """What a result comes to."""
    data = getattr(outcome, "data", None) or {}
    lines = [line for line in text_of(outcome).split("\n") if line.strip()]
    if "exitCode" in data:
        return f"{_ending(data)} · {_last_words(lines)}"
    if "totalSteps" in data:
        return _worked(data)
    file = data.get("file")
    if isinstance(file, dict) and isinstance(file.get("numLines"), int):
        return counted(file["numLines"], "line")
    if isinstance(outcome, Done) and (shown := _no_text(outcome)):
        return shown
    return one_line("\n".join(lines))


def _worked(data: dict[str, Any]) -> str:
    """What others did for a call."""
    if data.get("status") == "async_launched":
        return "in the background"
    names = ("totalSteps", "totalToolUseCount", "totalTokens", "totalCostUsd")
    steps, calls, tokens, dollars = (data.get(name) or 0 for name in names)
    state = data.get("status") or _of_groups(data.get("groups") or ())
    did = amounts(steps, calls, tokens, dollars)
    return did if state == "completed" else f"{state} · {did}"


def _of_groups(groups: Sequence[dict[str, Any]]) -> str:
    """`2 of 3 completed`, or, of all, just that."""
    completed = sum(group["completed"] for group in groups)
    every = completed + sum(group["failed"] + group["skipped"] for group in groups)
    return "completed" if completed == every else f"{completed} of {every} completed"


def amounts(steps: int, calls: int, tokens: int, dollars: float) -> str:
    """`3 steps, 5 calls, 12,345 tokens, $0.0123`"""
    parts = [counted(steps, "step"), counted(calls, "call"), counted(tokens, "token")]
    return ", ".join([*parts, f"${dollars:,.4f}"] if dollars else parts)


def _ending(data: dict[str, Any]) -> str:
    code = data["exitCode"]
    return str(data.get("status", "running")) if code is None else f"exit {code}"


def _last_words(lines: list[str]) -> str:
    """The end of what was printed: what we say of the exit code ourselves is no output."""
    shown = [line for line in lines if not line.startswith("Exit code ")]
    return shown[-1].strip().expandtabs(4) if shown else "(no output)"


def _no_text(outcome: Done) -> str:
    """Pictures and documents, where these are the result."""
    things = [part for part in content_of(outcome) if not isinstance(part, Text)]
    if not things:
        return ""
    kind = "picture" if all(isinstance(thing, Image) for thing in things) else "document"
    return f"a {kind}" if len(things) == 1 else counted(len(things), kind)


def one_line(text: str) -> str:
    line, _, rest = text.strip().expandtabs(4).partition("\n")
    return f"{line} …" if rest.strip() else line


def cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
