"""JavaScript and TypeScript: scripts of package.json, and the tools beside them."""

from collections.abc import Iterator
from typing import Any

from detent.app.initialising.cleaning import is_name, plain, version
from detent.app.initialising.purposes import purpose_of
from detent.app.initialising.record import Command, Findings
from detent.app.initialising.tree import Tree, table

PACKAGE = "package.json"
LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
EXECS = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}
ONE_TEST = {
    "vitest": "vitest run PATH -t 'NAME'",
    "jest": "jest PATH -t 'NAME'",
    "@playwright/test": "playwright test PATH -g 'NAME'",
    "mocha": "mocha PATH -g 'NAME'",
    "ava": "ava PATH --match 'NAME'",
}
PRETTIER = (".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml",
            "prettier.config.js", "prettier.config.mjs", "prettier.config.cjs")  # fmt: skip
ESLINT = ("eslint.config.js", "eslint.config.mjs", "eslint.config.ts", ".eslintrc", ".eslintrc.js",
          ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml")  # fmt: skip
MOST_SCRIPTS = 40


def look(tree: Tree) -> Findings:
    package = tree.json(PACKAGE)
    if not package:
        return Findings()
    manager = _manager(tree, package)
    commands = [*_setup(tree, manager), *_scripts(package, manager)]
    commands += _tools(tree, package, manager, {command.purpose for command in commands})
    return Findings(
        tuple(commands),
        tuple(_conventions(tree, package)),
        plain(package.get("name"), 60),
        plain(package.get("description"), 200),
    )


def _manager(tree: Tree, package: dict[str, Any]) -> str:
    named = str(package.get("packageManager", "")).partition("@")[0]
    if named in EXECS:
        return named
    return next((manager for lock, manager in LOCKS if tree.has(lock)), "npm")


def _setup(tree: Tree, manager: str) -> Iterator[Command]:
    lock = next((lock for lock, name in LOCKS if name == manager and tree.has(lock)), PACKAGE)
    is_exact = manager == "npm" and lock != PACKAGE
    yield Command("setup", "npm ci" if is_exact else f"{manager} install", lock)


def _scripts(package: dict[str, Any], manager: str) -> Iterator[Command]:
    """By name only: what they run is in the file."""
    names = [name for name in table(package, "scripts") if is_name(name)]
    for name in names[:MOST_SCRIPTS]:
        if name.startswith(("pre", "post")) and name.removeprefix("pre") in names:
            continue
        is_short = name in ("test", "start") and manager != "bun"
        text = f"{manager} {name}" if is_short else f"{manager} run {name}"
        yield Command(purpose_of(name, names), text, PACKAGE)


def _tools(tree: Tree, package: dict[str, Any], manager: str, told: set[str]) -> Iterator[Command]:
    """What no script does."""
    needed = table(package, "dependencies") | table(package, "devDependencies")
    run = EXECS[manager]
    for name, words in ONE_TEST.items():
        if name in needed:
            yield Command("one test", f"{run} {words}", PACKAGE)
            break
    if "lint" not in told and "eslint" in needed and tree.has(*ESLINT):
        yield Command("lint", f"{run} eslint .", tree.first(*ESLINT))
    if "format" not in told and "prettier" in needed:
        yield Command("format", f"{run} prettier --write .", tree.first(*PRETTIER) or PACKAGE)
    if "types" not in told and "typescript" in needed and tree.has("tsconfig.json"):
        yield Command("types", f"{run} tsc --noEmit", "tsconfig.json")


def _conventions(tree: Tree, package: dict[str, Any]) -> Iterator[str]:
    if node := version(table(package, "engines").get("node")):
        yield f"Node {node}"
    if package.get("workspaces") or tree.has("pnpm-workspace.yaml"):
        yield "one repository of several JavaScript packages (workspaces)"
    if package.get("type") == "module":
        yield "JavaScript files are ES modules"
    if tree.has(*ESLINT):
        yield "JavaScript is linted with ESLint"
    if tree.has(*PRETTIER) or "prettier" in package:
        yield f"JavaScript is formatted with Prettier{_prettier(tree, package)}"
    if table(tree.json("tsconfig.json"), "compilerOptions").get("strict") is True:
        yield "TypeScript is strict"


def _prettier(tree: Tree, package: dict[str, Any]) -> str:
    said = tree.json(".prettierrc") or tree.json(".prettierrc.json") or table(package, "prettier")
    width = said.get("printWidth")
    return f", lines of at most {width} characters" if isinstance(width, int) else ""
