"""What was typed before, on disk: by folder, bounded, for its owner alone, worth no failure."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from detent.app import past_prompts
from detent.app.past_prompts import LONGEST, PastPrompts


def test_each_folder_has_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "home" / "history")
    here, there = PastPrompts(path, "/here"), PastPrompts(path, "/there")
    assert here.read() == []
    for text in ("one", "two\nlines", "two\nlines"):
        here.add(text)
    there.add("other")
    here.add("one")
    assert here.read() == ["one", "two\nlines", "one"] and there.read() == ["other"]


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    before = os.umask(0)
    try:
        PastPrompts(str(path), "/p").add("secret")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history"
    past = PastPrompts(str(path), "/p")
    past.add("one")
    with path.open("ab") as file:
        file.write(
            b'{"folder":"/p","te\n[]\n\xff\xfe\n{"folder":"/p","text":7}\n{"folder":"/p"}\n\n'
        )
    past.add("two")
    assert past.read() == ["one", "two"]


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "history"
    past = PastPrompts(str(path), "/p")
    past.add("one")
    with path.open("ab") as file:
        file.write(b'{"folder":"/p","text":"cut o')
    past.add("two")
    past.add("three")
    assert past.read()[-1] == "three" and "one" in past.read()


def test_the_file_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_prompts, "LARGEST", 4_000)
    monkeypatch.setattr(past_prompts, "MOST_READ", 2_000)
    path = tmp_path / "history"
    past = PastPrompts(str(path), "/p")
    for number in range(300):
        past.add(f"prompt {number}")
        assert path.stat().st_size <= 4_200
    found = past.read()
    assert found[-1] == "prompt 299" and len(found) < 40
    assert found == [f"prompt {number}" for number in range(300 - len(found), 300)]
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "history.new").exists()


def test_a_long_prompt_is_kept_in_part(tmp_path: Path) -> None:
    past = PastPrompts(str(tmp_path / "history"), "/p")
    past.add("x" * (LONGEST + 5))
    assert past.read() == ["x" * LONGEST]


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_is_not_kept(tmp_path: Path, text: str) -> None:
    past = PastPrompts(str(tmp_path / "history"), "/p")
    past.add(text)
    assert not (tmp_path / "history").exists()


def test_who_wants_none_has_none(tmp_path: Path) -> None:
    unkept = past_prompts.past_prompts(
        str(tmp_path), "/p", {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1"}
    )
    unkept.add("one")
    assert os.listdir(tmp_path) == []
    past_prompts.past_prompts(str(tmp_path), "/p", {}).add("one")
    record = json.loads((tmp_path / "history").read_text())
    assert record["folder"] == "/p" and record["text"] == "one"


def test_a_text_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    past = PastPrompts(str(tmp_path / "history"), "/caf\udce9")
    past.add("half a \ud83d character")
    past.add("whole")
    assert past.read()[-1] == "whole"
    PastPrompts(str(tmp_path), "/p").add("a folder stands there")
    assert PastPrompts(str(tmp_path), "/p").read() == []
