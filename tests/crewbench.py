"""A session with subagents on a bench: the model answers by who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from detent.app.options import Options
from detent.sdk.session import Session
from detent.testing.script import Call, Reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Result, Text
from detent.types.messages import Request, User

P = ParamSpec("P")
Line = Reply | str
Lines = list[Line | Callable[[Request], Line]]


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is a coroutine; it has half a minute."""

    @wraps(test)
    def run(*args: P.args, **given: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **given), 30))

    return run


def asked_of(request: Request) -> str:
    """The last prompt in words: of a person, or of whoever set the agent to work."""
    texts = [
        block.text
        for message in request.messages
        if isinstance(message, User)
        for block in message.content
        if isinstance(block, Text) and not block.text.startswith(("[", "<"))
    ]
    return texts[-1] if texts else ""


def results_of(request: Request) -> str:
    """What the calls of the last answer came to."""
    last = request.messages[-1]
    blocks = last.content if isinstance(last, User) else ()
    return "\n".join(
        part.text
        for block in blocks
        if isinstance(block, Result)
        for part in block.content
        if isinstance(part, Text)
    )


class CrewModel(ScriptedModel):
    """Each prompt has lines of its own, said one after the other; `*` is for all others."""

    def __init__(self, lines: Mapping[str, Lines], **given: Any) -> None:
        super().__init__(self._line, repeat_last=True, **given)
        self._lines = {prompt: list(said) for prompt, said in lines.items()}

    def _line(self, request: Request) -> Line:
        asked = asked_of(request)
        key = asked if asked in self._lines else "*"
        said = self._lines[key]
        line = said.pop(0) if len(said) > 1 else said[0]
        return line(request) if callable(line) else line


def delegating(*prompts: str, **given: Any) -> Reply:
    """An answer that sets an agent to each."""
    return Reply(
        tuple(
            Call("Agent", {"description": prompt[:20], "prompt": prompt, **given}, id=f"c{n}")
            for n, prompt in enumerate(prompts, 1)
        )
    )


def crew_session(tmp_path: Path, model: ScriptedModel, **given: Any) -> Session:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    environ = {
        "HOME": str(tmp_path),
        "DETENT_HOME": str(tmp_path / "home"),
        "PATH": "/usr/bin:/bin",
    }
    given.setdefault("max_turns", 30)
    return Session(Options(model=model, cwd=str(project), environ=environ, **given))
