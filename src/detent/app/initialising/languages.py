"""Which languages there are, by the endings of files."""

import os
from collections import Counter
from collections.abc import Iterable

from detent.app.initialising.record import Language

MOST = 6
CODE = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript",
    ".cjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
    ".mts": "TypeScript", ".rs": "Rust", ".go": "Go", ".java": "Java", ".kt": "Kotlin",
    ".kts": "Kotlin", ".scala": "Scala", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++",
    ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".cs": "C#", ".fs": "F#", ".rb": "Ruby",
    ".php": "PHP", ".swift": "Swift", ".m": "Objective-C", ".sh": "shell", ".bash": "shell",
    ".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml",
    ".lua": "Lua", ".zig": "Zig", ".dart": "Dart", ".r": "R", ".jl": "Julia", ".pl": "Perl",
    ".clj": "Clojure", ".sql": "SQL", ".vue": "Vue", ".svelte": "Svelte", ".nix": "Nix",
    ".tf": "Terraform", ".proto": "Protocol Buffers", ".css": "CSS", ".scss": "CSS",
    ".html": "HTML",
}  # fmt: skip
TEXT = {".md": "Markdown", ".rst": "reStructuredText", ".json": "JSON", ".yml": "YAML",
        ".yaml": "YAML", ".toml": "TOML", ".txt": "text", ".ipynb": "notebook"}  # fmt: skip


def languages(files: Iterable[str]) -> tuple[Language, ...]:
    """The most frequent first."""
    return _counted(files, CODE)


def kinds(files: Iterable[str]) -> tuple[Language, ...]:
    """Also what is no program."""
    return _counted(files, CODE | TEXT)


def _counted(files: Iterable[str], names: dict[str, str]) -> tuple[Language, ...]:
    endings = (os.path.splitext(name)[1].lower() for name in files)
    counts = Counter(names[ending] for ending in endings if ending in names)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Language(name, number) for name, number in ranked[:MOST])
