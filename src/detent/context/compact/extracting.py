"""The facts of a session, from its whole log and by rules alone: the same log, the same facts."""

from collections.abc import Iterable, Sequence
from typing import Any

from detent.context.bounds import shortened
from detent.context.compact.boundary import current_request
from detent.context.compact.facts import Fact
from detent.context.compact.wording import binding, deciding, names
from detent.context.project import not_rewound
from detent.types.content import Text, UserBlock, plain_text
from detent.types.effects import Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, text_of

LONGEST_REQUEST = 8_000
MOST_TEXT = 400_000
"""Characters of prompts, and as many of answers, that are looked at."""
LONGEST_COMMAND, LONGEST_FAULT, LONGEST_TODO = 300, 200, 300
PIPED = "<stdin>\n"
"""How a prompt begins what came with it through a pipe: not the user's own words."""
ASKING = ("AskUserQuestion",)
FAULTS = ("error", "failed", "fatal", "exception", "not found", "denied", "cannot", "undefined")


def facts_of(entries: Sequence[Entry]) -> tuple[Fact, ...]:
    """Of each kind the oldest first; what was said again counts where it was said last."""
    still = not_rewound(entries)
    prompts = _newest(list(_said(still)))
    replies = _newest([plain_text(e.content) for e in still if isinstance(e, Replied)])
    rules = {one: None for text in prompts for one in binding(text)}
    decided = (one for text in (*replies, *prompts) for one in deciding(text))
    return (
        *(Fact("request", text) for text in _request(entries)),
        *_each("constraint", (one for text in prompts for one in binding(text))),
        *_each("todo", _open_todos(still)),
        *_each("failing", _failing(still)),
        *_each("file", _written(still)),
        *_each("name", (one for text in prompts for one in names(text))),
        # Those of the user last, where they weigh most.
        *_each("decision", (one for one in decided if one not in rules)),
    )


def _said(entries: Iterable[Entry]) -> Iterable[str]:
    """By the user: prompts, and answers to what was asked."""
    for entry in entries:
        if isinstance(entry, Prompted):
            yield own_words(entry.content)
        elif isinstance(entry, CallEnded) and entry.name in ASKING:
            yield text_of(entry.outcome) if isinstance(entry.outcome, Done) else ""


def _newest(texts: list[str]) -> list[str]:
    """What is older has no room in the end anyway, and looking at it takes time."""
    room = MOST_TEXT
    for place in reversed(range(len(texts))):
        room -= len(texts[place])
        if room < 0:
            return texts[place + 1 :]
    return texts


def own_words(content: tuple[UserBlock, ...]) -> str:
    texts = (block.text for block in content if isinstance(block, Text))
    return "\n".join(text for text in texts if not text.startswith(PIPED))


def _each(kind: Any, texts: Iterable[str]) -> Iterable[Fact]:
    last: dict[str, None] = {}
    for text in texts:
        last.pop(text, None)
        last[text] = None
    return (Fact(kind, text) for text in last)


def _request(entries: Sequence[Entry]) -> Iterable[str]:
    for entry in current_request(entries):
        if isinstance(entry, Prompted) and (text := plain_text(entry.content).strip()):
            yield shortened(text, LONGEST_REQUEST)


def _open_todos(entries: Iterable[Entry]) -> Iterable[str]:
    todos: list[Any] = []
    for entry in entries:
        if isinstance(entry, CallEnded) and entry.name == "TodoWrite":
            data = entry.outcome.data if isinstance(entry.outcome, Done) else None
            todos = (data or {}).get("newTodos", todos)
    for todo in todos if isinstance(todos, list) else ():
        status, content = (
            (todo.get("status"), todo.get("content")) if _is_object(todo) else ("", "")
        )
        if content and status != "completed":
            yield _line(f"[{status}] {content}", LONGEST_TODO)


def _written(entries: Iterable[Entry]) -> Iterable[str]:
    """By calls that went well, or may have run in part."""
    declared: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if isinstance(entry, CallStarted):
            paths = (effect.path for effect in entry.effects if isinstance(effect, Writes))
            declared[entry.call_id] = tuple(paths)
        elif isinstance(entry, CallEnded) and isinstance(entry.outcome, Done | Cut):
            yield from declared.get(entry.call_id, ())


def _failing(entries: Iterable[Entry]) -> Iterable[str]:
    """Commands whose last run failed."""
    running: dict[str, str] = {}
    last: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, CallStarted):
            for effect in entry.effects:
                if isinstance(effect, Runs):
                    running[entry.call_id] = _line(effect.command, LONGEST_COMMAND)
        elif isinstance(entry, CallEnded) and (command := running.pop(entry.call_id, "")):
            last.pop(command, None)
            last[command] = _fault(entry.outcome)
    return (f"`{command}` {fault}" for command, fault in last.items() if fault)


def _fault(outcome: Outcome) -> str:
    """How it failed; empty when it did not."""
    match outcome:
        case Failed(text=text, data=data):
            code = (data or {}).get("exitCode")
            how = f"(exit {code})" if isinstance(code, int) else "(failed)"
        case Cut(reason=reason, text=text):
            how = f"({_line(reason, LONGEST_FAULT)})"
        case Done() | Refused():
            return ""
    key = _key_line(text)
    return f"{how}: {key}" if key else how


def _key_line(text: str) -> str:
    """The line that says what is wrong: the last that sounds like it, else the last."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    telling = [line for line in lines if any(word in line.lower() for word in FAULTS)]
    return _line((telling or lines or [""])[-1], LONGEST_FAULT)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
