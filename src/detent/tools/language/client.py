"""One language server at work: its documents, and what it says about them."""

import asyncio
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from detent.ports import Host
from detent.tools.files.texts import legible
from detent.tools.language.connection import Connection, Gone, Refusal, Unknown
from detent.tools.language.introduction import introduction
from detent.tools.language.messages import (
    CONTENT_MODIFIED,
    SERVER_CANCELLED,
    Capabilities,
    Configuration,
    Diagnostic,
    Initialized,
    Progress,
    Published,
    Report,
    Status,
)
from detent.tools.language.servers import Server
from detent.tools.language.uris import folder, path_of, uri_of

T = TypeVar("T")

INITIALIZING = 20.0
FAREWELL = 1.0
SETTLING = 0.2
"""Servers publish in parts: syntax first, then what it means. So long must it be quiet."""
SETTLING_UNSURE = 1.0
"""And so long where it does not say which text it means: its last words on the text before would
be taken for the first ones on the next, and old faults for new."""
MOST_SILENCES = 2
PAUSE = 0.2
MOST_OPEN = 40

CREATED, CHANGED = 1, 2
"""What has happened to a file, in the words of the protocol."""


class Document:
    """A file as the server knows it."""

    def __init__(self, text: str, version: int) -> None:
        self.text, self.version = text, version
        self.faults: tuple[Diagnostic, ...] | None = None
        """Of this text; None until the server has told."""
        self.published = asyncio.Event()
        self.modified: float | None = None
        """When the file had this text on the disk, where we know."""

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


class Client:
    def __init__(self, server: Server, root: str) -> None:
        self.server, self.root = server, root
        self.abilities = Capabilities()
        self.documents: dict[str, Document] = {}
        """By path; the one used last is the last."""
        self._connection = Connection(server.name, self._asked, self._told, self._ended)
        self._works: set[int | str] = set()
        self._quiescent = True
        self._stirred = 0
        """How often it has told of its work."""
        self._changed = asyncio.Event()
        self._names_versions = True
        self._silences = 0
        """How often in a row we have waited for its faults in vain."""
        self._was_busy = False
        """When we did so last: then it may yet speak when it is done."""

    @property
    def trouble(self) -> str:
        return self._connection.trouble

    @property
    def is_busy(self) -> bool:
        """Still reading the project: what it does not find may yet turn up."""
        return bool(self._works) or not self._quiescent

    @property
    def is_silent(self) -> bool:
        """Not worth a wait, until it speaks again."""
        return self._silences >= MOST_SILENCES

    async def start(self, host: Host, cwd: str) -> None:
        """Raises OSError, Gone, Refusal or TimeoutError; then nothing is left running."""
        try:
            await self._connection.start(host, self.server.argv, cwd)
            answer: Initialized = await self._connection.request(
                "initialize", introduction(self.root, self.server.options), Initialized,
                INITIALIZING,
            )  # fmt: skip
        except BaseException:
            await self._connection.end(0)
            raise
        self.abilities = answer.capabilities
        self._connection.notify("initialized", {})

    async def aclose(self) -> None:
        await self._connection.end(FAREWELL)

    async def ask(self, method: str, params: Any, kind: type[T] | Any, seconds: float) -> T:
        """Again while it says that things have changed meanwhile, and while it finds nothing but
        still reads the project."""
        until = asyncio.get_running_loop().time() + seconds
        while True:
            left = until - asyncio.get_running_loop().time()
            stirred = self._stirred
            try:
                answer: T = await self._connection.request(method, params, kind, max(left, 0))
            except Refusal as refusal:
                if refusal.code not in (CONTENT_MODIFIED, SERVER_CANCELLED) or left < PAUSE:
                    raise
                await asyncio.sleep(PAUSE)
                continue
            self._silences = 0
            is_sure = not self.is_busy and stirred == self._stirred
            if answer or is_sure or left < PAUSE:
                return answer
            await self.idle(left - PAUSE)

    async def idle(self, seconds: float) -> bool:
        """Waits until the project has been read, or nobody reads it any more; whether it was so."""
        try:
            async with asyncio.timeout(seconds):
                while self.is_busy and not self.trouble:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass
        return bool(self.trouble) or not self.is_busy

    def show(self, path: str, text: str, language_id: str) -> Document:
        """Makes the server know this text of a file."""
        text = legible(text)
        old = self.documents.pop(path, None)
        if old is not None and old.text == text:
            self.documents[path] = old
            return old
        self.documents[path] = new = Document(text, old.version + 1 if old else 1)
        item = {"uri": uri_of(path), "version": new.version}
        if old is None:
            item |= {"languageId": language_id, "text": text}
            self._connection.notify("textDocument/didOpen", {"textDocument": item})
            self._close_oldest()
        else:
            change = {"textDocument": item, "contentChanges": [{"text": text}]}
            self._connection.notify("textDocument/didChange", change)
        return new

    def saved(self, path: str, kind: int) -> None:
        """Servers that leave watching the disk to us learn of our own changes at least."""
        changes = [{"uri": uri_of(path), "type": kind}]
        self._connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def close(self, path: str) -> None:
        if self.documents.pop(path, None) is None:
            return
        self._connection.notify("textDocument/didClose", {"textDocument": {"uri": uri_of(path)}})

    async def faults(self, path: str, document: Document, seconds: float) -> tuple[Diagnostic, ...]:
        """What is wrong in a document that was shown. Raises TimeoutError when it takes longer."""
        try:
            found = await self._faults(path, document, seconds)
        except (TimeoutError, asyncio.CancelledError):
            self._silences += 1
            self._was_busy = self.is_busy
            raise
        self._silences = 0
        return found

    async def _faults(
        self, path: str, document: Document, seconds: float
    ) -> tuple[Diagnostic, ...]:
        async with asyncio.timeout(seconds):
            if not self.abilities.diagnostic_provider:
                return await self._published(document)
            if not await self.idle(seconds):
                raise TimeoutError
            params = {"textDocument": {"uri": uri_of(path)}}
            report: Report = await self.ask("textDocument/diagnostic", params, Report, seconds)
        pushed = document.faults or ()
        return (*report.items, *(fault for fault in pushed if fault not in report.items))

    async def _published(self, document: Document) -> tuple[Diagnostic, ...]:
        if document.faults is None:
            await document.published.wait()
            while not self.trouble and await self._again(document):
                pass
        if self.trouble:
            raise Gone(self.trouble)
        return document.faults or ()

    async def _again(self, document: Document) -> bool:
        """Whether more is published before it has been quiet for a while."""
        document.published.clear()
        try:
            quiet = SETTLING if self._names_versions else SETTLING_UNSURE
            async with asyncio.timeout(quiet):
                await document.published.wait()
        except TimeoutError:
            return False
        return True

    def _close_oldest(self) -> None:
        if len(self.documents) > MOST_OPEN:
            self.close(next(iter(self.documents)))

    def _ended(self) -> None:
        self._changed.set()
        for document in self.documents.values():
            document.published.set()

    def _told(self, method: str, params: Raw) -> None:
        try:
            match method:
                case "textDocument/publishDiagnostics":
                    self._take_faults(msgspec.json.decode(params, type=Published))
                case "$/progress":
                    self._take_progress(msgspec.json.decode(params, type=Progress))
                case "experimental/serverStatus":
                    self._take_status(msgspec.json.decode(params, type=Status))
        except msgspec.MsgspecError:
            pass  # Not as agreed: as good as not said.

    def _take_faults(self, published: Published) -> None:
        self._silences = 0
        self._names_versions = published.version is not None
        document = self.documents.get(path_of(published.uri))
        if document is None or published.version not in (None, document.version):
            return
        document.faults = published.diagnostics
        document.published.set()

    def _take_status(self, status: Status) -> None:
        self._quiescent = status.quiescent
        self._stir()

    def _stir(self) -> None:
        self._stirred += 1
        self._changed.set()
        if self._was_busy and not self.is_busy:
            self._silences, self._was_busy = 0, False

    def _take_progress(self, progress: Progress) -> None:
        match progress.value.get("kind"):
            case "begin":
                self._works.add(progress.token)
            case "end":
                self._works.discard(progress.token)
        self._stir()

    def _asked(self, method: str, params: Raw) -> Any:
        match method:
            case "workspace/configuration":
                return self._settings(params)
            case "workspace/workspaceFolders":
                return [folder(self.root)]
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "files are changed by the agent alone"}
            case "window/showDocument":
                return {"success": False}
            case (
                "client/registerCapability"
                | "client/unregisterCapability"
                | "window/workDoneProgress/create"
                | "window/showMessageRequest"
            ):
                return None
        if method.startswith("workspace/") and method.endswith("/refresh"):
            return None
        raise Unknown(method)

    def _settings(self, params: Raw) -> list[Any]:
        try:
            items = msgspec.json.decode(params, type=Configuration).items
        except msgspec.MsgspecError:
            return []
        known = {self.server.section: dict(self.server.options)} if self.server.section else {}
        return [known.get(item.get("section", "")) for item in items]
