"""What a process takes, as the kernel tells it."""

from __future__ import annotations

from pathlib import Path

KB, NANO = 1024.0, 1e9


def cpu_seconds(pid: int) -> float:
    """Of all its threads; finer than the ticks of `stat`."""
    found = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += float((task / "schedstat").read_text().split()[0]) / NANO
    return found


def memory(pid: int) -> tuple[float, float]:
    """Megabytes: resident, and its share where pages are shared."""
    told = _fields(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return told["Rss"] / KB, told["Pss"] / KB


def peak(pid: int) -> float:
    """Megabytes: the most that was ever resident."""
    return _fields(Path(f"/proc/{pid}/status").read_text())["VmHWM"] / KB


def below(pid: int) -> list[int]:
    """Children, and theirs."""
    listed = (Path(f"/proc/{pid}/task") / str(pid) / "children").read_text().split()
    return [found for child in map(int, listed) for found in (child, *below(child))]


def _fields(text: str) -> dict[str, float]:
    """`Name:   12 kB` for each line that is such a one."""
    parts = (line.split() for line in text.splitlines())
    return {
        words[0].rstrip(":"): float(words[1])
        for words in parts
        if len(words) == 3 and words[2] == "kB"
    }
