"""Which commands there are, what their files say, and what counts of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.commands.finding import CommandFiles, commands_of
from detent.app.commands.record import Commands, CustomCommand, TurnWishes
from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.trust.findings import trust, what_would_run


class Place:
    """A repository `p`, a home beside it, and the folders of the machine and of the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("home", "p/.git", "detent"):
            (folder / name).mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home"), "DETENT_HOME": str(folder / "detent")}

    def write(self, name: str, text: str, *head: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["---", *head, "---", text]) if head else text)
        return path

    def options(self, cwd: str = "p", **options: Any) -> Options:
        managed = (str(self.folder / "managed"),)
        given = {"environ": self.environ, "managed_folders": managed}
        return Options(**{**given, "cwd": str(self.folder / cwd), **options})

    def commands(self, cwd: str = "p", **options: Any) -> Commands:
        return commands_of(grounds_of(self.options(cwd, **options)))

    def the(self, name: str, cwd: str = "p", **options: Any) -> CustomCommand:
        found = self.commands(cwd, **options).find(name)
        assert found is not None
        return found

    def notices(self, **options: Any) -> list[str]:
        return [text.replace(f"{self.folder}/", "") for text in self.commands(**options).notices]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def names(commands: Commands) -> list[str]:
    return [command.name for command in commands.all()]


def test_without_files_there_are_none(place: Place) -> None:
    found = place.commands()
    assert (found.all(), found.notices) == ((), ())


def test_everywhere_that_they_are_looked_for(place: Place) -> None:
    place.write("managed/commands/a.md", "A")
    place.write("home/.claude/commands/b.md", "B")
    place.write("detent/commands/c.md", "C")
    place.write("p/.claude/commands/d.md", "D")
    place.write("p/.detent/commands/e.md", "E")
    place.write("p/sub/.claude/commands/f.md", "F")
    place.write("p/.claude/commands/g.txt", "G")
    found = place.commands("p/sub").all()
    levels = ["managed", "user", "user", "project", "project", "project"]
    assert [command.level for command in found] == levels
    assert [command.body for command in found] == ["A", "B", "C", "D", "E", "F"]
    assert names(place.commands("p")) == ["a", "b", "c", "d", "e"]
    assert names(place.commands("p", setting_sources=("user",))) == ["a", "b", "c"]


def test_the_config_folder_of_the_other_program_can_be_elsewhere(place: Place) -> None:
    place.write("other/commands/a.md", "A")
    place.write("home/.claude/commands/b.md", "B")
    place.environ["CLAUDE_CONFIG_DIR"] = str(place.folder / "other")
    assert names(place.commands()) == ["a"]


def test_who_wins_where_names_are_the_same(place: Place) -> None:
    places = ("managed", "detent", "home/.claude", "p/sub/.detent", "p/sub/.claude", "p/.claude")
    paths = [place.write(f"{folder}/commands/same.md", folder) for folder in places]
    for number, folder in enumerate(places):
        assert place.the("same", "p/sub").body == folder
        paths[number].unlink()


def test_folders_are_part_of_the_longer_name(place: Place) -> None:
    place.write("p/.claude/commands/frontend/test.md", "front")
    place.write("p/.claude/commands/web/back/test.md", "back")
    place.write("p/.claude/commands/only/one.md", "one")
    found = place.commands()
    assert names(found) == ["one", "test", "web:back:test"]
    bodies = {name: place.the(name).body for name in ("test", "frontend:test", "web:back:test")}
    assert bodies == {"test": "front", "frontend:test": "front", "web:back:test": "back"}
    assert place.the("only:one").origin == "project:only"
    assert found.find("back:test") is None


def test_what_a_head_says(place: Place) -> None:
    head = (
        "description: Merge it",
        "argument-hint: [issue] [branch]",
        "arguments: issue branch",
        "allowed-tools: Bash(git add:*), Bash(git commit -m *), Read",
        "disallowed-tools: [WebFetch]",
        "model: haiku",
        "effort: low",
        "disable-model-invocation: true",
    )
    place.write("home/.claude/commands/merge.md", "Merge $issue.\n", *head)
    command = place.the("merge")
    assert command.description == "Merge it"
    assert command.argument_hint == "[issue] [branch]"
    assert command.arguments == ("issue", "branch")
    assert command.wishes == TurnWishes(
        allowed=("Bash(git add:*)", "Bash(git commit -m *)", "Read"),
        denied=("WebFetch",),
        model="haiku",
        effort="low",
    )
    assert (command.for_models, command.body) == (False, "Merge $issue.")
    assert place.notices() == []


def test_without_a_head_the_first_line_tells_what_it_is(place: Place) -> None:
    place.write("p/.claude/commands/a.md", "\n# Look at it\nclosely\n")
    assert place.the("a").description == "Look at it"


def test_a_hint_that_reads_as_a_list(place: Place) -> None:
    place.write("p/.claude/commands/a.md", "A", "argument-hint: [file]")
    assert place.the("a").argument_hint == "[file]"


def test_some_are_not_for_people(place: Place) -> None:
    place.write("p/.claude/commands/a.md", "A", "user-invocable: false")
    assert names(place.commands()) == []


@pytest.mark.parametrize(
    ("line", "notice"),
    [
        ("effort: huge", "effort is one of low, medium, high, xhigh, max, not 'huge'"),
        ("allowed-tools: 'Bash(('", "allowed-tools cannot be kept to: not a permission rule"),
        ("allowed-tools: 7", "allowed-tools must be names"),
        ("arguments: a-b", "arguments must be names such as `file`, not 'a-b'"),
        ("hooks: {}", "hooks in a command does nothing here"),
        ("what?", "line 2 of its head is not understood"),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_counts(place: Place, line: str, notice: str) -> None:
    place.write("home/.claude/commands/a.md", "A", line)
    (told,) = place.notices()
    assert told.startswith(f"home/.claude/commands/a.md: {notice}")
    assert place.the("a").wishes == TurnWishes()


@pytest.mark.parametrize("line", ["disallowed-tools: 7", "disallowed-tools: 'Bash(('"])
def test_a_limit_that_is_not_understood_leaves_the_command_out(place: Place, line: str) -> None:
    place.write("home/.claude/commands/a.md", "A", line)
    (told,) = place.notices()
    assert told.endswith("the command is left out")
    assert names(place.commands()) == []


def test_a_name_that_nobody_can_type(place: Place) -> None:
    place.write("p/.claude/commands/two words.md", "A")
    assert place.notices() == [
        "p/.claude/commands/two words.md is left out: its name cannot be typed as a command"
    ]


# Trust

ALL = ("allowed-tools: Bash(ls:*)", "disallowed-tools: Write", "model: haiku", "effort: low")


def test_what_a_strangers_command_may_wish_for(place: Place) -> None:
    place.write("p/.claude/commands/a.md", "A", *ALL)
    assert place.the("a").wishes == TurnWishes(denied=("Write",))
    assert place.notices() == [
        "p/.claude/commands/a.md: allowed-tools, model, effort ignored until you trust it "
        "(detent trust, or --trust for one run)"
    ]
    assert place.the("a", trust=True).wishes.allowed == ("Bash(ls:*)",)


def test_what_was_seen_counts_until_it_changes(place: Place) -> None:
    place.write("p/.claude/commands/a.md", "A", *ALL)
    shown = what_would_run(str(place.folder / "p"), place.environ)
    assert [(wish.kind, wish.text) for file in shown.files for wish in file.wishes] == [
        ("allows", "Bash(ls:*)")
    ]
    trust(shown)
    assert place.the("a").wishes == TurnWishes(
        allowed=("Bash(ls:*)",), denied=("Write",), model="haiku", effort="low"
    )
    place.write("p/.claude/commands/a.md", "A", "allowed-tools: Bash", "model: haiku")
    assert place.the("a").wishes == TurnWishes(model="haiku")
    assert "allowed-tools changed since you trusted it" in place.notices()[0]


def test_one_that_came_later_was_not_seen(place: Place) -> None:
    trust(what_would_run(str(place.folder / "p"), place.environ))
    place.write("p/.claude/commands/a.md", "A", "allowed-tools: Bash")
    assert place.the("a").wishes.allowed == ()


def test_where_managed_settings_alone_allow(place: Place) -> None:
    text = '{"allowManagedPermissionRulesOnly": true}'
    place.write("managed/managed-settings.json", text)
    place.write("home/.claude/commands/a.md", "A", "allowed-tools: Bash")
    assert place.the("a").wishes.allowed == ()
    assert "managed settings alone allow" in place.notices()[0]


def test_a_link_out_of_a_strangers_project_is_not_followed(place: Place) -> None:
    place.write("elsewhere.md", "secret words")
    (place.folder / "p/.claude/commands").mkdir(parents=True)
    os.symlink(place.folder / "elsewhere.md", place.folder / "p/.claude/commands/a.md")
    assert names(place.commands()) == []
    assert "it lies outside of the project" in place.notices()[0]


# While a session runs


def test_they_are_as_the_disk_has_them_now(place: Place) -> None:
    files = CommandFiles(grounds_of(place.options()))
    assert names(files.now()) == []
    path = place.write("p/.claude/commands/a.md", "A", "effort: huge")
    assert names(files.now()) == ["a"]
    assert files.now() is files.now(), "nothing is read twice"
    assert len(files.news()) == 1
    path.unlink()
    place.write("p/.claude/commands/b.md", "B")
    assert names(files.now()) == ["b"]
    place.write("p/.claude/commands/a.md", "A", "effort: huge")
    files.now()
    assert files.news() == [], "what is wrong is told once"
