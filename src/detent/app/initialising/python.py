"""Python projects: how they are installed, tested and checked."""

from collections.abc import Iterator
from typing import Any

from detent.app.initialising.cleaning import is_name, plain, version
from detent.app.initialising.python_style import style
from detent.app.initialising.record import Command, Findings
from detent.app.initialising.tree import Tree, table

RUNNERS = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile", "pipenv"))
SETUPS = {
    "uv": "uv sync",
    "poetry": "poetry install",
    "pdm": "pdm install",
    "pipenv": "pipenv install --dev",
}
BUILDS = {"uv": "uv build", "poetry": "poetry build", "pdm": "pdm build"}
EXTRAS = ("dev", "develop", "test", "tests", "testing", "all")
MOST_SCRIPTS = 5
PROJECT = "pyproject.toml"
FILES = (PROJECT, "setup.cfg", "setup.py", "requirements.txt", "tox.ini", "noxfile.py",
         "manage.py", "conftest.py", ".flake8", "mypy.ini", "ruff.toml")  # fmt: skip


class Manifest:
    """What the files at the root say, read once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.data = tree.toml(PROJECT)
        self.cfg = tree.ini("setup.cfg")
        self.tool = table(self.data, "tool")
        known = (program for file, program in RUNNERS if tree.has(file))
        self.manager = next(known, "poetry" if "poetry" in self.tool else "")
        self.prefix = f"{self.manager} run " if self.manager else ""

    @property
    def is_there(self) -> bool:
        return self.tree.has(*FILES, *(file for file, _ in RUNNERS)) or bool(self.tests)

    @property
    def tests(self) -> list[str]:
        names = ((name, name.rpartition("/")[2]) for name in self.tree.files)
        return [name for name, base in names if base.startswith("test_") and base.endswith(".py")]


def look(tree: Tree) -> Findings:
    manifest = Manifest(tree)
    if not manifest.is_there:
        return Findings()
    project = table(manifest.data, "project") or table(manifest.tool, "poetry")
    commands = [*_setup(manifest), *_build(manifest), *_tests(manifest), *_scripts(manifest)]
    checks, conventions = style(tree, manifest.data, manifest.cfg, manifest.prefix)
    needs = version(project.get("requires-python"))
    return Findings(
        (*commands, *checks),
        ((f"Python {needs}",) if needs else ()) + conventions,
        plain(project.get("name"), 60),
        plain(project.get("description"), 200),
    )


def _setup(manifest: Manifest) -> Iterator[Command]:
    tree = manifest.tree
    if manifest.manager:
        lock = next((file for file, name in RUNNERS if name == manifest.manager), PROJECT)
        source = lock if tree.has(lock) else PROJECT
        yield Command("setup", SETUPS[manifest.manager], source)
        return
    if "build-system" in manifest.data or "project" in manifest.data or tree.has("setup.py"):
        source = PROJECT if manifest.data else tree.first("setup.py", "setup.cfg")
        yield Command("setup", f"python -m pip install -e {_extras(manifest.data)}", source)
    for name in ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt"):
        if tree.has(name):
            yield Command("setup", f"python -m pip install -r {name}", name)


def _extras(data: dict[str, Any]) -> str:
    offered = table(data, "project", "optional-dependencies")
    wanted = next((name for name in EXTRAS if name in offered), "")
    return f"'.[{wanted}]'" if wanted else "."


def _build(manifest: Manifest) -> Iterator[Command]:
    if "build-system" in manifest.data:
        yield Command("build", BUILDS.get(manifest.manager, "python -m build"), PROJECT)


def _tests(manifest: Manifest) -> Iterator[Command]:
    tree, prefix = manifest.tree, manifest.prefix
    if tree.has("manage.py"):
        yield Command("test", f"{prefix}python manage.py test", "manage.py")
        yield Command("run", f"{prefix}python manage.py runserver", "manage.py")
    if source := _pytest(manifest):
        yield Command("test", f"{prefix}python -m pytest", source)
        yield Command("one test", f"{prefix}python -m pytest PATH/test_FILE.py::test_NAME", source)
    elif manifest.tests:
        yield Command("test", f"{prefix}python -m unittest", manifest.tests[0])
        yield Command(
            "one test", f"{prefix}python -m unittest MODULE.CLASS.test_NAME", manifest.tests[0]
        )
    if tree.has("tox.ini") or "tox" in manifest.tool:
        yield Command("test", "tox", tree.first("tox.ini") or PROJECT)
    if tree.has("noxfile.py"):
        yield Command("test", "nox", "noxfile.py", "nox --list shows its sessions")


def _pytest(manifest: Manifest) -> str:
    """The file that shows that pytest runs the tests."""
    tree = manifest.tree
    if "pytest" in manifest.tool or "pytest" in _required(manifest.data):
        return PROJECT
    if "tool:pytest" in manifest.cfg:
        return "setup.cfg"
    if "pytest" in tree.ini("tox.ini"):
        return "tox.ini"
    known = tree.first("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py")
    files = ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt")
    return known or next((name for name in files if "pytest" in tree.text(name)), "")


def _required(data: dict[str, Any]) -> str:
    """All that is required, in one text to look for names in."""
    parts = [table(data, "project").get("dependencies")]
    parts += table(data, "project", "optional-dependencies").values()
    parts += table(data, "dependency-groups").values()
    parts += [list(table(data, "tool", "poetry", "group", "dev", "dependencies"))]
    lists = (part for part in parts if isinstance(part, list))
    return " ".join(word for words in lists for word in words if isinstance(word, str))


def _scripts(manifest: Manifest) -> Iterator[Command]:
    names = [name for name in table(manifest.data, "project", "scripts") if is_name(name)]
    for name in names[:MOST_SCRIPTS]:
        yield Command("run", f"{manifest.prefix}{name}", PROJECT)
