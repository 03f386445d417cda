"""`--input-format stream-json`: many turns, frames both ways, driven by a host program."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from msgspec.structs import replace

from detent.sdk.commands import custom_commands
from detent.sdk.hooks import Facts
from detent.sdk.options import Options
from detent.sdk.session import Session, new_uuid, parse_mode
from detent.surfaces.arguments import Arguments
from detent.surfaces.budgets import told
from detent.surfaces.commands import COMMANDS, Said
from detent.surfaces.commands.custom import (
    Prepared,
    as_commands,
    invoked,
    is_there,
    may_be_more,
    prepared,
)
from detent.surfaces.headless.activity import tell_notice
from detent.surfaces.headless.exit_codes import USAGE, exit_code
from detent.surfaces.headless.frames import CLIENT_VERSION, frame_line
from detent.surfaces.headless.host_answers import HostApprover
from detent.surfaces.headless.host_hooks import hooks_from
from detent.surfaces.headless.jobs import tell_jobs
from detent.surfaces.headless.link import Link
from detent.surfaces.headless.result import TurnRecord, failed_result
from detent.surfaces.headless.sent import Prompt, Sent, prompt_from, schema_from
from detent.surfaces.headless.signals import Signals
from detent.surfaces.headless.single import command_in
from detent.surfaces.headless.start import approver_for
from detent.surfaces.headless.stdout import ReaderGone, Stdout
from detent.surfaces.headless.streaming import FrameWriter
from detent.surfaces.lines.reading import Lines
from detent.surfaces.lines.telling import tell
from detent.types.codec import decode_any
from detent.types.errors import BadInput, NoModel
from detent.types.events import Prompted, TurnEnded


async def converse(options: Options, arguments: Arguments) -> int:
    return await Conversation(options, arguments).run()


class Conversation:
    def __init__(self, options: Options, arguments: Arguments) -> None:
        self._options = options
        self._arguments = arguments
        self._stdout = Stdout()
        self._link = Link(self._write)
        self._facts = Facts()
        self._prompts: asyncio.Queue[Sent | Said | None] = asyncio.Queue()
        self._is_over = False
        """The host says no more: the last in the queue tells so."""
        self._next: Said | Sent | None = None
        """A command that came behind a prompt."""
        self._obeying: asyncio.Task[Any] | None = None
        """A command that runs."""
        self._session: Session | None = None
        self._writer: FrameWriter | None = None
        self._signals = Signals()
        self._code = 0
        self._thinking: int | None = None
        """The budget the session's model was opened with."""
        self._stop_next = False
        """An interrupt came for a prompt whose turn had not begun."""
        self._unreplayed: list[dict[str, Any]] = []
        self._forwards_text = False
        """The host wants to hear what subagents say."""
        self._joined: dict[str, str] = {}
        """Prompts that became part of another one, by what the host calls both."""

    async def run(self) -> int:
        gc.enable()
        self._signals.watch(self._interrupt)
        reading = asyncio.create_task(self._read())
        try:
            while (prompt := await self._next_prompt()) is not None:
                await (self._obey(prompt) if isinstance(prompt, Said) else self._turn(prompt))
                if self._signals.code is not None:
                    return self._signals.code
            if reading.done():
                reading.result()  # what went wrong there is told here
        except asyncio.CancelledError:
            if self._signals.code is None:
                raise
            return self._signals.code
        finally:
            reading.cancel()
            if self._session is not None:
                tell_jobs(self._session)
                await self._session.aclose()
                for event in self._session.parting:
                    tell_notice(event)
        return self._code

    async def _next_prompt(self) -> Sent | Said | None:
        """Prompts that waited are joined into one; a command stands for itself."""
        if (command := self._next) is not None:
            self._next = None
            return command
        prompt = await self._prompts.get()
        while isinstance(prompt, Sent) and not prompt.calls and not self._prompts.empty():
            further = self._prompts.get_nowait()
            if isinstance(further, Sent) and not further.calls:
                prompt = prompt.joined(further)
                continue
            if further is None:
                self._prompts.put_nowait(None)
            self._next = further
            break
        return prompt

    async def _turn(self, prompt: Sent) -> None:
        session, writer = self._opened()
        await self._replay()
        await self._heed_thinking(session)
        ready = await self._prepared(prompt, session, writer)
        if ready is None:
            return
        record = TurnRecord(session.id, session.price, session.bounds)
        uuid = next(iter(prompt.uuids), "")
        self._joined |= dict.fromkeys(prompt.uuids[1:], uuid)
        async with aclosing(session.send(ready.content, uuid=uuid, wishes=ready.wishes)) as events:
            async for event in events:
                if self._stop_next:
                    self._stop_next = not session.interrupt()
                if isinstance(event, Prompted) and self._has_more:
                    session.wait_no_longer()  # for agents in the background: more was said already
                record.add(event)
                await writer.show(event)
                if isinstance(event, TurnEnded) and event.reason == "user_cancelled":
                    await writer.write(_interruption(writer))
        ended = record.ended
        assert ended is not None
        result = record.result(told(session, ended))
        await writer.write(result)
        if self._prompts.empty():
            await writer.state("idle")
        code = exit_code(ended.reason, refused=bool(record.refused), status=ended.status)
        self._code = code if result["is_error"] and ended.reason != "user_cancelled" else 0

    async def _prepared(
        self, prompt: Sent, session: Session, writer: FrameWriter
    ) -> Prepared | None:
        """None where no turn comes of it, and the host was told why."""
        if not prompt.is_typed or not may_be_more(prompt.content):
            return Prepared(prompt.content)
        making = prepared(session, prompt.content, writer.show, with_commands=prompt.calls)
        task = asyncio.create_task(making)
        self._obeying = task
        try:
            await asyncio.wait([task])
            if not task.cancelled():
                return task.result()
            result = failed_result(session.id, "Interrupted.", "user_cancelled")
        except BadInput as error:
            result = failed_result(session.id, str(error), "bad_input")
            self._code = USAGE
        finally:
            self._obeying = None
            task.cancel()
            await asyncio.wait([task])
        await writer.begin()
        await writer.write(result)
        if self._prompts.empty():
            await writer.state("idle")
        return None

    @property
    def _has_more(self) -> bool:
        """The host has said something else already; the end of its input is nothing said."""
        return self._next is not None or self._prompts.qsize() > self._is_over

    async def _obey(self, one: Said) -> None:
        from detent.surfaces.headless.commanded import obeyed

        async with self._place_for(one) as (session, writer):
            await writer.begin()
            self._obeying = asyncio.create_task(obeyed(one, session, writer.show))
            try:
                result = await self._obeying
            except BadInput as error:
                result = failed_result(session.id, str(error), "bad_input")
            finally:
                self._obeying = None
            await writer.write(result)
            if self._prompts.empty():
                await writer.state("idle")
        self._code = USAGE if result.get("reason") == "bad_input" else 0

    @asynccontextmanager
    async def _place_for(self, one: Said) -> AsyncIterator[tuple[Session, FrameWriter]]:
        """The session; where none can be had for want of a model, one that asks nobody."""
        try:
            place = self._opened()
        except NoModel:
            if one.command.needs_model:
                raise
            from detent.sdk.keyless import keyless

            async with Session(keyless(self._options)) as session:
                yield session, FrameWriter(session, self._stdout, self._arguments)
            return
        yield place

    def _opened(self) -> tuple[Session, FrameWriter]:
        """The session opens with the first prompt: `initialize` may still have set things."""
        if self._session is None or self._writer is None:
            approver = HostApprover(self._link, self._state)
            asks_host = self._arguments.value("--permission-prompt-tool") == "stdio"
            if asks_host or self._arguments.value("--on-ask") == "stdio":
                self._options = replace(self._options, approver=approver)
            else:
                self._options = replace(self._options, approver=approver_for(self._arguments))
            session = Session(self._options)
            self._thinking = self._options.thinking_budget
            self._session = session
            self._writer = FrameWriter(session, self._stdout, self._arguments)
            self._writer.forwards_text |= self._forwards_text
            self._facts.session, self._facts.path = session.id, session.path
            self._facts.cwd, self._facts.mode = lambda: session.cwd, lambda: session.mode
        return self._session, self._writer

    async def _state(self, state: str) -> None:
        if self._writer is not None:
            await self._writer.state(state)

    async def _write(self, frame: dict[str, Any]) -> None:
        await self._stdout.write(frame_line(frame))

    def _interrupt(self) -> bool:
        if self._obeying is not None:
            return self._obeying.cancel()
        return self._session is not None and self._session.interrupt()

    async def _read(self) -> None:
        try:
            async for line in Lines():
                await self._line(line)
        finally:
            self._link.hung_up()
            self._is_over = True
            self._prompts.put_nowait(None)

    async def _line(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            frame = decode_any(line)
            if not isinstance(frame, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as error:
            tell(f"a line on stdin is not a frame and was passed over: {error}")
            return
        await self._dispatch(frame)

    async def _dispatch(self, frame: dict[str, Any]) -> None:
        match frame.get("type"):
            case "user":
                await self._user(frame)
            case "control_request":
                request_id = str(frame.get("request_id", ""))
                request = frame.get("request")
                request = request if isinstance(request, dict) else {}
                try:
                    await self._link.succeed(request_id, await self._control(request))
                except ReaderGone:
                    raise
                except Exception as error:  # whatever it is: silence would hang the host
                    await self._link.fail(request_id, str(error) or repr(error))
            case "control_response":
                response = frame.get("response")
                self._link.answered(response if isinstance(response, dict) else {})
            case _:
                pass

    async def _user(self, frame: dict[str, Any]) -> None:
        message = frame.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        prompt = prompt_from(content)
        if not prompt:
            tell("a user frame without text was passed over")
            return
        uuid = str(frame.get("uuid") or "")
        if self._arguments.on("--replay-user-messages"):
            uuid = uuid or new_uuid()
            self._unreplayed.append({**frame, "isReplay": True, "uuid": uuid})
            await self._replay()
        is_typed = not frame.get("client_composed")
        one = command_in(prompt, self._arguments, self._options) if is_typed else None
        uuids = (uuid,) if uuid else ()
        self._prompts.put_nowait(
            one or Sent(prompt, uuids, is_typed, calls=is_typed and self._calls(prompt))
        )
        if self._session is not None and self._session.is_running:
            self._session.wait_no_longer()

    def _calls(self, prompt: Prompt) -> bool:
        """Whether it calls a command that somebody has written."""
        one = None if self._arguments.on("--disable-slash-commands") else invoked(prompt)
        if one is None:
            return False
        session = self._session
        found = custom_commands(self._options) if session is None else session.custom_commands
        return is_there(one, found)

    async def _replay(self) -> None:
        """What came before there was a session waits for it."""
        while self._unreplayed and self._writer is not None:
            frame = self._unreplayed.pop(0)
            await self._writer.write(self._writer.stamped(frame, frame["uuid"]))

    async def _control(self, request: dict[str, Any]) -> dict[str, Any]:
        match request.get("subtype"):
            case "initialize":
                return self._initialize(request)
            case "interrupt":
                self._stop_next = not self._interrupt() and not self._prompts.empty()
                return {"still_queued": []}
            case "set_permission_mode":
                self._set_mode(str(request.get("mode", "")))
                return {}
            case "set_model":
                await self._set_model(str(request.get("model") or ""))
                return {}
            case "set_max_thinking_tokens":
                self._set_thinking(request.get("max_thinking_tokens"))
                return {}
            case "get_context_usage":
                return await self._context_usage()
            case "rewind_files":
                from detent.surfaces.headless.rewinding import rewind_files

                uuid = str(request.get("user_message_id", ""))
                session, _ = self._opened()
                is_look = bool(request.get("dry_run"))
                return await rewind_files(session, self._joined.get(uuid, uuid), dry_run=is_look)
            case "stop_task":
                session, _ = self._opened()
                await session.stop_task(str(request.get("task_id", "")))
                return {}
            case "mcp_status":
                return {"mcpServers": []}
            case other:
                raise ValueError(f"unsupported control request: {other}")

    def _initialize(self, request: dict[str, Any]) -> dict[str, Any]:
        from detent.surfaces.headless.host_agents import told_agents, told_styles, with_agents

        self._options = with_agents(self._options, request.get("agents"))
        self._forwards_text = bool(request.get("forwardSubagentText"))
        hooks = hooks_from(request.get("hooks"), self._link, self._facts)
        self._options = replace(self._options, hooks=hooks)
        if isinstance(system := request.get("systemPrompt"), list):
            self._options = replace(self._options, system_prompt="\n\n".join(map(str, system)))
        if isinstance(append := request.get("appendSystemPrompt"), str):
            self._options = replace(self._options, append_system_prompt=append)
        if (schema := schema_from(request)) is not None:
            self._options = replace(self._options, json_schema=schema)
        return {
            "commands": commands_of(self._arguments, self._options),
            "agents": told_agents(self._options),
            **told_styles(self._options),
            "models": [],
            "account": {},
            "hooks_applied": True,
            "claude_code_version": CLIENT_VERSION,
        }

    async def _context_usage(self) -> dict[str, Any]:
        """In a thread: a long conversation takes its time."""
        from detent.surfaces.headless.context_usage import context_usage

        session, _ = self._opened()
        ledger = await asyncio.to_thread(session.context)
        return context_usage(ledger, session.entries)

    def _set_mode(self, mode: str) -> None:
        mode = parse_mode(mode)
        if self._session is not None:
            self._session.mode = mode
        self._options = replace(self._options, permission_mode=mode)

    async def _set_model(self, model: str) -> None:
        if self._session is not None:
            await self._session.switch_model(model)
        self._options = replace(self._options, model=model)

    def _set_thinking(self, budget: Any) -> None:
        """From the next turn on; null leaves it to the settings and the model again."""
        if budget is not None and (not isinstance(budget, int) or budget < 0):
            raise ValueError(f"max_thinking_tokens is a number of tokens or null, not {budget!r}")
        self._options = replace(self._options, thinking_budget=budget)

    async def _heed_thinking(self, session: Session) -> None:
        """Between turns: a running one goes on as it began."""
        if self._options.thinking_budget != self._thinking:
            self._thinking = self._options.thinking_budget
            await session.set_thinking(self._thinking)


def commands_of(arguments: Arguments, options: Options) -> list[dict[str, str]]:
    if arguments.on("--disable-slash-commands"):
        return []
    commands = (*COMMANDS, *as_commands(custom_commands(options)))
    return [{"name": c.name, "description": c.about, "argumentHint": c.takes} for c in commands]


def _interruption(writer: FrameWriter) -> dict[str, Any]:
    text = {"type": "text", "text": "[Request interrupted by user]"}
    message = {"role": "user", "content": [text]}
    return writer.stamped({"type": "user", "message": message, "parent_tool_use_id": None})
