"""The figures: how they are shown, and what detent has to reach."""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE = "floor-asyncio"


@dataclass(frozen=True)
class Figure:
    """``limit`` bounds the value, or its ratio to the reference floor if ``relative``."""

    key: str
    title: str
    scenario: str
    unit: str
    limit: float | None = None
    relative: bool = False
    digits: int = 1

    def show(self, value: float) -> str:
        return f"{value:.{self.digits}f} {self.unit}".strip()

    def goal(self) -> str:
        if self.limit is None:
            return ""
        if self.relative:
            return f"≤ {self.limit:g} x {REFERENCE}"
        return f"≤ {self.limit:g} {self.unit}".strip()


FIGURES = [
    Figure("launch_ms", "launch → first request", "startup", "ms", 1.6, relative=True),
    Figure("step_ms", "per step, 50 Bash steps", "steps", "ms", 1.6, relative=True, digits=2),
    Figure("step10_ms", "step 10 with 2 kB results", "growth", "ms", digits=2),
    Figure("step300_ms", "step 300 with 2 kB results", "growth", "ms", 1.0, True, 2),
    Figure("connections", "connections for 51 requests", "steps", "", 1, digits=0),
    Figure("rss_mb", "peak RSS, 50 steps", "steps", "MB", 45),
    Figure("steps_cpu_s", "CPU of the run, 50 steps", "steps", "s", digits=2),
    Figure("growth_rss_mb", "peak RSS, 300 steps", "growth", "MB"),
    Figure("growth_cpu_s", "CPU of the run, 300 steps", "growth", "s", digits=2),
    Figure("body_kb", "last body, 300 steps", "growth", "kB", digits=0),
    Figure("stream_cpu_s", "20,000 deltas: CPU of the run", "stream", "s", 0.6, digits=2),
    Figure("stream_wall_s", "20,000 deltas: wall of the run", "stream", "s", digits=2),
    Figure("parallel_s", "5 x sleep 1 → next request", "parallel", "s", 1.2, digits=2),
    Figure("flood_rss_mb", "peak RSS, a line of 200 MB", "flood", "MB", 45),
    Figure("flood_wall_s", "a line of 200 MB: wall of the run", "flood", "s", digits=2),
    Figure("early_s", "first call vs end of a 3 s stream", "early", "s", -2.8, digits=2),
]
