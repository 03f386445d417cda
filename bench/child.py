"""Run one command to its end and say what it cost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Outcome:
    """``cpu_s`` includes the shell calls that were waited for, ``rss_mb`` is the largest process.

    ``code`` is None when the time limit ended the run.
    """

    stdout: bytes
    stderr: str
    started_ns: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    rss_mb: float = 0.0
    code: int | None = None


def run_child(
    command: Sequence[str], env: dict[str, str], cwd: Path, timeout: float, errors: Path
) -> Outcome:
    """Stdout is a pipe that is read, as in a script; stderr goes to the file ``errors``."""
    source, sink = os.pipe()
    launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(sink), *command]
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            launcher,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=(sink,),
            start_new_session=True,
        )
    os.close(sink)
    # The group, so that a shell call which still runs does not keep the pipe open.
    timer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    output, _ = process.communicate()
    timer.cancel()
    with os.fdopen(source, "rb") as report:
        words = report.read().decode().split()
    return outcome(output, errors.read_text(errors="replace"), words)


def outcome(stdout: bytes, stderr: str, words: list[str]) -> Outcome:
    if not words:
        return Outcome(stdout, stderr)
    started, ended = int(words[0]), int(words[1])
    return Outcome(
        stdout,
        stderr,
        started_ns=started,
        wall_s=(ended - started) / 1e9,
        cpu_s=float(words[2]),
        rss_mb=int(words[3]) / 1024,
        code=int(words[4]),
    )
