"""Which agents there are: files, settings, the caller's and built-in ones, and who wins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.app.agents.kinds.finding import are_others, kinds_of
from detent.app.agents.kinds.record import AgentKind, Kinds, key_of
from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.trust.findings import trust, what_would_run
from detent.gate.rules import agent_key
from detent.types.errors import BadInput

BUILT_IN = ["general-purpose", "Explore", "Plan", "Verify"]


class Place:
    """A repository `p`, a home beside it, and the folders of the machine and of the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("home", "p/.git", "detent"):
            (folder / name).mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home"), "DETENT_HOME": str(folder / "detent")}

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def agent(self, file: str, body: str = "Body.", /, **fields: Any) -> Path:
        """In the file of this name; `_` leaves a field out."""
        given = {"description": "what for", **fields}
        head = [f"{key}: {json.dumps(value)}" for key, value in given.items() if value != "_"]
        return self.write(file, "\n".join(["---", *head, "---", body]))

    def options(self, cwd: str = "p", **options: Any) -> Options:
        managed = (str(self.folder / "managed"),)
        given = {"environ": self.environ, "managed_folders": managed}
        return Options(**{**given, "cwd": str(self.folder / cwd), **options})

    def kinds(self, cwd: str = "p", **options: Any) -> Kinds:
        return kinds_of(grounds_of(self.options(cwd, **options)))

    def the(self, name: str, **options: Any) -> AgentKind:
        found = self.kinds(**options).find(name)
        assert found is not None
        return found

    def notices(self, **options: Any) -> list[str]:
        """With paths below the folder of the test."""
        return [text.replace(f"{self.folder}/", "") for text in self.kinds(**options).notices]

    def agree(self) -> None:
        trust(what_would_run(str(self.folder / "p"), self.environ))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def names(kinds: Kinds) -> list[str]:
    return [kind.name for kind in kinds.all()]


# Built-in ones


def test_without_files_there_are_the_built_in_ones(place: Place) -> None:
    kinds = place.kinds()
    assert names(kinds) == BUILT_IN
    assert kinds.shadowed == kinds.notices == ()
    assert not are_others(grounds_of(place.options()))


def test_what_the_built_in_ones_can(place: Place) -> None:
    general, explore, plan, verify = place.kinds().all()
    assert (general.tools, general.prompt) == (None, "")
    for one in (explore, plan):
        assert one.reads_only and one.mode == "plan"
    for one in (explore, plan, verify):
        assert one.tools is not None
        assert not {"Edit", "Write", "MultiEdit", "NotebookEdit", "Agent"} & {*one.tools}
        assert one.prompt and len(one.prompt) < 2_000
        assert len(one.description) < 100


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("", "general-purpose"),
        ("general", "general-purpose"),
        ("General_Purpose", "general-purpose"),
        (" general purpose ", "general-purpose"),
        ("explore", "Explore"),
        ("EXPLORE", "Explore"),
        ("plan", "Plan"),
        ("verify", "Verify"),
    ],
)
def test_models_call_them_as_they_like(place: Place, called: str, name: str) -> None:
    assert place.the(called).name == name
    assert agent_key(called) == agent_key(name) == key_of(called) == key_of(name)


def test_there_is_no_other(place: Place) -> None:
    assert place.kinds().find("reviewer") is None


# Files


def test_all_fields_of_a_file(place: Place) -> None:
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}
    path = place.agent(
        "p/.claude/agents/a.md", "\nYou review.\n", name="reviewer", description=" Reviews. ",
        tools="Read, Grep,Task", disallowedTools=["Bash(rm:*)", "Edit"], model="opus",
        permissionMode="acceptEdits", maxTurns=7, effort="high", background=True,
        isolation="worktree", color="red", initialPrompt="Begin.", skills=["s"],
        mcpServers=["m", {"n": {"command": "x"}}], memory="project", hooks=hooks, version="1.2",
    )  # fmt: skip
    kinds = place.kinds(trust=True)
    assert kinds.notices == ()
    assert kinds.find("reviewer") == AgentKind(
        name="reviewer", description="Reviews.", prompt="You review.",
        tools=("Read", "Grep", "Agent"), disallowed_tools=("Bash(rm:*)", "Edit"), model="opus",
        mode="acceptEdits", max_turns=7, effort="high", background=True, isolation="worktree",
        color="red", initial_prompt="Begin.", skills=("s",),
        mcp_servers=("m", {"n": {"command": "x"}}), memory="project", hooks=hooks,
        source="project", path=str(path),
    )  # fmt: skip


def test_fields_in_our_own_spelling(place: Place) -> None:
    place.agent(
        "p/.detent/agents/a.md", max_turns=3, permission_mode="plan", **{"initial-prompt": "Go."}
    )
    found = place.the("a")
    assert (found.max_turns, found.mode, found.initial_prompt) == (3, "plan", "Go.")


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("Read, Grep", ("Read", "Grep")),
        ("Read Grep", ("Read", "Grep")),
        (["Read", "Grep", "Read"], ("Read", "Grep")),
        ("*", None),
        (["*"], None),
        (None, None),
        ("", ()),
        ([], ()),
        ("mcp__github__get, NoSuchTool", ("mcp__github__get", "NoSuchTool")),
    ],
)
def test_tools(place: Place, tools: Any, expected: tuple[str, ...] | None) -> None:
    place.agent("p/.claude/agents/a.md", tools=tools)
    kinds = place.kinds()
    assert kinds.notices == ()
    assert kinds.all()[-1].tools == expected


def test_which_agents_it_may_start(place: Place) -> None:
    place.agent("p/.claude/agents/a.md", tools="Agent(worker, Explore), Read")
    found = place.the("a")
    assert (found.tools, found.may_start) == (("Agent", "Read"), ("worker", "Explore"))
    place.agent("p/.claude/agents/a.md", tools="Agent, Read")
    assert place.the("a").may_start is None


@pytest.mark.parametrize(
    ("fields", "notice"),
    [
        ({"model": 5}, "model must be text"),
        ({"maxTurns": "many"}, "maxTurns must be a whole number from 1 on"),
        ({"max_turns": 0}, "max_turns must be a whole number from 1 on"),
        ({"maxTurns": True}, "maxTurns must be a whole number from 1 on"),
        ({"effort": "huge"}, "effort is one of low, medium, high, xhigh, max, not 'huge'"),
        ({"isolation": "vm"}, "isolation is one of worktree, not 'vm'"),
        ({"background": "maybe"}, "background must be true or false"),
        ({"model": ["a"]}, "model must be text"),
        ({"memory": "mine"}, "memory is one of user, project, local, not 'mine'"),
        ({"mcpServers": 3}, "mcpServers must be a list of names or tables"),
    ],
)
def test_a_bad_value_is_named_and_the_agent_counts(
    place: Place, fields: dict[str, Any], notice: str
) -> None:
    place.agent("p/.claude/agents/a.md", **fields)
    (told,) = place.notices(trust=True)
    assert told.startswith(f"p/.claude/agents/a.md: {notice}")
    assert place.the("a", trust=True).prompt == "Body."


@pytest.mark.parametrize(
    ("fields", "notice"),
    [
        ({"description": "_"}, "description must say when to use it: the agent is left out"),
        ({"description": [1]}, "description must be text"),
        ({"tools": 3}, "tools must be names, as a list or with commas: the agent is left out"),
        ({"tools": [1]}, "tools must be names, as a list or with commas: the agent is left out"),
        ({"tools": "Bash(x"}, "tools cannot be kept to: "),
        ({"tools": "[Read, Grep"}, "tools has a bracket that is not closed: the agent is left out"),
        ({"tools": ["Edit", "Read(src/**)"]}, "tools names Read(src/**): Read cannot be had in "),
        ({"disallowedTools": {}}, "disallowedTools must be names, as a list or with commas: the"),
        ({"disallowedTools": "Bash(x"}, "disallowedTools cannot be kept to: "),
        ({"permissionMode": "god"}, "permissionMode cannot be kept to: unknown permission mode"),
        ({"permissionMode": ["plan"]}, "permissionMode cannot be kept to: unknown permission mode"),
        ({"hooks": ["x"]}, "hooks must be a table: the agent is left out"),
        (
            {"name": "a(b)"},
            "name must be 1 to 64 characters without any of ()[]{},:* and line ends",
        ),
        ({"name": "a*"}, "name must be 1 to 64 characters"),
        ({"name": "x" * 65}, "name must be 1 to 64 characters"),
        ({"name": "a\nb"}, "name must be 1 to 64 characters"),
    ],
)
def test_without_name_description_or_bounds_it_is_none(
    place: Place, fields: dict[str, Any], notice: str
) -> None:
    place.agent("p/.claude/agents/a.md", **fields)
    assert place.notices()[0].startswith(f"p/.claude/agents/a.md: {notice}")
    assert names(place.kinds()) == BUILT_IN


def test_tools_in_part(place: Place) -> None:
    place.agent("p/.claude/agents/a.md", tools="Read, Bash(git diff:*), Bash(git log:*)")
    place.agent("p/.claude/agents/b.md", tools=["Bash", "Bash(git diff:*)"])
    one, other = place.the("a"), place.the("b")
    assert one.tools == ("Read", "Bash")
    assert one.only == ("Bash(git diff:*)", "Bash(git log:*)")
    assert (other.tools, other.only) == (("Bash",), ())


def test_two_that_are_given_under_one_name(place: Place) -> None:
    with pytest.raises(BadInput, match="--agents: a_b and A-B are the same name"):
        place.kinds(agents={name: {"description": "d", "prompt": "p"} for name in ("a_b", "A-B")})


def test_models_that_are_the_parents(place: Place) -> None:
    place.agent("home/.claude/agents/a.md", model="inherit")
    place.agent("home/.claude/agents/b.md", model="house/m")
    assert (place.the("a").model, place.the("b").model) == ("", "house/m")


def test_hooks_that_cannot_be_read(place: Place) -> None:
    place.agent("home/.claude/agents/a.md", hooks={"Stop": "x"})
    place.agent("p/.claude/agents/b.md", hooks={"Stop": "x"})
    assert names(place.kinds(trust=True)) == BUILT_IN
    assert place.notices(trust=True) == [
        "p/.claude/agents/b.md: hooks.Stop must be a list: the agent b is left out",
        "home/.claude/agents/a.md: hooks.Stop must be a list: the agent a is left out",
    ]
    assert names(place.kinds()) == [*BUILT_IN, "b"]  # of which no hook counts


def test_a_description_is_one_line_of_some_length(place: Place) -> None:
    place.write("p/.claude/agents/a.md", f"---\ndescription: |\n  one\n\n  two {'x' * 2000}\n---\n")
    told = place.the("a").description
    assert told.startswith("one two x") and told.endswith("x…") and len(told) == 1_536


def test_a_text_for_people_is_no_agent(place: Place) -> None:
    place.write("p/.claude/agents/README.md", "# What these are\n")
    place.write("p/.claude/agents/notes.txt", "---\ndescription: x\n---\n")
    kinds = place.kinds()
    assert (names(kinds), kinds.notices) == (BUILT_IN, ())


def test_a_head_that_cannot_be_read_whole(place: Place) -> None:
    place.write("p/.claude/agents/a.md", "---\n!!!\ndescription: for: this\n---\nx")
    assert place.notices() == ["p/.claude/agents/a.md: line 2 of its head is not understood"]
    assert place.the("a").description == "for: this"


@pytest.mark.parametrize(
    ("limit", "field"),
    [
        ("disallowedTools:\n  - Bash\n  -Write", "disallowedTools"),
        ("hooks:\n  PreToolUse:\n    - matcher: Bash\n   hooks: bad", "hooks"),
        ("tools:Read", "tools"),
        (" tools: Read", "tools"),
        ("  tools: Read", "tools"),
        ("permission-mode:plan", "permission-mode"),
    ],
)
def test_a_limit_that_cannot_be_read_whole_is_not_passed_over(
    place: Place, limit: str, field: str
) -> None:
    place.write("p/.claude/agents/a.md", f"---\ndescription: d\n{limit}\n---\nx")
    *_, told = place.notices()
    assert told == f"p/.claude/agents/a.md is left out: {field} could not be read whole"
    assert names(place.kinds()) == BUILT_IN


def test_a_description_may_speak_of_limits(place: Place) -> None:
    text = "---\ndescription: |\n  Use it for\n  tools: the hammer\n---\nx"
    place.write("p/.claude/agents/a.md", text)
    assert (place.the("a").tools, place.notices()) == (None, [])


# Whatever lies there


def test_files_that_cannot_be_read(place: Place) -> None:
    place.write("p/.claude/agents/big.md", b"---\ndescription: x\n---\n" + b"x" * 300_000)
    place.write("p/.claude/agents/nul.md", b"---\ndescription: x\n---\n\0")
    os.mkfifo(place.folder / "p/.claude/agents/pipe.md")
    (place.folder / "p/.claude/agents/gone.md").symlink_to("nowhere")
    (place.folder / "p/.claude/agents/folder.md").mkdir()
    notices = place.notices()
    assert names(place.kinds()) == BUILT_IN
    assert notices == [
        "p/.claude/agents/big.md is left out: it is too long (300,023 bytes)",
        "p/.claude/agents/nul.md is left out: it is not text",
        "p/.claude/agents/pipe.md is left out: it is no file",
    ]


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_file_without_permission(place: Place) -> None:
    place.agent("p/.claude/agents/a.md").chmod(0)
    assert place.notices() == ["p/.claude/agents/a.md is left out: Permission denied"]


def test_other_encodings(place: Place) -> None:
    text = "---\r\nname: a\r\ndescription: größer\r\n---\r\nBody.\r\n"
    place.write("p/.claude/agents/a.md", text.encode("utf-8-sig"))
    place.write("p/.claude/agents/b.md", text.replace("name: a", "name: b").encode("utf-16"))
    place.write("p/.claude/agents/c.md", text.replace("name: a", "name: c").encode("latin-1"))
    assert [place.the(name).description for name in "ab"] == ["größer", "größer"]
    assert place.the("a").prompt == "Body."
    assert place.notices() == ["p/.claude/agents/c.md: not all of it is UTF-8"]


def test_folders_in_folders_and_links_that_turn_back(place: Place) -> None:
    place.agent("p/.claude/agents/deep/er/a.md")
    (place.folder / "p/.claude/agents/deep/round").symlink_to("..")
    (place.folder / "p/.claude/agents/b.md").symlink_to("deep/er/a.md")
    kinds = place.kinds()
    assert names(kinds) == [*BUILT_IN, "b"]  # one file, by the name that is found first
    assert kinds.shadowed == ()


def test_too_many_files(place: Place) -> None:
    for number in range(201):
        place.agent(f"p/.claude/agents/a{number:03}.md")
    assert len(place.kinds().all()) == 204
    assert place.notices() == ["p/.claude/agents: no more than 200 files are read"]


def test_too_much_text(place: Place) -> None:
    for number in range(20):
        place.agent(f"p/.claude/agents/a{number:02}.md", "x" * 250_000)
    place.agent("home/.claude/agents/b.md")
    assert names(place.kinds()) == [*BUILT_IN, *(f"a{number:02}" for number in range(15)), "b"]
    assert place.notices() == [
        "p/.claude/agents/a15.md is left out: files of agents are too long together"
    ]


def test_a_link_out_of_a_project_that_nobody_trusts(place: Place) -> None:
    place.agent("elsewhere/a.md")
    (place.folder / "p/.claude/agents").mkdir(parents=True)
    (place.folder / "p/.claude/agents/a.md").symlink_to(place.folder / "elsewhere/a.md")
    (notice,) = place.notices()
    assert notice.startswith("p/.claude/agents/a.md is left out: it lies outside of the project")
    assert place.the("a", trust=True).name == "a"


def test_a_link_to_the_users_own_takes_nothing_away(place: Place) -> None:
    own = place.agent("home/.claude/agents/mine.md", "the user's")
    place.agent("p/.claude/agents/b.md", "the stranger's", name="mine")
    (place.folder / "p/.claude/agents/a.md").symlink_to(own)
    found = place.the("mine")
    assert (found.prompt, found.source) == ("the user's", "user")


def test_a_users_file_that_others_can_write(place: Place) -> None:
    place.agent("detent/agents/a.md").chmod(0o666)
    assert place.notices() == ["detent/agents/a.md is left out: it can be written by other users"]


# Who wins


def test_the_strongest_counts_and_the_others_are_known(place: Place) -> None:
    place.agent("managed/agents/a.md", "managed")
    place.agent("p/.detent/agents/a.md", "ours")
    place.agent("p/.claude/agents/a.md", "theirs")
    place.agent("home/.claude/agents/a.md", "user")
    place.agent("detent/agents/a.md", "program")
    values = {"A": {"description": "x", "prompt": "flag"}}
    kinds = place.kinds(trust=True, agents=values)
    found = kinds.find("a")
    assert found is not None and found.prompt == "managed"
    order = ["flag", "ours", "theirs", "program", "user"]
    assert [kind.prompt for kind in kinds.shadowed] == order
    for name in ("managed", "p/.detent", "p/.claude", "detent"):
        (place.folder / name / "agents/a.md").unlink()
    assert place.the("a", agents=values).prompt == "flag"
    assert place.the("a").prompt == "user"


def test_the_nearest_folder_of_a_repository_counts(place: Place) -> None:
    place.agent("p/.claude/agents/a.md", "root")
    place.agent("p/.claude/agents/b.md", "root")
    place.agent("p/sub/deep/.claude/agents/a.md", "near")
    place.agent(".claude/agents/c.md", "above the repository")
    (place.folder / "p/sub/deep").mkdir(exist_ok=True)
    kinds = place.kinds("p/sub/deep")
    assert [(kind.name, kind.prompt) for kind in kinds.all()[4:]] == [("a", "near"), ("b", "root")]


def test_sources_that_are_not_wanted(place: Place) -> None:
    place.agent("p/.claude/agents/a.md")
    place.agent("home/.claude/agents/b.md")
    assert names(place.kinds(setting_sources=("user",))) == [*BUILT_IN, "b"]
    assert names(place.kinds(setting_sources=("project",))) == [*BUILT_IN, "a"]
    assert names(place.kinds(setting_sources=())) == BUILT_IN


def test_in_the_users_home_the_files_are_the_users(place: Place) -> None:
    place.agent("home/.claude/agents/a.md", model="opus")
    found = place.the("a", cwd="home")
    assert (found.source, found.model) == ("user", "opus")


def test_a_folder_that_a_variable_moved_into_the_project_is_the_projects(place: Place) -> None:
    place.environ["CLAUDE_CONFIG_DIR"] = str(place.folder / "p/conf")
    place.agent("p/conf/agents/explore.md", model="opus")
    kinds = place.kinds()
    assert [kind.source for kind in kinds.shadowed] == ["project"]
    assert names(kinds) == BUILT_IN


def test_the_name_of_a_plugin_stands_before_its_agents(place: Place) -> None:
    place.write("plug/.claude-plugin/plugin.json", '{"name": "kit"}')
    place.agent(
        "plug/agents/a.md", model="opus", hooks={"Stop": []}, permissionMode="acceptEdits",
        mcpServers=["m"],
    )  # fmt: skip
    place.agent("elsewhere/b.md")
    (place.folder / "plug/agents/b.md").symlink_to(place.folder / "elsewhere/b.md")
    plugin = (str(place.folder / "plug"),)
    found = place.the("kit:a", plugin_dirs=plugin)
    assert (found.name, found.source, found.model) == ("kit:a", "plugin", "opus")
    assert (found.hooks, found.mode, found.mcp_servers) == ({}, "", ())
    assert place.notices(plugin_dirs=plugin) == [
        "plug/agents/a.md: hooks, mcpServers, permissionMode ignored: it is a plugin's",
        "plug/agents/b.md is left out: it lies outside of the plugin",
    ]


# Given by the caller, and by settings


def test_agents_of_the_caller(place: Place) -> None:
    values = {"a": {"description": "x", "prompt": "Do.", "tools": ["Read"], "model": "haiku"}}
    found = place.the("a", agents=values)
    assert (found.prompt, found.tools, found.model) == ("Do.", ("Read",), "haiku")
    assert (found.source, found.path) == ("flag", "--agents")


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ({"a": "x"}, "--agents: a must be an object with a description and a prompt"),
        ({"a": {"prompt": "p"}}, "--agents: a: description must say when to use it"),
        ({"a": {"description": "d"}}, "--agents: a: prompt must say how it works"),
        ({"a": {"description": "d", "prompt": [3]}}, "--agents: a: prompt must be text"),
        ({"a": {"description": "d", "prompt": "p", "tools": 5}}, "--agents: a: tools must be"),
        (
            {"a": {"description": "d", "prompt": "p", "hooks": {"Stop": 1}}},
            "--agents: hooks.Stop must be a list: the agent a is left out",
        ),
        ({"a": {"description": "d", "prompt": "p", "maxTurns": -1}}, "--agents: a: maxTurns must"),
        ({"": {"description": "d", "prompt": "p"}}, "--agents: : name must be 1 to 64"),
        ({"a,b": {"description": "d", "prompt": "p"}}, "--agents: a,b: name must be 1 to 64"),
    ],
)
def test_what_the_caller_says_wrongly_ends_the_start(
    place: Place, agents: Any, message: str
) -> None:
    with pytest.raises(BadInput) as raised:
        place.kinds(agents=agents)
    assert str(raised.value).startswith(message)


def test_agents_of_settings(place: Place) -> None:
    of_user = {"a": {"description": "x", "prompt": "user"}, "b": {"description": "x"}}
    place.write("detent/settings.json", json.dumps({"agents": of_user}))
    of_project = {"a": {"description": "x", "prompt": "project"}}
    place.write("p/.detent/settings.json", json.dumps({"agents": of_project}))
    kinds = place.kinds()
    assert [(kind.name, kind.prompt) for kind in kinds.all()[4:]] == [("a", "user")]
    assert place.notices() == [
        "detent/settings.json: b: prompt must say how it works: the agent is left out"
    ]
    settings = grounds_of(place.options()).settings
    assert "agents ignored until you trust it" in " ".join(settings.notices)
    found = place.the("a", trust=True)
    assert (found.prompt, found.source) == ("project", "project")
    place.agent("p/.claude/agents/a.md", "file")
    assert place.the("a", trust=True).prompt == "file"


@pytest.mark.parametrize("agents", [[], "x", {"a": 3}])
def test_settings_that_cannot_be_read(place: Place, agents: Any) -> None:
    place.write("detent/settings.json", json.dumps({"agents": agents}))
    with pytest.raises(BadInput, match=r"detent/settings.json: agents.* must be an object"):
        place.kinds()


# Trust


def test_without_trust_a_project_chooses_words_and_limits_alone(place: Place) -> None:
    place.agent(
        "p/.claude/agents/a.md", tools="Read", disallowedTools="Bash", maxTurns=2, model="opus",
        effort="max", isolation="worktree", permissionMode="acceptEdits",
        hooks={"Stop": [{"hooks": []}]}, mcpServers=["m"],
    )  # fmt: skip
    found = place.the("a")
    assert (found.tools, found.disallowed_tools, found.max_turns) == (("Read",), ("Bash",), 2)
    assert (found.model, found.effort, found.isolation, found.mode) == ("", "", "", "")
    assert (found.hooks, found.mcp_servers) == ({}, ())
    assert place.notices() == [
        "p/.claude/agents/a.md: hooks, mcpServers, permissionMode, model, effort, isolation "
        "ignored until you trust it (detent trust, or --trust for one run)"
    ]


def test_one_line_for_many_files(place: Place) -> None:
    for number in range(5):
        place.agent(f"p/.claude/agents/a{number}.md", model="opus")
    place.agent("p/.claude/agents/a5.md", effort="max")
    files = ", ".join(f"p/.claude/agents/a{number}.md" for number in range(3))
    assert place.notices() == [
        f"{files} and 3 more: model, effort ignored until you trust it (detent trust, or --trust "
        "for one run)"
    ]


def test_so_many_faults_are_told(place: Place) -> None:
    for number in range(30):
        place.agent(f"p/.claude/agents/a{number}.md", maxTurns="x")
    *told, last = place.notices()
    assert (len(told), last) == (20, "there are 10 more faults in files of agents")


def test_a_mode_that_holds_back_needs_no_trust(place: Place) -> None:
    place.agent("p/.claude/agents/a.md", permissionMode="plan")
    assert place.the("a").mode == "plan"
    assert place.notices() == []


@pytest.mark.parametrize("mode", ["bypassPermissions", "auto"])
def test_modes_that_no_project_chooses(place: Place, mode: str) -> None:
    place.agent("p/.claude/agents/a.md", permissionMode=mode)
    assert place.the("a", trust=True).mode == ""
    assert place.notices(trust=True) == [
        f"p/.claude/agents/a.md: mode {mode} is ignored; only you can set it"
    ]
    place.agent("home/.claude/agents/b.md", permissionMode=mode)
    assert place.the("b").mode == mode


@pytest.mark.parametrize("name", ["Explore", "explore", "general", "General_purpose", "mine"])
def test_a_stranger_takes_nobodys_place(place: Place, name: str) -> None:
    place.agent("home/.claude/agents/mine.md", "the user's")
    before = place.the(name)
    place.agent("p/.claude/agents/x.md", "the stranger's", name=name)
    kinds = place.kinds()
    assert kinds.find(name) == before
    assert [kind.prompt for kind in kinds.shadowed] == ["the stranger's"]
    (notice,) = place.notices()
    assert notice.startswith(
        "p/.claude/agents/x.md: agent ignored until you trust it: it has the name of another ("
    )
    assert place.the(name, trust=True).prompt == "the stranger's"


def test_trust_is_in_what_was_shown(place: Place) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}
    place.agent("p/.claude/agents/a.md", hooks=hooks, model="opus")
    shown = what_would_run(str(place.folder / "p"), place.environ)
    assert [wish.text for file in shown.files for wish in file.wishes] == ["Stop: x"]
    place.agree()
    found = place.the("a")
    assert (found.hooks, found.model) == (hooks, "opus")
    other = {"Stop": [{"hooks": [{"type": "command", "command": "y"}]}]}
    place.agent("p/.claude/agents/a.md", hooks=other, model="opus")
    found = place.the("a")
    assert (found.hooks, found.model) == ({}, "opus")
    assert place.notices() == [
        "p/.claude/agents/a.md: hooks changed since you trusted it; ignored until you look at it "
        "(detent trust, or --trust for one run)"
    ]
    place.agent("p/.claude/agents/b.md", mcpServers={"m": {"command": "x"}})
    assert place.the("b").mcp_servers == ()
    place.agree()
    assert place.the("a").hooks == other
    assert place.the("b").mcp_servers == ({"m": {"command": "x"}},)


def test_folders_that_the_users_settings_name_are_trusted_whole(place: Place) -> None:
    settings = {"trustedFolders": [str(place.folder / "p")]}
    place.write("detent/settings.json", json.dumps(settings))
    place.agent("p/.claude/agents/explore.md", hooks={"Stop": [{"hooks": []}]})
    found = place.the("Explore")
    assert (found.name, found.source, bool(found.hooks)) == ("explore", "project", True)


def test_what_asks_for_nothing_is_not_shown(place: Place) -> None:
    place.agent("p/.claude/agents/a.md", permissionMode="plan")
    place.agent("home/.claude/agents/b.md", hooks={"Stop": [{"hooks": []}]})
    assert what_would_run(str(place.folder / "p"), place.environ).files == ()
