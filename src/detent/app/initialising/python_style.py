"""How Python is written here: formatters, linters and type checkers, and what they are told."""

from typing import Any

from detent.app.initialising.cleaning import plain
from detent.app.initialising.record import Command
from detent.app.initialising.tree import Tree, table

PROJECT = "pyproject.toml"
Ini = dict[str, dict[str, str]]


def style(
    tree: Tree, data: dict[str, Any], cfg: Ini, prefix: str
) -> tuple[tuple[Command, ...], tuple[str, ...]]:
    tool = table(data, "tool")
    commands: list[Command] = []
    conventions: list[str] = []
    if source := _source(tree, tool, "ruff", "ruff.toml", ".ruff.toml"):
        ruff = table(tool, "ruff") or tree.toml(source)
        commands += (
            Command("lint", f"{prefix}ruff check", source),
            Command("format", f"{prefix}ruff format", source),
        )
        conventions.append(f"Python is linted with ruff{_length(ruff.get('line-length'))}")
    if "black" in tool:
        commands.append(Command("format", f"{prefix}black .", PROJECT))
        length = _length(table(tool, "black").get("line-length"))
        conventions.append(f"Python is formatted with black{length}")
    if "isort" in tool or tree.has(".isort.cfg"):
        commands.append(Command("format", f"{prefix}isort .", PROJECT))
    if source := ("setup.cfg" if "flake8" in cfg else tree.first(".flake8")):
        flake8 = cfg.get("flake8") or tree.ini(source).get("flake8", {})
        commands.append(Command("lint", f"{prefix}flake8", source))
        conventions.append(f"Python is linted with flake8{_length(flake8.get('max-line-length'))}")
    if source := _source(tree, tool, "pylint", ".pylintrc", "pylintrc"):
        commands.append(Command("lint", f"{prefix}pylint PACKAGE", source))
    typed, said = _types(tree, tool, cfg, prefix)
    return (*commands, *typed), (*conventions, *said)


def _types(
    tree: Tree, tool: dict[str, Any], cfg: Ini, prefix: str
) -> tuple[list[Command], list[str]]:
    commands: list[Command] = []
    said: list[str] = []
    if source := ("setup.cfg" if "mypy" in cfg else _source(tree, tool, "mypy", "mypy.ini")):
        mypy = table(tool, "mypy") or cfg.get("mypy") or tree.ini(source).get("mypy", {})
        where = "" if mypy.get("files") or mypy.get("packages") else " ."
        commands.append(Command("types", f"{prefix}mypy{where}", source))
        is_strict = str(mypy.get("strict")).lower() == "true"
        said.append(f"types are checked with mypy{', strictly' if is_strict else ''}")
    if source := _source(tree, tool, "pyright", "pyrightconfig.json"):
        mode = table(tool, "pyright") or tree.json(source)
        commands.append(Command("types", f"{prefix}pyright", source))
        strict = ", strictly" if mode.get("typeCheckingMode") == "strict" else ""
        said.append(f"types are checked with pyright{strict}")
    return commands, said


def _source(tree: Tree, tool: dict[str, Any], name: str, *files: str) -> str:
    return PROJECT if name in tool else tree.first(*files)


def _length(value: object) -> str:
    """Numbers stand so in one kind of file, as text in another."""
    text = plain(str(value), 6)
    return f", lines of at most {text} characters" if text.isdecimal() else ""
