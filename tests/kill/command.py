"""The installed command as a process of its own, against the scripted server, killed at will.

What it has printed before is held against what its log says afterwards.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from detent.testing import Reply, Request, ServedScript, script, serve
from detent.types.codec import encode

from . import forks
from .cases import Result, prepared
from .checks import Told, after_a_kill, entries_of, in_the_end
from .faults import AFTER, BEFORE, HALF
from .playing import Ground
from .stories import COMMAND, next_step

DETENT = str(Path(sys.executable).with_name("detent"))
LONGEST = 0.6
"""Seconds that one turn takes, about."""
MOST = 60
"""Operations of one turn, about."""
MARKER = "DETENT_KILL_TRIAL"


class CommandTrial:
    """One session on the command line: each turn is a process, one of them is killed."""

    def __init__(self, base: str, seed: str) -> None:
        self.seed = seed
        self._rng = rng = random.Random(seed)
        self._ground = Ground("")
        self._base = base
        self._told = Told()
        self._server: ServedScript | None = None
        self._seen = 0
        self._sandbox = rng.choice(("off", "auto"))
        self.complaints: list[str] = []
        self.kills = self.orphans = 0
        self.slowest = 0.0
        self.fault = ""

    def run(self) -> Result:
        self._ground = prepared(self._base)
        place = self._ground.place

        def spoken(request: Request) -> Reply:
            return next_step(COMMAND, place, json.dumps(request.json["messages"]))

        with serve(script(spoken, after="repeat_last")) as self._server:
            self._play()
            wrong = filter(None, map(_unpaired, self._server.requests))
            self._told.complaints += [f"I1: {text}" for text in wrong]
            self._told.complaints += self._server.problems
        self._told.ended = 1
        self.complaints += in_the_end(COMMAND, self._ground, self._told, self.kills)
        if self.complaints:
            self.complaints.append(f"see {self._ground.root}")
        else:
            shutil.rmtree(self._ground.root)
        return Result(tuple(self.complaints), self.kills, self.orphans, self.slowest)

    def _play(self) -> None:
        for turn in COMMAND.turns:
            for attempt in range(3):
                written = list(entries_of(self._ground))
                has_begun = turn.mark in encode(written).decode()
                more = ["--continue"] if written else []
                if self._turn("Go on." if has_begun else turn.prompt, more, not attempt) == 0:
                    break
            else:
                self.complaints.append(f"turn {turn.mark} does not come to its end")

    def _turn(self, prompt: str, more: list[str], is_first: bool) -> int:
        """Half of the first tries are killed at an operation, the others at some moment."""
        at, after = 0, 0.0
        how = self._rng.choice((BEFORE, HALF, AFTER))
        if is_first and self._rng.random() < 0.5:
            at = self._rng.randint(1, MOST)
        elif is_first:
            after = self._rng.uniform(0.05, LONGEST)
        self.fault += f" at {at} {how}" if at else f" after {after:.3f} s" if after else " on"
        program = [sys.executable, "-m", "kill.faulty", str(at), how] if at else [DETENT]
        output = f"{self._ground.root}/frames-{self._seen}"
        self._seen += 1
        with open(output, "wb") as frames, open(f"{self._ground.root}/errors", "ab") as errors:
            process = subprocess.Popen(
                [*program, "-p", prompt, *more, "--output-format", "stream-json",
                 "--sandbox", self._sandbox, "--add-dir", self._ground.outside,
                 "--allowedTools", "Bash,Edit,Write"],
                cwd=self._ground.place.work, env=self._environ(), stdin=subprocess.DEVNULL,
                stdout=frames, stderr=errors,
            )  # fmt: skip
            died = forks.followed(process.pid, after)
            process.returncode = died.code
        self._note(died, output)
        return died.code

    def _note(self, died: forks.Died, output: str) -> None:
        self.slowest, self.orphans = max(self.slowest, died.left), self.orphans + len(died.orphans)
        self.complaints += [f"I7: {command} outlived its agent" for command in died.orphans]
        if died.code == -9:
            self.kills += 1
            self.complaints += after_a_kill(self._ground, self._told, self.kills)
        elif died.code:
            self.complaints.append(f"exit {died.code}")
        self.complaints += _printed_and_lost(self._ground, output)

    def _environ(self) -> dict[str, str]:
        assert self._server is not None
        return {
            **self._ground.environ,
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": self._server.url,
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "XDG_CACHE_HOME": f"{Path(self._ground.root).parent}/cache",
            MARKER: self._ground.root,
        }


def _printed_and_lost(ground: Ground, output: str) -> Iterator[str]:
    """I2: a frame that was printed is in the log."""
    known = encode(list(entries_of(ground))).decode()
    for line in Path(output).read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        frame = json.loads(line)
        blocks = frame["message"]["content"] if frame["type"] in ("assistant", "user") else []
        for block in blocks:
            mark = block.get("id") or block.get("tool_use_id") or block.get("text", "")
            if json.dumps(mark)[1:-1] not in known:
                yield f"I2: printed and lost: {block}"


def _unpaired(request: Request) -> str:
    talk = [said for said in request.talk if said.role != "system"]
    for said, following in zip(talk, [*talk[1:], None], strict=True):
        if said.role == "assistant":
            answered = sorted(result.id for result in following.results) if following else []
            if answered != sorted(said.calls):
                return f"calls {said.calls} got results {answered}"
    return ""
