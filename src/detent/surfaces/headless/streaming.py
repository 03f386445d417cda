"""Frames to stdout, as events come."""

import os
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from detent.sdk.session import Session, new_uuid
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands import NAMES
from detent.surfaces.headless.frames import Frames, frame_line
from detent.surfaces.headless.jobs import JobFrames
from detent.surfaces.headless.partials import Partials
from detent.surfaces.headless.stdout import Stdout
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.durable import Durable
from detent.types.events import Event, HookEnded, HookStarted, Nested, Opened, Progress, Prompted

if TYPE_CHECKING:
    from detent.surfaces.headless.agent_frames import AgentFrames


class FrameWriter:
    def __init__(self, session: Session, stdout: Stdout, arguments: Arguments) -> None:
        self._session = session
        self._stdout = stdout
        self._frames = Frames(session.id, new_uuid)
        self._hook_events = arguments.on("--include-hook-events")
        self._commands = () if arguments.on("--disable-slash-commands") else NAMES
        partial = arguments.on("--include-partial-messages")
        self._partials = Partials(session.model) if partial else None
        self._jobs = JobFrames(lambda: session.jobs)
        self.forwards_text = arguments.on("--forward-subagent-text")
        """What subagents say is told, too."""
        self._agents: AgentFrames | None = None
        self._told = session.entries[-1].seq if session.entries else 0
        """The last entry of the session that was shown."""
        self._tells_state = bool(os.environ.get("CLAUDE_CODE_SDK_READS_SESSION_STATE"))

    async def show(self, event: Event) -> None:
        if isinstance(event, Opened):
            return
        if isinstance(event, Prompted) and not event.steered:
            await self.begin(event.seq)
        if isinstance(event, Durable):
            self._told = event.seq
        if isinstance(event, Nested | AgentStarted | AgentEnded):
            await self._show_agent(event)
            return
        if self._partials is not None:
            if isinstance(event, Progress):
                await self.write(self._frames.stamped(_progress(event)))
            for raw in self._partials.of(event):
                frame = {"type": "stream_event", "event": raw, "parent_tool_use_id": None}
                await self.write(self._frames.stamped(frame))
        if isinstance(event, HookStarted | HookEnded):
            if self._hook_events or event.event == "SessionStart":
                await self.write(self._frames.stamped(_of_hook(event)))
            return
        for frame in self._frames.of(event):
            await self.write(frame)
        for job_frame in self._jobs.of(event):
            await self.write(self._frames.stamped(job_frame))

    async def _show_agent(self, event: Event) -> None:
        from detent.surfaces.headless.agent_frames import AgentFrames
        from detent.surfaces.wording.nesting import innermost

        if self._agents is None:
            path = self._session.path
            folder = f"{path.removesuffix('.jsonl')}/agents" if path else ""
            self._agents = AgentFrames(
                self._session.id, new_uuid, folder, forwards_text=self.forwards_text
            )
        for frame in self._agents.of(event):
            await self.write(frame)
        _, inner = innermost(event)
        if isinstance(inner, Progress) and self._partials is not None:
            frame = _progress(inner, self._agents.call_of(event))
            await self.write(self._frames.stamped(frame))
        elif isinstance(inner, HookStarted | HookEnded) and self._hook_events:
            await self.write(self._frames.stamped(_of_hook(inner)))

    async def begin(self, prompt: int | None = None) -> None:
        """The head of a turn, which has the entry of its prompt, or of a command."""
        await self.state("running")
        session = self._session
        custom: tuple[str, ...] = ()
        if self._commands:
            custom = tuple(one.name for one in session.custom_commands if one.name not in NAMES)
        init = self._frames.init(
            cwd=session.cwd,
            tools=session.tools,
            model=session.model,
            mode=session.mode,
            commands=(*self._commands, *custom),
            agents=tuple(kind.name for kind in session.agents),
            style=session.output_style,
        )
        await self.write(init)
        if self._agents is not None:
            await self._catch_up(prompt)

    async def _catch_up(self, prompt: int | None) -> None:
        """Agents end, and go on, between turns as well, while nobody reads."""
        unread = takewhile(lambda one: one.seq > self._told, reversed(self._session.entries))
        for entry in reversed([one for one in unread if prompt is None or one.seq < prompt]):
            self._told = entry.seq
            if isinstance(entry, AgentStarted | AgentEnded):
                await self._show_agent(entry)

    async def state(self, state: str) -> None:
        """Hosts that ask for it are told when we run, wait for them, or rest."""
        if self._tells_state:
            frame = {"type": "system", "subtype": "session_state_changed", "state": state}
            await self.write(self._frames.stamped({**frame, "sdk_host_only": True}))

    async def write(self, frame: dict[str, Any]) -> None:
        await self._stdout.write(frame_line(frame))

    def stamped(self, frame: dict[str, Any], uuid: str = "") -> dict[str, Any]:
        return self._frames.stamped(frame, uuid=uuid)


def _of_hook(event: HookStarted | HookEnded) -> dict[str, Any]:
    named = {"hook_id": event.id, "hook_name": event.name, "hook_event": event.event}
    if isinstance(event, HookStarted):
        return {"type": "system", "subtype": "hook_started", **named}
    return {
        "type": "system",
        "subtype": "hook_response",
        **named,
        "stdout": event.stdout,
        "stderr": event.stderr,
        "output": event.stdout + event.stderr,
        "exit_code": event.exit_code,
        "outcome": event.outcome,
    }


def _progress(event: Progress, parent: str | None = None) -> dict[str, Any]:
    """Only with the partial messages: some hosts take no frame that they do not know."""
    frame = {
        "type": "tool_progress",
        "tool_use_id": event.call_id,
        "tool_name": event.name,
        "parent_tool_use_id": parent,
        "elapsed_time_seconds": event.seconds,
    }
    return {**frame, "output": event.text} if event.text else frame
