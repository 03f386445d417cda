"""A transcript of Claude Code as entries of ours. Nothing is run, nothing is believed to be safe:
calls are told of, and nobody is said to have permitted them."""

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from detent.app.importing.blocks import answer_block, result_content, user_block
from detent.app.importing.record import Found, Unreadable, is_id
from detent.app.importing.transcript import Line, Transcript, blocks_of, time_of
from detent.types.content import AssistantBlock, Call, Text, UserBlock, plain_text
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reason,
    Reminded,
    Replied,
    StepRecord,
    TurnEnded,
)
from detent.types.outcomes import Done, Failed
from detent.types.running import Named
from detent.types.usage import Usage

INTERRUPTED = "[Request interrupted by user"
BY_PROGRAM = (
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<task-notification>",
    "Caveat: The messages below",
)
"""How texts begin that stand among what the user said, and are not the user's."""
SOURCE = "import"


def read_claude_code(lines: Iterable[bytes], name: str) -> Found:
    """`name` is that of the file, which tells the session. Raises Unreadable."""
    transcript = Transcript(lines)
    talk = transcript.conversation()
    if not any(line["type"] in ("user", "assistant") for line in talk):
        raise Unreadable("there is no conversation in it")
    first = transcript.first or talk[0]
    stem = os.path.splitext(os.path.basename(name))[0].lower()
    session = next((s for s in (stem, str(first.get("sessionId", "")).lower()) if is_id(s)), "")
    cwd = first.get("cwd")
    if not session:
        raise Unreadable("neither its name nor a line of it tells the session's id")
    where = cwd if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd else "/"
    writing = _Writing(talk, transcript.left_out)
    version = f"claude-code {str(first.get('version', ''))[:40]}".strip()
    opened = Opened(session=session, cwd=where, version=version, format=2)
    titles = transcript.titles
    title = titles.get("custom-title") or titles.get("ai-title") or titles.get("summary") or ""
    entries = writing.entries(opened, title)
    return Found(session, where, entries, transcript.left_out)


class _Writing:
    """Lines in, entries out; a message that came in several lines is one answer."""

    def __init__(self, talk: list[Line], left_out: Counter[str]) -> None:
        self._talk = talk
        self._left_out = left_out
        self._entries: list[Entry] = []
        self._at = time_of(talk[0], 0.0)
        self._turn = 0
        self._begun = 0.0
        self._is_open = False
        self._steps: list[StepRecord] = []
        self._places: dict[str, int] = {}
        """Where in the list the answer of a message id is."""
        self._names: dict[str, str] = {}
        """Of tools, by call."""
        self._told: Line = {}
        """What the boundary said of the compaction whose summary comes next."""

    def entries(self, opened: Opened, title: str) -> tuple[Entry, ...]:
        self._add(opened)
        for line in self._talk:
            self._at = time_of(line, self._at)
            match line["type"]:
                case "assistant":
                    self._answer(line)
                case "user":
                    self._user(line)
                case "attachment":
                    self._attachment(line)
                case _:
                    self._note(line)
        self._end("end_turn")
        if title:
            self._add(Named(name=title))
        return tuple(self._entries)

    def _add(self, entry: Entry) -> None:
        self._entries.append(replace(entry, seq=len(self._entries) + 1, at=self._at))

    def _user(self, line: Line) -> None:
        if line.get("isCompactSummary") is True:
            self._summary(line)
            return
        said: list[UserBlock] = []
        for block in blocks_of(line):
            if block.get("type") == "tool_result":
                self._result(block)
            elif (read := user_block(block)) is not None:
                said.append(read)
            else:
                self._left_out[f"block {str(block.get('type'))[:40]!r}"] += 1
        text = plain_text(tuple(said))
        if not said or (not text.strip() and all(isinstance(one, Text) for one in said)):
            return
        if text.startswith(INTERRUPTED):
            self._end("user_cancelled")
        elif line.get("isMeta") is True or text.lstrip().startswith(BY_PROGRAM):
            self._add(Reminded(text=text, source=SOURCE))
        else:
            self._prompt(tuple(said))

    def _prompt(self, content: tuple[UserBlock, ...], *, steered: bool = False) -> None:
        if not (steered and self._is_open):
            self._end("end_turn")
            self._turn += 1
            self._begun, self._is_open, steered = self._at, True, False
        self._add(Prompted(turn=self._turn, content=content, steered=steered))

    def _attachment(self, line: Line) -> None:
        """Most of what is attached is told anew by us; a prompt that came meanwhile is not."""
        attached = line.get("attachment")
        found = attached.get("prompt") if isinstance(attached, dict) else None
        is_prompt = isinstance(attached, dict) and attached.get("type") == "queued_command"
        if is_prompt and isinstance(found, str) and not found.lstrip().startswith(BY_PROGRAM):
            self._prompt((Text(found),), steered=True)
        else:
            self._left_out["attachment"] += 1

    def _answer(self, line: Line) -> None:
        message = line.get("message")
        if not isinstance(message, dict) or message.get("model") == "<synthetic>":
            self._left_out["message of the program"] += 1
            return
        content: list[AssistantBlock] = []
        for block in blocks_of(line):
            if (read := answer_block(block)) is not None:
                content.append(read)
            else:
                self._left_out[f"block {str(block.get('type'))[:40]!r}"] += 1
        for call in content:
            if isinstance(call, Call):
                self._names[call.id] = call.name
        known = message.get("id")
        if isinstance(known, str) and known in self._places:
            self._lengthen(self._places[known], content, message)
        elif content:
            self._reply(content, message, known if isinstance(known, str) else "")

    def _reply(self, content: list[AssistantBlock], message: Line, known: str) -> None:
        if not self._is_open:
            self._turn, self._begun, self._is_open = self._turn + 1, self._at, True
        usage, model = _usage(message), str(message.get("model") or "unknown")
        stop = str(message.get("stop_reason") or _stop(content))
        step = len(self._steps) + 1
        if known:
            self._places[known] = len(self._entries)
        self._steps.append(StepRecord(step, model, stop, usage, _calls_in(content)))
        self._add(
            Replied(
                turn=self._turn,
                step=step,
                model=model,
                content=tuple(content),
                stop=stop,
                usage=usage,
                message_id=known,
            )
        )

    def _lengthen(self, place: int, content: list[AssistantBlock], message: Line) -> None:
        """A further line of an answer; each tells what the whole has taken so far."""
        before = self._entries[place]
        assert isinstance(before, Replied)
        usage = max(before.usage, _usage(message), key=lambda usage: usage.total)
        whole = (*before.content, *content)
        stop = str(message.get("stop_reason") or _stop(list(whole)))
        self._entries[place] = replace(before, content=whole, usage=usage, stop=stop)
        if before.turn == self._turn and len(self._steps) >= before.step:
            record = StepRecord(before.step, before.model, stop, usage, _calls_in(list(whole)))
            self._steps[before.step - 1] = record

    def _result(self, block: Line) -> None:
        call = block.get("tool_use_id")
        if not isinstance(call, str) or call not in self._names:
            self._left_out["result without its call"] += 1
            return
        content = result_content(block.get("content"))
        failed = block.get("is_error") is True
        outcome = Failed(plain_text(content)) if failed else Done(content)
        self._add(CallEnded(call_id=call, name=self._names[call], outcome=outcome))

    def _summary(self, line: Line) -> None:
        text = "\n".join(str(b.get("text", "")) for b in blocks_of(line) if b.get("type") == "text")
        if not text.strip():
            return
        self._end("end_turn")
        number = len(self._entries) + 1
        self._add(Compacted(summary=text, keeps_from=number, by="model", **self._boundary()))

    def _boundary(self) -> dict[str, Any]:
        facts, self._told = self._told, {}
        trigger, tokens = facts.get("trigger"), facts.get("preTokens")
        found: dict[str, Any] = {"trigger": "manual" if trigger == "manual" else "auto"}
        if isinstance(tokens, int) and tokens > 0:
            found["before_tokens"] = tokens
        return found

    def _note(self, line: Line) -> None:
        if line.get("subtype") == "compact_boundary":
            facts = line.get("compactMetadata")
            self._told = facts if isinstance(facts, dict) else {}
        else:
            self._left_out[f"{line['type']} line"] += 1

    def _end(self, reason: Reason) -> None:
        if not self._is_open:
            return
        steps, self._steps, self._is_open = tuple(self._steps), [], False
        usage = sum((step.usage for step in steps), Usage())
        last = self._entries[-1].at if reason == "end_turn" else self._at
        ms = max(0, round((last - self._begun) * 1000))
        ended = TurnEnded(turn=self._turn, reason=reason, steps=steps, usage=usage, ms=ms)
        self._add(replace(ended, requests=len(steps)))


def _calls_in(content: list[AssistantBlock]) -> int:
    return sum(isinstance(block, Call) for block in content)


def _stop(content: list[AssistantBlock]) -> str:
    return "tool_use" if _calls_in(content) else "end_turn"


def _usage(message: Line) -> Usage:
    given = message.get("usage")
    if not isinstance(given, dict):
        return Usage()

    def count(found: Any) -> int:
        is_count = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53
        return found if is_count else 0

    created = given.get("cache_creation")
    hour = created.get("ephemeral_1h_input_tokens") if isinstance(created, dict) else 0
    return Usage(
        input=count(given.get("input_tokens")),
        output=count(given.get("output_tokens")),
        cache_read=count(given.get("cache_read_input_tokens")),
        cache_write=count(given.get("cache_creation_input_tokens")),
        cache_write_1h=count(hour),
    )
