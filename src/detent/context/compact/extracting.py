"""The facts of a session, from its whole log and by rules alone: the same log, the same facts."""

from collections.abc import Iterable, Sequence
from typing import Any

from detent.context.bounds import in_one_line, shortened
from detent.context.compact.boundary import current_request
from detent.context.compact.facts import Fact
from detent.context.compact.pasted import LIST, key_line, parted
from detent.context.compact.wording import binds, decides, names, sentences, tells
from detent.context.project import not_rewound
from detent.types.content import own_words, plain_text
from detent.types.effects import Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied
from detent.types.outcomes import Cut, Done, Failed, Outcome, Refused, text_of

LONGEST_REQUEST = 8_000
MOST_TEXT = 400_000
"""Characters of prompts, and as many of answers, that are looked at."""
LONGEST_COMMAND, LONGEST_FAULT, LONGEST_TODO = 300, 200, 300
ASKING = ("AskUserQuestion",)


def facts_of(entries: Sequence[Entry]) -> tuple[Fact, ...]:
    """Of each kind the oldest first; what was said again counts where it was said last."""
    still = not_rewound(entries)
    prompts = [parted(text) for text in _newest(list(_said(still)))]
    said = [one for typed, _ in prompts for one in sentences(typed)]
    faults = [one for _, pasted in prompts for one in _faults(pasted)]
    rules = dict.fromkeys(filter(binds, said))
    replies = _newest([plain_text(e.content) for e in still if isinstance(e, Replied)])
    decided = [one for text in replies for one in sentences(parted(text)[0]) if decides(one)]
    # Those of the user last, where they weigh most.
    decided += [one for one in said if decides(one)]
    told = rules | dict.fromkeys(decided)
    return (
        *(Fact("request", text) for text in _request(entries)),
        *_each("constraint", filter(binds, said)),
        *_each("todo", _open_todos(still)),
        *_each("failing", _failing(still)),
        *_each("file", _written(still)),
        *_each("name", (one for typed, pasted in prompts for one in _named(typed, pasted))),
        *_each("decision", (one for one in decided if one not in rules)),
        *_each("said", (one for one in said + faults if tells(one) and one not in told)),
    )


def _faults(pasted: list[list[str]]) -> Iterable[str]:
    """Of what was pasted there stays the line that says what is wrong."""
    lines = (key_line(block) for block in pasted if len(block) > LIST)
    return (in_one_line(line, LONGEST_FAULT) for line in lines)


def _named(typed: str, pasted: list[list[str]]) -> Iterable[str]:
    yield from names(typed)
    for block in pasted:
        if len(block) <= LIST:
            yield from names("\n".join(block))


def _said(entries: Iterable[Entry]) -> Iterable[str]:
    """By the user: prompts, and answers to what was asked."""
    for entry in entries:
        if isinstance(entry, Prompted):
            yield "\n".join(own_words(entry.content))
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
            yield in_one_line(f"[{status}] {content}", LONGEST_TODO)


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
                    running[entry.call_id] = in_one_line(effect.command, LONGEST_COMMAND)
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
            how = f"({in_one_line(reason, LONGEST_FAULT)})"
        case Done() | Refused():
            return ""
    key = in_one_line(key_line(text.split("\n")), LONGEST_FAULT)
    return f"{how}: {key}" if key else how


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)
