"""A search over a folder shows nothing of what reading would need a permission for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.gate.paths import SECRET_GLOBS, is_secret

from ..conftest import Bench

SECRET = (
    ".env",
    ".ENV",
    ".env.local",
    ".env.ci",
    ".env.bak",
    "deep/er/.env.whatever",
    "x.pem",
    "x.PEM",
    "Id_Rsa",
    "server.key",
    ".netrc",
    ".npmrc",
    "credentials",
    ".ssh/config",
    "home/.ssh/keys/deep/one",
    ".aws/config",
    ".AWS/config",
    ".gnupg/ring.txt",
    ".kube/config",
    "home/.kube/config",
    ".docker/config.json",
    ".Docker/Config.json",
)
PLAIN = ("a.txt", "env", "prod.env", "key.py", ".kube/notes", ".docker/Dockerfile", "config.json")


@pytest.fixture(params=["rg", "python"])
def bench(request: pytest.FixtureRequest, disk: Bench) -> Bench:
    for name in SECRET + PLAIN:
        path = Path(disk.cwd, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("needle\n")
    disk.settings = {"search_excludes": "\n".join(SECRET_GLOBS)}
    if request.param == "python":
        disk.host.which = lambda program: None  # type: ignore[method-assign]
    return disk


def found(bench: Bench, **more: str) -> set[str]:
    said = bench.text("Grep", pattern="needle", **more)
    return set() if said.startswith("No matches") else set(said.split("\n"))


def test_the_gate_and_both_engines_agree(bench: Bench) -> None:
    names = {name for name in SECRET + PLAIN if is_secret(os.path.join(bench.cwd, name))}
    assert names == set(SECRET)
    assert found(bench) == set(PLAIN)


@pytest.mark.parametrize("folder", [".kube", ".docker", "home", "deep/er"])
def test_wherever_the_search_begins(bench: Bench, folder: str) -> None:
    below = {name for name in PLAIN if name.startswith(f"{folder}/")}
    assert found(bench, path=folder) == below
    bench.shop.cwd = os.path.join(bench.cwd, folder)
    assert found(bench) == {name.removeprefix(f"{folder}/") for name in below}


def test_no_glob_brings_them_back(bench: Bench) -> None:
    assert found(bench, glob=".env*") == set()
    assert found(bench, glob=".ssh/**") == set()


def test_a_folder_of_secrets_that_was_permitted_is_searched(bench: Bench) -> None:
    assert found(bench, path=".ssh") == {".ssh/config"}
    assert found(bench, path=".env") == {".env"}


def test_a_link_leads_nowhere(bench: Bench) -> None:
    Path(bench.cwd, "harmless").symlink_to(".env")
    assert found(bench) == set(PLAIN)
