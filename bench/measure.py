"""One run of one contestant in one scenario: figures, or the reason why it does not count."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from child import Outcome, run_child
from contestants import Contestant
from model import Model, Times
from scenarios import DELTAS, GROWTH_STEPS, MARKERS, SCENARIOS, STEPS

TIMEOUT_S = {
    "startup": 30,
    "steps": 90,
    "growth": 240,
    "stream": 60,
    "parallel": 30,
    "early": 30,
    "flood": 60,
}
REQUESTS = {
    "startup": 1,
    "steps": STEPS + 1,
    "growth": GROWTH_STEPS + 1,
    "stream": 1,
    "parallel": 2,
    "early": 2,
    "flood": 2,
}
assert REQUESTS.keys() == SCENARIOS.keys() == TIMEOUT_S.keys()


@dataclass
class Run:
    """``failure`` is safe to publish; ``detail`` (stderr) may hold paths and is only printed."""

    figures: dict[str, float] = field(default_factory=dict)
    failure: str = ""
    detail: str = ""


class Bench:
    """Scratch space and the scripted model, shared by all runs."""

    def __init__(self, model: Model, scratch: Path) -> None:
        self.model = model
        self.scratch = scratch
        self.template = scratch / "template"
        self.template.mkdir()
        (self.template / "README.md").write_text("# Bench\n")
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]
        for arguments in (["init", "-q", "--template="], ["add", "."], ["commit", "-qm", "start"]):
            subprocess.run([*git, *arguments], cwd=self.template, check=True)

    def run(self, contestant: Contestant, scenario: str) -> Run:
        """The home is kept between runs (a user's is warm too), the work tree is always fresh."""
        home = self.scratch / contestant.name
        home.mkdir(exist_ok=True)
        errors = self.scratch / "stderr"
        self.model.script(scenario, contestant.wire, contestant.tool)
        logged = tree_size(home)
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            tree = Path(name) / "work"
            shutil.copytree(self.template, tree)
            command, env = contestant.launch(scenario, self.model.url, home)
            outcome = run_child(command, env, tree, TIMEOUT_S[scenario], errors)
            times = self.model.times()
            stamp = tree / "early.txt"
            began = stamp.read_text().strip() if stamp.exists() else ""
        log = tree_size(home) - logged if contestant.keeps_log else None
        failure = check(contestant, scenario, outcome, times, log)
        if failure:
            return Run(failure=failure, detail=outcome.stderr[-2000:])
        if scenario == "early" and not began:
            return Run(failure="the call left no time stamp")
        if contestant.only_starts:
            return Run({"launch_ms": outcome.wall_s * 1e3})
        return Run(figures(scenario, outcome, times, float(began or 0)))


def tree_size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def check(
    contestant: Contestant, scenario: str, outcome: Outcome, times: Times, log: int | None
) -> str:
    """Empty if the run did what the scenario asks for."""
    made, expected = len(times.received), REQUESTS[scenario]
    if outcome.code is None:
        return f"stopped after {TIMEOUT_S[scenario]} s with {made} of {expected} requests"
    if outcome.code:
        return f"exit code {outcome.code} after {made} of {expected} requests"
    if contestant.only_starts:
        return ""
    if made != expected:
        return f"{made} requests instead of {expected}"
    if times.markers < MARKERS.get(scenario, 0):
        return f"{times.markers} of {MARKERS[scenario]} tool results in the last request"
    if scenario == "stream" and outcome.stdout.count(b"word") < DELTAS:
        return "the answer is not complete on stdout"
    if scenario == "steps" and log is not None and log < STEPS * 50:
        return f"session log grew by {log} bytes only"
    return ""


def figures(scenario: str, outcome: Outcome, times: Times, began: float) -> dict[str, float]:
    gaps = times.gaps_ms()
    match scenario:
        case "startup":
            return {"launch_ms": (times.received[0] - outcome.started_ns) / 1e6}
        case "steps":
            return {
                "step_ms": statistics.median(gaps),
                "connections": times.connections,
                "rss_mb": outcome.rss_mb,
                "steps_cpu_s": outcome.cpu_s,
                "steps_wall_s": outcome.wall_s,
            }
        case "growth":
            return {
                "step10_ms": statistics.median(gaps[5:15]),
                "step300_ms": statistics.median(gaps[-10:]),
                "growth_rss_mb": outcome.rss_mb,
                "growth_cpu_s": outcome.cpu_s,
                "body_kb": times.sizes[-1] / 1e3,
            }
        case "stream":
            return {"stream_cpu_s": outcome.cpu_s, "stream_wall_s": outcome.wall_s}
        case "flood":
            return {"flood_rss_mb": outcome.rss_mb, "flood_wall_s": outcome.wall_s}
        case "parallel":
            return {"parallel_s": gaps[0] / 1e3}
        case _:
            return {"early_s": began - times.ended_real[0] / 1e9}
