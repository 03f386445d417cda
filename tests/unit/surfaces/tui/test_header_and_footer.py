"""What stands above the first prompt and below the text box."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from detent.sdk.options import Options
from detent.surfaces.tui import footer, header
from detent.surfaces.tui.screen.spans import columns
from detent.types.budget import Spent
from detent.types.usage import Usage
from terminalbench import DARK, look, raw_in_line


def session(**more: Any) -> Any:
    known: dict[str, Any] = {
        "mode": "default",
        "model": "model-1",
        "effort": "",
        "name": "",
        "id": "0ab3",
        "cwd": "/work",
        "spent": Spent(),
        "jobs": (),
        "bounds": lambda model: (1_000, 100),
        "left": dict,
        "price": lambda model, usage: 0.25,
    }
    return SimpleNamespace(**{"options": Options(), **known, **more})


def line(context: int = 0, vim: str = "", hint: str = "", width: int = 100, **more: Any) -> str:
    return footer.drawn(session(**more), context, vim, hint, look(width))


def test_the_footer_tells_the_mode_in_words() -> None:
    assert line().startswith("default: asks before it acts · model-1")
    for mode, words in footer.MODES.items():
        assert f"{mode}: {words}" in line(mode=mode)
    painted = {
        footer.drawn(session(mode=mode), 0, "", "", look(theme=DARK)).split("m")[0]
        for mode in footer.MODES
    }
    assert len(painted) == len(footer.MODES), "and by a colour of its own"


def test_the_footer_tells_what_there_is_to_tell() -> None:
    told = line(
        width=120, context=250, vim="NORMAL", effort="high", name="the edit",
        spent=Spent(dollars=1.5),
    )  # fmt: skip
    assert told == (
        "default: asks before it acts · NORMAL · model-1 high · 25% context · $1.5000 · the edit"
        " · ? keys"
    )
    assert "100% context" in line(context=9_999)
    assert "context" not in line(context=5, bounds=lambda model: (0, 0))
    assert line(hint="esc again: go back").endswith(" · esc again: go back")


def test_the_footer_fits_and_obeys_nobody() -> None:
    for width in (10, 20, 60):
        told = line(width=width, model="m\x1b[2J\n" * 9, name="n\u202e\tx")
        assert columns(told) <= width and raw_in_line(told) == []


@pytest.mark.parametrize(
    "left, told",
    [
        ({}, ""),
        ({"dollars": 0.5, "tokens": 9.0}, "$0.5000 left"),
        ({"dollars": -1.0}, "$0.0000 left"),
        ({"tokens": 12_000.0}, "12k tokens left"),
        ({"turns": 3.0}, "3 turns left"),
    ],
)
def test_what_is_left_of_a_budget(left: dict[str, float], told: str) -> None:
    numbers = footer.numbers(session(left=lambda: left, spent=Spent(dollars=2.0, unpriced=3)))
    assert (numbers.left, numbers.dollars, numbers.is_unpriced) == (told, 2.0, True)
    assert numbers.price("m", Usage()) == 0.25


def test_jobs_in_the_background_have_a_line_each() -> None:
    running = [
        SimpleNamespace(id=f"b{n}", command="sleep 9", seconds=65.0, exit_code=None)
        for n in range(6)
    ]
    over = SimpleNamespace(id="b9", command="true", seconds=1.0, exit_code=0)
    found = footer.Jobs().lines(session(jobs=(over, *running)))
    assert [part.split(" · ")[0] for part in found[:4]] == [f"⚙ b{n} sleep 9" for n in range(4)]
    assert "1m 05s" in found[0] and "2 more jobs" in found[4] and len(found) == 5


def test_a_job_that_has_ended_is_told_of_once() -> None:
    def job(exit_code: int | None) -> SimpleNamespace:
        return SimpleNamespace(id="b1", command="make", seconds=12.0, exit_code=exit_code)

    jobs = footer.Jobs()
    assert jobs.news(session(jobs=(job(0),))) == [], "nobody saw it run"
    assert jobs.news(session(jobs=(job(None),))) == []
    assert jobs.news(session(jobs=(job(2),))) == ["b1 has ended after 12s, exit code 2: make"]
    assert jobs.news(session(jobs=(job(2),))) == []


def test_the_header_tells_where_and_with_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "code" / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    memory = tuple(f"M{number}.md" for number in range(6))
    here = session(cwd=str(folder), effort="low")
    first, place, reads, tip, blank = header.lines(here, memory, look(), tip=True)
    assert first.startswith("detent ") and first.endswith("model-1 low")
    assert place == "~/code/shop (main)"
    assert reads == "reads M0.md, M1.md, M2.md, M3.md …"
    assert (
        tip.removeprefix("Tip: ").removesuffix("…").strip() in " ".join(header.TIPS) and blank == ""
    )
    assert len(header.lines(here, (), look(), tip=False)) == 3


def test_the_header_fits_and_obeys_nobody() -> None:
    odd = session(cwd="/a\x1b[2J\n" + "x" * 90, model="m\u202e" * 30)
    for width in (20, 40):
        for told in header.lines(odd, ("M\n.md",), look(width), tip=True):
            assert columns(told) <= width and raw_in_line(told) == []


def test_every_tip_comes_up() -> None:
    assert {header._tip(f"{number:x}") for number in range(200)} == set(header.TIPS)
