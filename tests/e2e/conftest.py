"""The installed command as a subprocess, in a clean environment, against a scripted model."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Request, Said, Script, ServedScript, script, serve

from .terminal import Term

DETENT = Path(sys.executable).with_name("detent")
PATIENCE = 30.0
"""Seconds until a run that should have ended or spoken counts as hung. Never waited for."""

BOTH_WIRES = pytest.mark.parametrize("wire", ["anthropic", "chat"])
ALL_WIRES = pytest.mark.parametrize("wire", ["anthropic", "chat", "responses", "gemini"])

_HOUSES = {
    "anthropic": {"base": "", "keyHeader": "x-api-key"},
    "chat": {"base": "/v1"},
    "responses": {"base": "/v1"},
    "gemini": {"base": "/v1beta", "keyHeader": "x-goog-api-key"},
}

Frame = dict[str, Any]


def house(wire: str, url: str) -> Frame:
    """Settings for a provider `house` at this address, whose key is in HOUSE_KEY."""
    header = {key: value for key, value in _HOUSES[wire].items() if key != "base"}
    base = url + _HOUSES[wire]["base"]
    own = {"wire": wire, "baseUrl": base, "apiKeyEnv": "HOUSE_KEY", "model": "m", **header}
    return {"providers": {"house": own}}


class Ran:
    """What a finished run left: exit code and output."""

    def __init__(self, code: int, stdout: bytes, stderr: bytes) -> None:
        self.code = code
        self.stdout = stdout.decode()
        self.stderr = stderr.decode()

    @property
    def frames(self) -> list[Frame]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    def of(self, kind: str, subtype: str | None = None) -> list[Frame]:
        return [frame for frame in self.frames if _is(frame, kind, subtype)]

    @property
    def result(self) -> Frame:
        """The one result; it must be the last thing said."""
        frames = self.frames
        assert [frame["type"] for frame in frames].count("result") == 1, self.stdout
        assert frames[-1]["type"] == "result"
        return frames[-1]

    @property
    def tool_results(self) -> list[Frame]:
        """The tool results of a stream-json run, each with the structured one as `data`."""
        return [
            {**block, "data": frame.get("tool_use_result")}
            for frame in self.of("user")
            for block in frame["message"]["content"]
            if block["type"] == "tool_result"
        ]

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- stdout\n{self.stdout[-4000:]}\n--- stderr\n{self.stderr}"


class Live:
    """A run that still goes on. Lines of stdout are read by a thread, as a host would."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._seen: list[bytes] = []
        self._errors: list[bytes] = []
        self._reading: list[threading.Thread] = []

    @property
    def pid(self) -> int:
        return self.process.pid

    def pidfd(self, pid: int) -> int:
        """Of the process that calls itself so below this run: in a sandbox it has another number
        than outside."""
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                if _numbers(status, "NSpid")[-1] == pid and self._is_above(status):
                    return os.pidfd_open(int(status.parent.name))
            except (OSError, IndexError):  # it is gone, or this kernel does not tell
                continue
        return os.pidfd_open(pid)

    def _is_above(self, status: Path) -> bool:
        parent = _numbers(status, "PPid")[0]
        while parent not in (0, self.pid):
            parent = _numbers(Path(f"/proc/{parent}/status"), "PPid")[0]
        return parent == self.pid

    def follow(self) -> None:
        """From here on stdout and stderr are read; without it a test reads stdout itself."""
        if self._reading:
            return
        for target in (self._follow_stdout, self._follow_stderr):
            thread = threading.Thread(target=target, daemon=True)
            self._reading.append(thread)
            thread.start()

    def send(self, *frames: Frame | str | bytes) -> None:
        assert self.process.stdin is not None
        for frame in frames:
            line = frame if isinstance(frame, bytes) else _encoded(frame)
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def say(self, text: str) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}})

    def control(self, subtype: str, **fields: Any) -> Frame:
        """A control request and the answer to it."""
        request_id = f"host-{subtype}"
        request = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": request_id, "request": request})
        answer = self.next("control_response")["response"]
        assert answer["request_id"] == request_id
        return answer

    def answer(self, request: Frame, **response: Any) -> None:
        body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def next(
        self, kind: str, subtype: str | None = None, where: Callable[[Frame], bool] | None = None
    ) -> Frame:
        """The next frame of this kind; those before it are passed over."""
        self.follow()
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"no {kind} frame came; seen: {self._seen}") from None
            assert line is not None, f"no {kind} frame before the end; seen: {self._seen}"
            frame = json.loads(line)
            if _is(frame, kind, subtype) and (where is None or where(frame)):
                return frame

    def finish(self) -> Ran:
        """Until the run has ended; what it said in total."""
        self.follow()
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.wait()
        for thread in self._reading:
            thread.join(PATIENCE)
        return Ran(code, b"".join(self._seen), b"".join(self._errors))

    def wait(self) -> int:
        """The exit code, at once when there is one: a wait with a limit of Python's own looks only
        now and then."""
        if self.process.poll() is None:
            descriptor = os.pidfd_open(self.pid)
            select.select([descriptor], [], [], PATIENCE)
            os.close(descriptor)
        return self.process.wait(0)

    def kill(self) -> None:
        """For the end of a test: nothing may outlive it."""
        if self.process.poll() is None:
            self.process.kill()
            self.wait()
        for thread in self._reading:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _follow_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._seen.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def _follow_stderr(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)


class Runner:
    """A fresh folder, an environment with nothing in it but the model, and the command."""

    def __init__(self, wire: str, folder: Path, stack: ExitStack) -> None:
        self.wire = wire
        self.work = folder / "work"
        self.home = folder / "user"
        self.state = folder / "state"
        """DETENT_HOME; not made until something is saved."""
        self.folder = folder
        self.work.mkdir()
        self.home.mkdir()
        self._stack = stack
        self._server: ServedScript | None = None
        self._lives: list[Live] = []

    @property
    def server(self) -> ServedScript:
        assert self._server is not None, "call serve() first"
        return self._server

    @property
    def requests(self) -> list[Request]:
        return self.server.requests

    @property
    def model(self) -> str:
        """What is used when nobody names one."""
        usual = {"anthropic": "claude-sonnet-5-5", "gemini": "gemini-3.8-flash", "responses": "m"}
        return usual.get(self.wire, "gpt-6.1-terra")

    def serve(self, *replies: Any, **options: Any) -> ServedScript:
        plan = replies[0] if len(replies) == 1 and isinstance(replies[0], Script) else None
        self._server = self._stack.enter_context(serve(plan or script(*replies, **options)))
        return self._server

    def env(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """`None` takes a variable away."""
        found: dict[str, str | None] = {
            "PATH": f"{DETENT.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "DETENT_HOME": str(self.state),
            "DETENT_DISCOVERY_PORTS": "none",
            # One for all tests: what holds in a sandbox here need not be tried out for each.
            "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
        }
        if self._server is not None:
            found |= self._reached()
        found |= more or {}
        return {name: value for name, value in found.items() if value is not None}

    def _reached(self) -> dict[str, str]:
        """How the environment says where the model is."""
        url = self.server.url
        match self.wire:
            case "anthropic":
                return {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": url}
            case "gemini":
                return {"GEMINI_API_KEY": "test", "GEMINI_BASE_URL": f"{url}/v1beta"}
            case "responses":  # An address of one's own is taken for a chat server: say more.
                self.state.mkdir(exist_ok=True)
                (self.state / "settings.json").write_text(json.dumps(house(self.wire, url)))
                return {"HOUSE_KEY": "test", "DETENT_MODEL": "house/m"}
        return {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": f"{url}/v1"}

    def run(
        self,
        *args: str,
        stdin: str | bytes = b"",
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        shell: str = "",
    ) -> Ran:
        """`shell` is run first, in the shell that then becomes the command. It may limit the size
        of files, and half a file of compiled code would harm whoever comes later."""
        started_by = ["bash", "-c", f'{shell} && exec "$@"', "bash"] if shell else []
        limited = {"PYTHONDONTWRITEBYTECODE": "1"} if shell else {}
        done = subprocess.run(
            [*started_by, str(DETENT), *args],
            env=self.env(env) | limited,
            cwd=cwd or self.work,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def prompt(self, prompt: str, *args: str, output: str = "json", **more: Any) -> Ran:
        """`detent -p PROMPT --output-format …`"""
        return self.run("-p", prompt, "--output-format", output, *args, **more)

    def frames(self, prompt: str, *args: str, **more: Any) -> Ran:
        return self.prompt(prompt, *args, output="stream-json", **more)

    def start(
        self, *args: str, env: Mapping[str, str | None] | None = None, stdin: bool = False
    ) -> Live:
        process = subprocess.Popen(
            [str(DETENT), *args],
            env=self.env(env),
            cwd=self.work,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        live = Live(process)
        self._lives.append(live)
        return live

    def converse(self, *args: str, env: Mapping[str, str | None] | None = None) -> Live:
        """The many-turn mode, frames both ways."""
        live = self.start(
            "--input-format", "stream-json", "--output-format", "stream-json", *args,
            env=env, stdin=True,
        )  # fmt: skip
        live.follow()
        return live

    @property
    def logs(self) -> list[Path]:
        return sorted(self.state.glob("sessions/*/*.jsonl"))

    def entries(self, session: str) -> list[Frame]:
        """The log of a session, one object per entry."""
        (path,) = [log for log in self.logs if log.stem == session]
        return [json.loads(line) for line in path.read_text().splitlines()]

    def close(self) -> None:
        for live in self._lives:
            live.kill()


class Pipe:
    """A named pipe that a command writes to, so that a test knows where the command is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        # Open for both: then neither side waits for the other to open, and nothing is an end.
        self._descriptor = os.open(path, os.O_RDWR)

    def line(self) -> str:
        assert select.select([self._descriptor], [], [], PATIENCE)[0], f"nothing in {self.path}"
        return os.read(self._descriptor, 4096).decode().strip()

    def close(self) -> None:
        os.close(self._descriptor)


def _numbers(status: Path, name: str) -> list[int]:
    lines = (line.partition(":") for line in status.read_text().splitlines())
    return next(([int(word) for word in rest.split()] for key, _, rest in lines if key == name), [])


def _is(frame: Frame, kind: str, subtype: str | None) -> bool:
    return frame["type"] == kind and (subtype is None or frame.get("subtype") == subtype)


def _encoded(frame: Frame | str) -> bytes:
    return (frame if isinstance(frame, str) else json.dumps(frame)).encode()


def assert_valid(request: Request, *, paused: bool = False) -> None:
    """What all providers insist on: each call answered once, in the next message, ids unique.

    A model that `paused` gets its own words back, and nothing behind them.
    """
    talk = [said for said in request.talk if said.role != "system"]
    assert talk[0].role == "user"
    assert paused or talk[-1].role != "assistant"
    seen: set[str] = set()
    results = 0
    for number, said in enumerate(talk):
        calls = said.calls
        assert all(calls), "a call has no id"
        assert len(set(calls)) == len(calls) and not seen & set(calls), "a call id comes twice"
        seen |= set(calls)
        if said.role == "assistant":
            answered = _answered(talk[number + 1 :])
            results += len(answered)
            assert sorted(answered) == sorted(calls), f"message {number}: {calls} got {answered}"
    assert results == sum(len(said.results) for said in talk), "a result has no call"
    _assert_valid_messages(request)


def _assert_valid_messages(request: Request) -> None:
    """On the two wires that have messages: no empty text, and one of them insists on turns."""
    for message in request.messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            assert block.get("text") != "", "an empty text block"
    if "system" in request.json:  # Anthropic
        roles = [message["role"] for message in request.messages]
        assert all(one != other for one, other in pairwise(roles)), roles


def _answered(following: Sequence[Said]) -> list[str]:
    """Ids of the results before the next answer of the model."""
    found: list[str] = []
    for said in following:
        if said.role == "assistant":
            break
        found += [result.id for result in said.results]
    return found


@pytest.fixture
def wire() -> str:
    """Overridden by BOTH_WIRES where the wire could make a difference."""
    return "anthropic"


@pytest.fixture
def runner(wire: str, tmp_path: Path) -> Iterator[Runner]:
    """After the test: every request was valid, and the script could answer all of them."""
    with ExitStack() as stack:
        runner = Runner(wire, tmp_path, stack)
        stack.callback(runner.close)
        yield runner
        if runner._server is not None:
            assert runner.server.problems == []
            for request in runner.requests:
                assert request.streams
                assert_valid(request)


@pytest.fixture
def pipe(runner: Runner) -> Iterator[Pipe]:
    """In the workspace: a sandbox lets commands write nowhere else."""
    pipe = Pipe(runner.work / "pipe")
    yield pipe
    pipe.close()


@pytest.fixture
def sit(runner: Runner) -> Iterator[Callable[..., Term]]:
    """`sit("--continue", env={…}, columns=60)`: the command in a terminal of its own."""
    open_ones: list[Term] = []

    def start(
        *args: str,
        columns: int = 100,
        rows: int = 30,
        env: Mapping[str, str | None] | None = None,
    ) -> Term:
        usual = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        found = runner.env({**usual, **(env or {})})
        term = Term([DETENT, *args], found, runner.work, columns, rows)
        open_ones.append(term)
        return term

    yield start
    for term in open_ones:
        term.close()
