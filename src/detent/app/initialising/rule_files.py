"""Files with rules for people and agents. They are pointed to: a copy would soon say another
thing."""

from detent.app.initialising.tree import Tree

KNOWN = (
    "CLAUDE.md", ".claude/CLAUDE.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".github/copilot-instructions.md", "GEMINI.md", "CONVENTIONS.md",
    "CONTRIBUTING.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md", "CONTRIBUTING.rst",
    "CONTRIBUTING", "README.md", "README.rst", "README", "docs/architecture.md",
    "ARCHITECTURE.md", "docs/ARCHITECTURE.md", "STYLE.md", "STYLEGUIDE.md", "SECURITY.md",
)  # fmt: skip
FOLDERS = (".cursor/rules/", ".claude/rules/", ".detent/rules/")


def rule_files(tree: Tree) -> tuple[str, ...]:
    folders = (folder for folder in FOLDERS if any(name.startswith(folder) for name in tree.files))
    return (*(name for name in KNOWN if tree.has(name)), *folders)
