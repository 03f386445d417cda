"""The folders at the top, and what is in them."""

from collections.abc import Sequence

from detent.app.initialising.languages import kinds
from detent.app.initialising.record import Folder
from detent.app.initialising.tree import Tree

MOST_FOLDERS = 20
MOST_INSIDE = 12
MANY = 10
"""Files in a folder whose own folders are named, too."""
MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt", "pom.xml",
             "build.gradle", "build.gradle.kts")  # fmt: skip


def layout(tree: Tree) -> tuple[Folder, ...]:
    by_folder: dict[str, list[str]] = {}
    for name in tree.files:
        top, slash, rest = name.partition("/")
        if slash and not top.startswith("."):
            by_folder.setdefault(top, []).append(rest)
    ranked = sorted(by_folder, key=lambda top: -len(by_folder[top]))[:MOST_FOLDERS]
    return tuple(_folder(top, by_folder[top]) for top in sorted(ranked))


def _folder(name: str, files: list[str]) -> Folder:
    """Folders that hold nothing but a folder are told of as one."""
    while (only := _only_folder(files)) is not None:
        name, files = f"{name}/{only}", [file.removeprefix(f"{only}/") for file in files]
    return Folder(f"{name}/", _what(files))


def _only_folder(files: Sequence[str]) -> str | None:
    tops = {file.partition("/")[0] if "/" in file else "" for file in files}
    top = next(iter(tops)) if len(tops) == 1 else ""
    return top or None


def _what(files: Sequence[str]) -> str:
    found = kinds(files)[:2]
    names = [f"{kind.files:,} {kind.name} file{'s' * (kind.files != 1)}" for kind in found]
    if not names:
        names = [f"{len(files):,} file{'s' * (len(files) != 1)}"]
    parts = [" and ".join(names)]
    inside = sorted({file.partition("/")[0] for file in files if "/" in file})
    if inside and len(files) >= MANY:
        more = ", …" if len(inside) > MOST_INSIDE else ""
        parts.append(f"in {', '.join(inside[:MOST_INSIDE])}{more}")
    own = [name for name in MANIFESTS if name in files]
    if own:
        parts.append(f"with a {own[0]} of its own")
    return ", ".join(parts)
