"""The start: from the command line to a text box that takes keys, and what is not done before."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from table import Row
from terminal_pty import END, LETTERS, READY, SIGN, Pty, command, environ, percentile

MOST_MS = 250.0
NOWHERE = "http://127.0.0.1:9"
"""The address of a model that is never asked."""
SAYS = "import os; os.write(1, b'there')"
EDITOR = (
    "asyncio, prompt_toolkit.application, prompt_toolkit.key_binding, prompt_toolkit.layout, "
    "prompt_toolkit.renderer"
)
AUDIT = """
import sys
def heard(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        if not (event == "socket.connect" and isinstance(arguments[1], (str, bytes))):
            with open({told!r}, "a") as file:
                file.write(f"AF_INET {{event}} {{arguments!r}}\\n")
sys.addaudithook(heard)
"""


def start(folder: Path, rounds: int) -> list[Row]:
    """All by turns: a busy moment hits everybody."""
    detent, env, work = command(), environ(folder, NOWHERE), folder / "work"
    python = detent.with_name("python")
    rows: list[tuple[float, ...]] = []
    for _ in range(rounds + 1):
        floors = (
            _first_byte([python, "-I", "-c", SAYS], env, work),
            _first_byte([python, "-I", "-c", f"import {EDITOR}; {SAYS}"], env, work),
        )
        rows.append((*floors, *_first_frames(detent, env, work)))
    bare, editor, painted, typed, opened = zip(*rows[1:], strict=True)  # the first warms caches
    ratio = statistics.median(a / b for a, b in zip(painted, editor, strict=True))
    return [
        Row("an interpreter that writes a word", statistics.median(bare), "ms"),
        Row("… and has loaded asyncio and prompt_toolkit", statistics.median(editor), "ms"),
        *_spread("launch → first paint", painted),
        Row("… beside that interpreter", ratio, "x"),
        *_spread("launch → a key is painted that was pressed at once then", typed),
        Row("launch → the session is open", statistics.median(opened), "ms"),
        _early(detent, env, work, 5),
        _network(detent, env, folder),
    ]


def _spread(what: str, times: Sequence[float]) -> list[Row]:
    return [
        Row(f"{what}, median of {len(times)}", statistics.median(times), "ms", MOST_MS),
        Row("… best", min(times), "ms"),
        Row("… 95th percentile", percentile(times, 0.95), "ms"),
    ]


def _first_byte(argv: Sequence[str | Path], env: dict[str, str], work: Path) -> float:
    with Pty(argv, env, work) as term:
        return (term.until(lambda: bool(term.seen), "a byte") - term.began) * 1000


def _first_frames(detent: Path, env: dict[str, str], work: Path) -> tuple[float, float, float]:
    """Milliseconds until the text box is seen, a key in it, and the session is open."""
    with Pty([detent], env, work) as term:
        first = term.frame(SIGN)
        term.type("q")
        key = term.frame(END, b"q")
        ready = term.frame(READY)
        since = term.began
        return (first - since) * 1000, (key - since) * 1000, (ready - since) * 1000


def _early(detent: Path, env: dict[str, str], work: Path, rounds: int) -> Row:
    """A key every 8 ms from the very beginning until there is a text box."""
    typed = lost = 0
    for _ in range(rounds):
        with Pty([detent], env, work) as term:
            text = ""
            while SIGN not in term.seen or len(text) < 10:
                text += LETTERS[len(text) % len(LETTERS)]
                term.type(text[-1])
                term.rest(0.008)
            term.until_quiet()
            typed += len(text)
            lost += 0 if text.encode() in term.seen.rpartition(SIGN)[2] else len(text)
    return Row(f"keys lost of {typed} pressed before and at the first paint", lost, "", 0)


def _network(detent: Path, env: dict[str, str], folder: Path) -> Row:
    """Seen by strace; without it, by a hook in Python."""
    told = folder / "network"
    told.touch()
    tracer = shutil.which("strace")
    argv: list[str | Path] = [detent]
    if tracer:
        calls = "trace=connect,sendto,sendmsg,sendmmsg"
        argv = [tracer, "-f", "-qq", "-e", calls, "-o", told, *argv]
    else:
        (folder / "hook").mkdir()
        (folder / "hook" / "sitecustomize.py").write_text(AUDIT.format(told=str(told)))
        env = {**env, "PYTHONPATH": str(folder / "hook")}
    with Pty(argv, env, folder / "work") as term:
        term.frame(READY)
        term.rest(1.0)
    time.sleep(0.2)
    reached = [line for line in told.read_text(errors="replace").splitlines() if _is_outside(line)]
    return Row("connections and look-ups before the first prompt", len(reached), "", 0)


def _is_outside(line: str) -> bool:
    return "AF_INET" in line or "nscd" in line
