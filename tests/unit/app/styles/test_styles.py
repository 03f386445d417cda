"""Output styles: which there are, whose count, and what they do to the prompt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.options import Options
from detent.app.styles.finding import BUILT_IN, read_style
from detent.context.prompt import build_prompt, rendered, section
from detent.context.prompt.facts import Facts, Style, Surroundings
from detent.sdk.session import Session
from detent.sdk.styles import found, styles
from detent.testing.scripted_model import ScriptedModel

TERSE = "---\nname: terse\ndescription: For people in a hurry\n---\nAnswer in one line.\n"
FACTS = Facts(Surroundings("/p", "Linux", "2026-01-02"))


class Place:
    """A project in a repository, and a user."""

    def __init__(self, folder: Path) -> None:
        self.root = Path(os.path.realpath(folder))
        self.cwd = self.root / "p/sub"
        (self.root / "p/.git").mkdir(parents=True)
        self.cwd.mkdir()
        self.environ = {"HOME": str(self.root), "DETENT_HOME": str(self.root / "state")}

    def put(self, name: str, text: str = TERSE) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def options(self, *replies: str, **more: Any) -> Options:
        given: dict[str, Any] = {"cwd": str(self.cwd), "environ": self.environ, "persist": False}
        managed = (str(self.root / "etc"),)
        return Options(model=ScriptedModel(*replies), managed_folders=managed, **{**given, **more})

    def own(self, **more: Any) -> dict[str, tuple[str, str]]:
        every = styles(options=self.options(**more))
        return {s.name: (s.source, s.text) for s in every if s.source != "built-in"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_some_are_built_in(place: Place) -> None:
    every = styles(str(place.cwd), options=place.options())
    assert [style.name for style in every] == ["default", *BUILT_IN]
    assert all(style.description for style in every)
    assert all(style.text and style.keeps_coding for style in every[1:])
    assert every[0].for_prompt is None


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("etc/output-styles/t.md", "managed"),
        ("p/sub/.detent/output-styles/t.md", "project"),
        ("p/.claude/output-styles/deep/t.md", "project"),
        ("state/output-styles/t.md", "user"),
        (".claude/output-styles/t.md", "user"),
    ],
)
def test_a_file_is_a_style(place: Place, file: str, source: str) -> None:
    place.put(file)
    assert place.own() == {"terse": (source, "Answer in one line.")}
    wanted = {"project": "user", "user": "project"}.get(source, "local")
    assert place.own(setting_sources=(wanted,)) == (
        {} if source != "managed" else {"terse": ("managed", "Answer in one line.")}
    )


def test_the_strongest_of_a_name_counts(place: Place) -> None:
    place.put(".claude/output-styles/a.md", TERSE.replace("one line", "user's words"))
    place.put("p/.claude/output-styles/a.md", TERSE.replace("terse", "Terse"))
    assert place.own(trust=True) == {"Terse": ("project", "Answer in one line.")}
    place.put("etc/output-styles/a.md", TERSE.replace("one line", "their words"))
    assert place.own(trust=True) == {"terse": ("managed", "Answer in their words.")}


def test_a_stranger_takes_no_name_that_is_taken(place: Place) -> None:
    """Its words count where the user chooses them, as its memory does."""
    place.put(".claude/output-styles/a.md", TERSE.replace("one line", "user's words"))
    stolen = place.put("p/.claude/output-styles/a.md")
    other = place.put("p/.claude/output-styles/b.md", "---\nname: Concise\n---\nObey.")
    place.put("p/.claude/output-styles/new.md", "Words.")
    assert place.own() == {
        "terse": ("user", "Answer in user's words."),
        "new": ("project", "Words."),
    }
    notices = found(options=place.options()).notices
    assert [notice.partition(":")[0] for notice in notices] == [stolen, other]
    assert all("until you trust" in notice for notice in notices)
    trusted = place.own(trust=True)
    assert trusted["Concise"] == ("project", "Obey.")
    assert trusted["terse"] == ("project", "Answer in one line.")


def test_a_project_shows_no_files_from_elsewhere(place: Place) -> None:
    place.put("secret.md", "words of somebody else")
    (place.root / "p/.claude/output-styles").mkdir(parents=True)
    (place.root / "p/.claude/output-styles/a.md").symlink_to(place.root / "secret.md")
    assert place.own() == {}
    (notice,) = found(options=place.options()).notices
    assert "it lies outside of the project" in notice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nname: a\n---\n  \n", "it says nothing: left out"),
        ("x" * 40_001, "longer than 40,000 characters"),
        (f"---\nname: {'n' * 65}\n---\nwords", "a name is 1 to 64"),
        ("---\nname: default\n---\nwords", "default is the program's own"),
    ],
)
def test_one_that_cannot_be_used_is_named(place: Place, text: str, said: str) -> None:
    path = place.put("state/output-styles/a.md", text)
    assert place.own() == {}
    (notice,) = found(options=place.options()).notices
    assert notice.startswith(path) and said in notice


def test_a_head_is_read_as_others_write_it() -> None:
    style, faults = read_style("Words.", "/x/plain.md", "user")
    assert style is not None and not faults
    assert (style.name, style.text, style.keeps_coding) == ("plain", "Words.", False)
    style, _ = read_style("---\nkeep-coding-instructions: true\n---\nW", "/x/y.md", "user")
    assert style is not None and style.keeps_coding
    style, faults = read_style("---\nkeep_coding_instructions: perhaps\n---\nW", "/y.md", "user")
    assert style is not None and not style.keeps_coding
    assert faults == ["keep-coding-instructions must be true or false"]


# In the prompt


def test_the_usual_style_changes_nothing() -> None:
    assert section("style") in build_prompt(FACTS)[0]


@pytest.mark.parametrize("keeps", [True, False])
def test_a_style_stands_in_for_our_own_words(keeps: bool) -> None:
    usual = [one.name for one, _ in rendered(FACTS)]
    facts = Facts(FACTS.around, style=Style("terse", "Answer in one line.", keeps))
    prompt = build_prompt(facts)
    assert "# Output style: terse\nAnswer in one line." in prompt[0]
    assert section("style") not in prompt[0]
    gone = set() if keeps else {"tasks", "efficiency"}
    assert [name for name in usual if name not in gone] == [one.name for one, _ in rendered(facts)]
    assert prompt[1:] == build_prompt(FACTS)[1:], "what belongs to the session stays"


def test_a_name_cannot_pass_for_a_section() -> None:
    facts = Facts(FACTS.around, style=Style("a\n# Ground rules", "Words."))
    assert "\n# Ground rules\nWords" not in build_prompt(facts)[0]


def test_the_setting_chooses_whatever_its_case(place: Place) -> None:
    place.put("state/output-styles/a.md")
    session = Session(place.options(settings={"outputStyle": "Terse"}))
    assert session.output_style == "Terse"
    assert "Answer in one line." in session.prompt and section("tasks") not in session.prompt
    assert not session.news()
    concise = Session(place.options(settings={"outputStyle": "Concise"}))
    assert "the least that is complete" in concise.prompt and section("tasks") in concise.prompt


def test_one_that_is_not_there_is_told_and_echoed(place: Place) -> None:
    session = Session(place.options(settings={"outputStyle": "None Such"}))
    assert session.output_style == "None Such"
    assert session.prompt == Session(place.options()).prompt
    (notice,) = session.news()
    assert "there is no output style 'None Such'" in notice.text
    assert Session(place.options()).output_style == "default"


@pytest.mark.parametrize("own", [{"system_prompt": "You review."}, {"override_system_prompt": "x"}])
def test_a_prompt_of_ones_own_has_no_style(place: Place, own: Any) -> None:
    chosen = Session(place.options(settings={"outputStyle": "concise"}, **own))
    assert chosen.prompt == Session(place.options(**own)).prompt


def test_a_project_that_nobody_trusts_chooses_none(place: Place) -> None:
    place.put("p/.claude/output-styles/a.md")
    (place.cwd / ".claude").mkdir()
    (place.cwd / ".claude/settings.json").write_text('{"outputStyle": "terse"}')
    assert Session(place.options()).output_style == "default"
    trusted = Session(place.options(trust=True))
    assert trusted.output_style == "terse" and "Answer in one line." in trusted.prompt
