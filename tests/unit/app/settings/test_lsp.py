"""`lsp` in settings: which language servers start is for the user alone."""

from __future__ import annotations

from typing import Any

import pytest

from detent.app.settings.record import Settings, Source
from detent.app.settings.sources import merge
from detent.types.errors import BadInput


def merged(*values: Any, project: Any = None, trusted: bool = True) -> Settings:
    sources = [Source("user", f"user{n}", {"lsp": one}, False) for n, one in enumerate(values)]
    if project is not None:
        sources.append(Source("project", "theirs", {"lsp": project}, True))
    return merge(sources, trusted=trusted)


def test_commands_are_joined_and_the_later_wins() -> None:
    settings = merged({"python": ["a"], "go": ["g", "-x"]}, {"python": ["b"], ".xyz": False})
    assert settings.lsp == {"python": ("b",), "go": ("g", "-x"), ".xyz": ()}


def test_all_can_be_switched_off_and_on_again() -> None:
    assert merged({"python": ["a"]}, False).lsp is None
    assert merged(False, {}).lsp is None
    assert merged(False, {"python": ["a"]}).lsp == {"python": ("a",)}


@pytest.mark.parametrize("project", [{"python": ["./evil"]}, False, "rubbish"])
@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_cannot_name_a_program(project: Any, trusted: bool) -> None:
    settings = merged({"python": ["mine"]}, project=project, trusted=trusted)
    assert settings.lsp == {"python": ("mine",)}
    assert settings.notices == ("theirs: its lsp is ignored; only you can set it",)


@pytest.mark.parametrize(
    "given", [True, ["pylsp"], {"python": "pylsp"}, {"python": []}, {"python": [1]}, {"go": True}]
)
def test_what_is_no_command_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match="user0: lsp"):
        merged(given)
