"""The model of a session with agents: it has lines for each of them, told apart by their tasks."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any

from detent.testing import Request, reply

from .conftest import Runner


class Unanswered:
    """A line that never comes: whoever asks for it can be killed or stopped then."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def __call__(self, request: Request) -> Any:
        self.asked.set()
        return reply("nobody hears it", hold=threading.Event(), hold_after=0)


class Model:
    """Answers the session in order, and each agent in its own: the one whose prompt is `TASK a`
    with the lines of `a`. A line that is a function makes its answer of the request."""

    def __init__(self, *session: Any, **agents: Iterable[Any]) -> None:
        self._lines = {"": iter(session), **{name: iter(said) for name, said in agents.items()}}
        self._lock = threading.Lock()
        self.heard: dict[str, list[Request]] = {}

    def __call__(self, request: Request) -> Any:
        task = re.search(r"TASK (\w+)", "\n".join(request.user_texts))
        name = task[1] if task else ""
        with self._lock:
            self.heard.setdefault(name, []).append(request)
            said = next(self._lines[name])
        return said(request) if callable(said) else said

    def results(self, name: str = "") -> list[str]:
        """What all calls of an agent, or of the session, came to."""
        return [one.text for request in self.heard[name] for one in request.tool_results]


def serve(runner: Runner, *session: Any, **agents: Iterable[Any]) -> Model:
    model = Model(*session, **agents)
    runner.serve(model, after="repeat_last")
    return model
