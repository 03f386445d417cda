"""While an answer comes: what is written to the terminal for it, how often, and how it is ended."""

from __future__ import annotations

import time
from pathlib import Path

from table import Row
from terminal_model import DONE, Model, pieces
from terminal_process import cpu_seconds
from terminal_pty import ENTER, ESCAPE, READY, Pty, command, environ

MOST_FRAMES, MOST_MS = 30.0, 100.0
GAP = 10
"""Milliseconds between two tokens: about what a fast model takes."""


def stream(folder: Path, tokens: int) -> list[Row]:
    with Model() as model, Pty([command()], environ(folder, model.url), folder / "work") as term:
        term.frame(READY)
        term.until_quiet()
        return [
            *_streamed(term, tokens, GAP, f"a token each {GAP} ms"),
            *_streamed(term, tokens, 0, "as fast as it comes"),
        ]


def _streamed(term: Pty, tokens: int, gap: int, how: str) -> list[Row]:
    text = len("".join(pieces(tokens)).encode())
    term.forget()
    before, count, begun = cpu_seconds(term.pid), term.count, time.perf_counter()
    term.type(f"say {tokens} {gap}{ENTER}")
    took = term.frame(DONE) - begun
    cpu, count = cpu_seconds(term.pid) - before, term.count - count
    frames = term.frames()
    term.until_quiet()
    rows = [
        Row(f"bytes written per token, {how}", count / tokens, "bytes"),
        Row("… beside the bytes of the text", count / text, "x"),
    ]
    if gap:
        rows.append(Row("… frames per second", len(frames) / took, "", MOST_FRAMES))
        rows.append(Row("… processor", cpu / took * 100, "%"))
    else:
        rows.append(Row("… tokens per second", tokens / took, ""))
    return rows


def interrupt(folder: Path, rounds: int) -> list[Row]:
    """Esc, until a frame says that the turn has ended: the worst of all."""
    found: dict[str, list[float]] = {"hang": [], "say 5000 10": [], "sleep": []}
    argv: list[str | Path] = [command(), "--dangerously-skip-permissions"]
    with Model() as model, Pty(argv, environ(folder, model.url), folder / "work") as term:
        term.frame(b"ALLOWS EVERYTHING")
        term.until_quiet()
        for _ in range(rounds):
            for prompt, times in found.items():
                times.append(_interrupted(term, prompt))
    return [
        Row(f"Esc → seen, a model that is silent, worst of {rounds}", max(found["hang"]), "ms",
            MOST_MS),
        Row("… in the midst of an answer", max(found["say 5000 10"]), "ms", MOST_MS),
        Row("… while a command runs", max(found["sleep"]), "ms", MOST_MS),
    ]  # fmt: skip


def _interrupted(term: Pty, prompt: str) -> float:
    term.forget()
    term.type(f"{prompt}{ENTER}")
    term.frame(b"sleep 60" if prompt == "sleep" else b"found")
    term.rest(0.5)
    term.forget()
    begun = time.perf_counter()
    term.type(ESCAPE)
    seen = term.frame(b"interrupted")
    term.until_quiet(1.2)  # also until Esc is no longer the first of two
    return (seen - begun) * 1000
