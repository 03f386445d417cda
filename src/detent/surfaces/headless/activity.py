"""What people are told on stderr; with `--verbose` one line for each thing that happens."""

from typing import TYPE_CHECKING

from detent.surfaces.lines.telling import say, tell
from detent.surfaces.wording.marks import mark
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.content import Call
from detent.types.events import (
    Answered,
    Asked,
    CallEnded,
    CallStarted,
    Compacted,
    Event,
    Nested,
    Notice,
    Progress,
    Replied,
    Retrying,
    Trimmed,
    TurnEnded,
)

if TYPE_CHECKING:
    from detent.surfaces.headless.agent_lines import AgentLines

LONG_WAIT = 1.0
LONG_CALL = 10
GIVES_WORK = ("Agent", "delegate_agent")
"""Calls whose progress is not output. Several run at once: lines say which is meant."""


def tell_notice(event: Event) -> None:
    """What people must know in every mode; of waiting, when it could be taken for a hang."""
    match event:
        case Notice(text=text, level=level) if level != "info":
            tell(text)
        case Retrying(attempt=attempt, of=of, delay=delay, error=error):
            if delay >= LONG_WAIT or attempt > 1:
                tell(f"{error}; retry {attempt}/{of} in {delay:g} s")
        case Nested(event=inner):
            tell_notice(inner)
        case _:
            pass


class LongCalls:
    """A line every ten seconds for each call that takes long."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}
        """How many times ten seconds were told, by call."""
        self._titles: dict[str, str] = {}
        """Of those that give work to others, by call."""
        self._far: dict[str, str] = {}
        """How far those have come that give work to others, by call."""

    def tell(self, event: Event) -> None:
        match event:
            case CallStarted(name=name) if name in GIVES_WORK:
                self._titles[event.call_id] = title(event)
            case Progress():
                self._tell_time(event)

    def _tell_time(self, event: Progress) -> None:
        if event.text:  # output is not a sign of time
            if event.name in GIVES_WORK:
                self._far[event.call_id] = event.text
            return
        times = int(event.seconds // LONG_CALL)
        if times > self._told.get(event.call_id, 0):
            self._told[event.call_id] = times
            far = self._far.get(event.call_id)
            which = self._titles.get(event.call_id, event.name)
            say(f"  … {which} · {event.seconds:.0f} s" + (f" · {far}" if far else ""))


class Activity:
    """The calls of a turn, as they start and end."""

    def __init__(self) -> None:
        self._long = LongCalls()
        self._started: dict[str, str] = {}
        """What the calls that have run are called: by the tool's own name; a model may have used
        another."""
        self._sent: dict[str, Call] = {}
        self._unsent: list[CallEnded] = []
        """Calls that never ran, and ended before the answer with their arguments was whole."""
        self._agents: AgentLines | None = None

    def tell(self, event: Event) -> None:
        match event:
            case CallStarted() | CallEnded():
                self._tell_call(event)
            case Replied(content=content):
                self._sent |= {block.id: block for block in content if isinstance(block, Call)}
                self._tell_unsent()
            case TurnEnded():
                self._tell_unsent()
                self._started, self._sent = {}, {}
            case Progress(name=name, text=text) if text and name in GIVES_WORK:
                say_cut(f"    … {text}")
            case Progress():
                self._long.tell(event)
            case Nested() | AgentStarted() | AgentEnded():
                self._tell_agent(event)
            case Retrying(attempt=attempt, of=of, delay=delay, error=error):
                say(f"  ↻ retry {attempt}/{of} in {delay:g} s: {error}")
            case Asked(name=name, arguments=arguments, reason=reason):
                say_cut(f"  ? {name} {_gist(arguments)}")
                say(f"    {reason}")
            case Compacted() | Trimmed():
                _tell_room(event)
            case Notice(text=text, level="info"):
                tell(text)
            case Answered(allowed=allowed):
                say("    allowed" if allowed else "    not allowed")
            case _:
                tell_notice(event)

    def _tell_agent(self, event: Event) -> None:
        if self._agents is None:
            from detent.surfaces.headless.agent_lines import AgentLines

            self._agents = AgentLines()
        self._agents.tell(event)

    def _tell_call(self, event: CallStarted | CallEnded) -> None:
        if isinstance(event, CallStarted):
            self._started[event.call_id] = title(event)
            self._long.tell(event)
            _tell_start(event)
        elif event.call_id in self._started:
            _tell_end(event, self._started[event.call_id])
        elif event.call_id in self._sent:
            _tell_unrun(event, self._sent[event.call_id].arguments)
        else:
            self._unsent.append(event)

    def _tell_unsent(self) -> None:
        """An answer that broke off may never say what it had sent."""
        unsent, self._unsent = self._unsent, []
        for ended in unsent:
            sent = self._sent.get(ended.call_id)
            _tell_unrun(ended, sent.arguments if sent else "")


def title(started: CallStarted) -> str:
    """`Read`; `Agent look at a`"""
    if started.name not in GIVES_WORK:
        return started.name
    from detent.surfaces.wording.gist import work_title

    return f"{started.name} {work_title(started.arguments)}".rstrip()


def _tell_start(started: CallStarted) -> None:
    from detent.surfaces.wording.gist import todos

    say_cut(f"  → {started.name} {_gist(started.arguments)}")
    for line in todos(started.arguments):
        say_cut(f"    {line}")


def _tell_end(ended: CallEnded, called: str) -> None:
    from detent.surfaces.wording.gist import came_to

    say_cut(f"  {mark(ended.outcome)} {called} · {ended.ms} ms · {came_to(ended.outcome)}")


def _tell_unrun(ended: CallEnded, arguments: str) -> None:
    from detent.surfaces.wording.gist import came_to

    say_cut(f"  {mark(ended.outcome)} {ended.name} {_gist(arguments)}".rstrip())
    say_cut(f"    {came_to(ended.outcome)}")


def _tell_room(made: Compacted | Trimmed) -> None:
    count = len(made.trims) if isinstance(made, Trimmed) else 0
    what = f"{made.stage}: {count} shortened" if isinstance(made, Trimmed) else "compacted"
    sizes = f"{made.before_tokens:,} → {made.after_tokens:,} tokens"
    say(f"  ⇣ {what} · {sizes} · `detent uncompact` undoes it")


def _gist(arguments: str) -> str:
    """Loaded with the first call: the first request need not wait for it."""
    from detent.surfaces.wording.gist import gist

    return gist(arguments)


def say_cut(line: str) -> None:
    from detent.surfaces.wording.gist import cut

    say(cut(line))
