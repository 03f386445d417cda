"""What stands around the code: containers, checks before a commit, the style of all files."""

from detent.app.initialising.record import Command, Findings
from detent.app.initialising.tree import Tree

COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
HOOKS = (".pre-commit-config.yaml", ".pre-commit-config.yml")
CI = (".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml",
      ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml")  # fmt: skip
MOST_WORKFLOWS = 10


def look(tree: Tree) -> Findings:
    commands = []
    if file := tree.first("Dockerfile", "Containerfile"):
        commands.append(Command("other", "docker build .", file, "the image"))
    if file := tree.first(*COMPOSE):
        commands.append(Command("run", "docker compose up", file))
    if file := tree.first(*HOOKS):
        commands.append(Command("lint", "pre-commit run --all-files", file))
    return Findings(tuple(commands), tuple(_editor(tree)))


def checks(tree: Tree) -> tuple[str, ...]:
    """What runs elsewhere for each change."""
    folder = ".github/workflows/"
    workflows = [
        name
        for name in tree.files
        if name.startswith(folder) and name.endswith((".yml", ".yaml")) and name.count("/") == 2
    ]
    return (*workflows[:MOST_WORKFLOWS], *(name for name in CI if tree.has(name)))


def _editor(tree: Tree) -> list[str]:
    """What .editorconfig says of all files."""
    said = tree.ini(".editorconfig").get("*", {})
    style, size = said.get("indent_style", ""), said.get("indent_size", "")
    found = []
    if style == "tab":
        found.append("indentation by tabs")
    elif style == "space":
        found.append(f"indentation by {size} spaces" if size.isdecimal() else "by spaces")
    if (length := said.get("max_line_length", "")).isdecimal() and len(length) < 5:
        found.append(f"lines of at most {length} characters")
    return found
