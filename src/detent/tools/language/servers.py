"""Which language servers there are: a table, what the user has changed in it, and the machine."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.ports import Host

MARKERS = ("pyproject.toml", "package.json", "go.mod", "Cargo.toml", ".git")
"""Files by which the root of a project is known."""

ENVIRONMENTS, MINORS = (".venv", "venv"), range(8, 20)
"""Where a Python project keeps its packages: folders, and versions of Python 3."""
TRUSTS = "trusts the folder (--trust) or names the command in the setting `lsp`"


class Server(Struct, frozen=True):
    argv: tuple[str, ...]
    runs_project_code: bool = False
    """Compiles or loads parts of the project in order to understand it: only where the user trusts
    the folder."""
    section: str = ""
    options: Mapping[str, Any] = {}
    """Its settings: given at the start, and when it asks for this section."""
    packages_as: str = ""
    """The setting of that section, with dots, that takes the folders of installed packages: for a
    server that does not look into the project's own environment."""

    @property
    def name(self) -> str:
        return os.path.basename(self.argv[0])


class Language(Struct, frozen=True):
    name: str
    ids: Mapping[str, str]
    """File endings, and what the protocol calls the language of such a file."""
    servers: tuple[Server, ...]


RUST_OPTIONS = {
    # Whatever would run code of the project, or a compiler after each edit.
    "cargo": {"buildScripts": {"enable": False}},
    "procMacro": {"enable": False},
    "checkOnSave": False,
}

LANGUAGES = (
    Language(
        "python",
        {".py": "python", ".pyi": "python"},
        (
            # It runs the interpreter of the project's environment.
            Server(("basedpyright-langserver", "--stdio"), True),
            Server(
                ("pyright-langserver", "--stdio"),
                section="python",
                packages_as="analysis.extraPaths",
            ),
            # Its plugins are linters, and these load what a project's settings name.
            Server(("pylsp",), True),
            Server(("jedi-language-server",)),
            Server(("ty", "server")),
            Server(("ruff", "server")),
        ),
    ),
    Language("go", {".go": "go"}, (Server(("gopls",)),)),
    Language(
        "rust",
        {".rs": "rust"},
        (Server(("rust-analyzer",), True, "rust-analyzer", RUST_OPTIONS),),
    ),
    Language(
        "typescript",
        {
            ".ts": "typescript", ".mts": "typescript", ".cts": "typescript",
            ".tsx": "typescriptreact", ".jsx": "javascriptreact",
            ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
        },
        # It loads the compiler that it finds in the project.
        (
            Server(("typescript-language-server", "--stdio"), True),
            Server(("tsgo", "--lsp", "--stdio")),
        ),
    ),
    Language(
        "c",
        {
            ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp",
            ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp",
        },
        (Server(("clangd",)),),
    ),
    Language("zig", {".zig": "zig"}, (Server(("zls",), True),)),
    Language("lua", {".lua": "lua"}, (Server(("lua-language-server",), True),)),
    Language("shell", {".sh": "shellscript", ".bash": "shellscript"},
             (Server(("bash-language-server", "start")),)),
    Language("ruby", {".rb": "ruby"},
             (Server(("ruby-lsp",), True), Server(("solargraph", "stdio"), True))),
    Language("php", {".php": "php"}, (Server(("intelephense", "--stdio")),)),
    Language("swift", {".swift": "swift"}, (Server(("sourcekit-lsp",), True),)),
    Language("haskell", {".hs": "haskell"},
             (Server(("haskell-language-server-wrapper", "--lsp"), True),)),
    Language("java", {".java": "java"}, (Server(("jdtls",), True),)),
)  # fmt: skip


class Found(Struct, frozen=True):
    """A server that can be started for a file."""

    language: str
    language_id: str
    server: Server
    by_user: bool = False


class Choice:
    """Finds the server for a file. `chosen` are commands by language or file ending, from the
    user's settings; None switches all servers off."""

    def __init__(
        self,
        which: Callable[[str], str | None],
        chosen: Mapping[str, tuple[str, ...]] | None,
        *,
        trusted: bool,
        holds: Callable[[str], bool],
    ) -> None:
        self._which, self._chosen = which, chosen
        self._trusted, self._holds = trusted, holds

    def find(self, path: str) -> Found:
        """Raises LookupError that says why there is none."""
        ending = os.path.splitext(path)[1].lower()
        if self._chosen is None:
            raise LookupError("language servers are switched off in the settings. Use Grep instead")
        language = next((one for one in LANGUAGES if ending in one.ids), None)
        name = language.name if language else ending
        for key in (ending, name):
            if key in self._chosen:
                language_id = language.ids[ending] if language else ending[1:]
                return self._own(self._chosen[key], key, language_id)
        if language is None:
            kind = f"{ending} files" if ending else "files without an ending"
            raise LookupError(f"no language server for {kind} is known. Use Grep instead")
        return self._known(language, ending)

    def _own(self, argv: tuple[str, ...], name: str, language_id: str) -> Found:
        if not argv:
            raise LookupError(f"the settings switch the server for {name} off. Use Grep instead")
        program = argv[0] if os.path.isabs(argv[0]) else self._which(argv[0])
        if program is None:
            raise LookupError(
                f"the language server for {name} that the settings name, {argv[0]}, was not "
                "found on this machine. Use Grep instead"
            )
        command = os.path.basename(program)
        known = (one for language in LANGUAGES for one in language.servers)
        like = next((one for one in known if one.argv[0] == command), Server(()))
        return Found(name, language_id, replace(like, argv=(program, *argv[1:])), by_user=True)

    def _known(self, language: Language, ending: str) -> Found:
        reasons = []
        for server in language.servers:
            program = self._which(server.argv[0])
            if program is None:
                continue
            if reason := self._objection(server, program):
                reasons.append(reason)
                continue
            ready = replace(server, argv=(program, *server.argv[1:]))
            return Found(language.name, language.ids[ending], ready)
        if reasons:
            raise LookupError(f"{' '.join(reasons)} Use Grep instead")
        looked = ", ".join(server.argv[0] for server in language.servers)
        raise LookupError(
            f"no language server for {ending} files was found on this machine (looked for "
            f"{looked}). Use Grep instead"
        )

    def _objection(self, server: Server, program: str) -> str:
        """Nothing of a project runs before the user trusts it, and no one is asked here."""
        if self._trusted:
            return ""
        if self._holds(program) or self._holds(os.path.realpath(program)):
            return f"{program} lies inside the project: it runs only where the user {TRUSTS}."
        if server.runs_project_code:
            return f"{server.name} runs code of the project: only where the user {TRUSTS}."
        return ""


async def root_of(path: str, cwd: str, holds: Callable[[str], bool], host: Host) -> str:
    """The nearest folder above a file, inside the workspace, that looks like a project."""
    folder = os.path.dirname(path)
    while holds(folder):
        for marker in MARKERS:
            if await host.facts(os.path.join(folder, marker)) is not None:
                return folder
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return cwd


async def prepared(server: Server, root: str, host: Host) -> Server:
    """With the packages of the project, which it is shown: nothing of them is run."""
    if not server.packages_as:
        return server
    folders = [
        os.path.join(root, environment, "lib", f"python3.{minor}", "site-packages")
        for environment in ENVIRONMENTS
        for minor in MINORS
    ]
    value: Any = [folder for folder in folders if await host.facts(folder) is not None]
    for key in reversed(server.packages_as.split(".")):
        value = {key: value}
    return replace(server, options={**server.options, **value})
