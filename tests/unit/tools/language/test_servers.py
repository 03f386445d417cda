"""Which server a file gets, and why there may be none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from detent.testing.memory_host import MemoryHost
from detent.tools.language.servers import LANGUAGES, Choice, root_of

HERE = "/p"


def inside(path: str) -> bool:
    return path == HERE or path.startswith(HERE + "/")


def choice(
    *programs: str, chosen: Any = (), trusted: bool = False, folder: str = "/usr/bin"
) -> Choice:
    found = {program: f"{folder}/{program}" for program in programs}
    return Choice(found.get, {} if chosen == () else chosen, trusted=trusted, holds=inside)


def why_not(choice: Choice, path: str = "/p/a.py") -> str:
    with pytest.raises(LookupError) as caught:
        choice.find(path)
    return str(caught.value)


def test_the_first_that_is_on_the_machine() -> None:
    found = choice("jedi-language-server", "pyright-langserver").find("/p/a.py")
    assert found.server.argv == ("/usr/bin/pyright-langserver", "--stdio")
    assert (found.language, found.language_id) == ("python", "python")
    assert choice("jedi-language-server").find("/p/a.PYI").server.argv == (
        "/usr/bin/jedi-language-server",
    )


def test_an_absent_server_is_reported_plainly() -> None:
    assert why_not(choice(), "/p/a.go") == (
        "no language server for .go files was found on this machine (looked for gopls). "
        "Use Grep instead"
    )
    assert why_not(choice(), "/p/a.xyz").startswith("no language server for .xyz files is known")
    assert "files without an ending" in why_not(choice(), "/p/Makefile")


def test_the_user_may_name_another_and_one_for_any_ending() -> None:
    chosen = {"python": ("mine", "--x"), ".xyz": ("/opt/xyz",)}
    some = choice("mine", "jedi-language-server", chosen=chosen)
    assert some.find("/p/a.py").server.argv == ("/usr/bin/mine", "--x")
    assert some.find("/p/a.xyz").server.argv == ("/opt/xyz",)
    assert some.find("/p/a.xyz").language_id == "xyz"


def test_a_named_server_that_is_not_there_is_not_replaced() -> None:
    said = why_not(choice("jedi-language-server", chosen={"python": ("mine",)}))
    assert "mine, was not found on this machine" in said


def test_servers_can_be_switched_off() -> None:
    assert "switched off" in why_not(choice("jedi-language-server", chosen=None))
    assert "switch the server for python off" in why_not(
        choice("jedi-language-server", chosen={"python": ()})
    )


def test_a_program_of_the_project_needs_trust() -> None:
    mine = {"folder": "/p/.venv/bin"}
    assert "lies inside the project" in why_not(choice("jedi-language-server", **mine))  # type: ignore[arg-type]
    trusting = choice("jedi-language-server", trusted=True, folder="/p/.venv/bin")
    assert trusting.find("/p/a.py").server.argv == ("/p/.venv/bin/jedi-language-server",)


@pytest.mark.parametrize(("link", "target"), [("p/ty", "bin/ty"), ("bin/ty", "p/ty")])
def test_a_link_is_of_the_project_at_either_end(tmp_path: Path, link: str, target: str) -> None:
    for folder in ("p", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / target).touch()
    (tmp_path / link).symlink_to(tmp_path / target)
    project = str(tmp_path / "p")
    found = Choice(
        lambda program: str(tmp_path / link) if program == "ty" else None,
        {},
        trusted=False,
        holds=lambda path: path.startswith(project),
    )
    assert "lies inside the project" in why_not(found)


def test_a_server_that_runs_code_of_the_project_needs_trust_or_the_users_word() -> None:
    assert "rust-analyzer runs code of the project" in why_not(choice("rust-analyzer"), "/p/a.rs")
    trusted = choice("rust-analyzer", trusted=True).find("/p/a.rs").server
    named = choice("rust-analyzer", chosen={"rust": ("rust-analyzer",)}).find("/p/a.rs").server
    for server in (trusted, named):
        assert server.options["cargo"] == {"buildScripts": {"enable": False}}
        assert server.section == "rust-analyzer"


def test_one_that_needs_trust_gives_way_to_one_that_does_not() -> None:
    both = ("basedpyright-langserver", "ty")
    assert choice(*both).find("/p/a.py").server.name == "ty"
    assert choice(*both, trusted=True).find("/p/a.py").server.name == "basedpyright-langserver"


def test_every_ending_belongs_to_one_language() -> None:
    endings = [ending for language in LANGUAGES for ending in language.ids]
    assert len(endings) == len(set(endings))
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/p/one/src/a.py", "/p/one"),
        ("/p/two/a.py", "/p"),
        ("/elsewhere/x/a.py", "/p/two"),
    ],
)
def test_the_root_is_the_nearest_project_in_the_workspace(path: str, root: str) -> None:
    files = {"/p/one/go.mod": "", "/p/.git/HEAD": "", "/elsewhere/package.json": ""}
    host = MemoryHost(files)
    assert asyncio.run(root_of(path, "/p/two", inside, host)) == root
