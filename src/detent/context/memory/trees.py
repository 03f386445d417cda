"""A memory file and all that it imports, each file once, whatever graph they make."""

from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from detent.context.memory import wording
from detent.context.memory.frontmatter import head_and_body
from detent.context.memory.markdown import imports_of, without_comments
from detent.context.memory.record import (
    DEEPEST,
    MOST_FILES,
    MOST_OF_A_FILE,
    MOST_OF_ALL,
    Found,
    Piece,
    State,
    Tree,
)
from detent.context.tokens import estimate
from detent.types.events import Reminded


class Sheet(Struct, frozen=True):
    """A file as it was read."""

    path: str
    real: str
    """Where it really lies: two names of one file are one file."""
    text: str = ""
    size: str = ""
    """Of a file of which only the beginning was read."""
    fault: str = ""
    """Why it could not be read."""
    note: str = ""
    """What is odd about it though it was read."""


Look = Callable[[str, str], Sheet | None]
"""What an importing file means by a name; None where there is no such file."""
Objection = Callable[[Sheet, Sheet], str]
"""Why a file may not import another; empty where it may."""


class Gathering:
    """All memory of a session, in order; the room that is left gets less with each file."""

    def __init__(self, look: Look, objection: Objection) -> None:
        self._look = look
        self._objection = objection
        self.seen: set[str] = set()
        self.room = MOST_OF_ALL

    def take(self, found: Found, sheet: Sheet, counts: Callable[[tuple[str, ...]], bool]) -> Tree:
        """`counts` says whether a rule for such files counts now. One that was taken before, as an
        import or by another name, has no pieces."""
        if sheet.real in self.seen:
            return Tree(found, ())
        globs, text = head_and_body(sheet.text) if found.is_rule else ((), sheet.text)
        if globs and not sheet.fault and not counts(globs):
            waiting = Piece(found.path, found.level, found.why, "waits", len(text), paths=globs)
            return Tree(found, (waiting,))
        if len(self.seen) >= MOST_FILES:
            return Tree(found, (Piece(found.path, found.level, found.why, "left out", len(text)),))
        pieces, texts = self._taken(found, sheet, text)
        if globs:
            pieces[0] = replace(pieces[0], paths=globs)
        is_read = bool(texts) and pieces[0].state in ("loaded", "cut")
        text = wording.told(found, globs, "\n\n".join(texts)) if is_read else ""
        return Tree(found, tuple(pieces), text)

    def _taken(self, found: Found, root: Sheet, text: str) -> tuple[list[Piece], list[str]]:
        """A file, then what it imports, then what these do: each is met by its shortest way."""
        pieces, texts = list[Piece](), list[str]()
        self.seen.add(root.real)
        waiting = deque([(root, text, "", 0)])
        while waiting:
            sheet, text, by, depth = waiting.popleft()
            piece, body = self._bounded(found, sheet, text, by)
            pieces.append(piece)
            if body:
                texts.append(wording.imported(sheet.path, by, body) if by else body)
            if piece.state not in ("loaded", "cut"):
                continue
            for further in self._imported(sheet, body):
                if why := self._refusal(sheet, further, depth + 1):
                    where = further.path, found.level, found.why
                    pieces.append(Piece(*where, "refused", imported_by=sheet.path, note=why))
                else:
                    self.seen.add(further.real)
                    waiting.append((further, further.text, sheet.path, depth + 1))
        return pieces, texts

    def _imported(self, importer: Sheet, body: str) -> Iterator[Sheet]:
        for name in imports_of(body):
            if len(self.seen) >= MOST_FILES:
                return
            sheet = self._look(name, importer.path)
            if sheet is not None and sheet.real not in self.seen:
                yield sheet

    def _refusal(self, importer: Sheet, sheet: Sheet, depth: int) -> str:
        if depth > DEEPEST:
            return f"more than {DEEPEST} imports deep"
        return self._objection(importer, sheet)

    def _bounded(self, found: Found, sheet: Sheet, text: str, by: str) -> tuple[Piece, str]:
        """What a file adds, and the text of it that is within bounds."""

        def piece(state: State, text: str, note: str = "") -> Piece:
            tokens = estimate(Reminded(text=text, source="memory")) if text else 0
            where = sheet.path, found.level, found.why
            return Piece(*where, state, len(text), tokens, by, note=note)

        if sheet.fault:
            return piece("unreadable", "", sheet.fault), ""
        text = without_comments(text).strip()
        state: State = "loaded"
        if len(text) > MOST_OF_A_FILE or sheet.size:
            size = sheet.size or f"{len(text):,} characters"
            state, text = "cut", wording.cut(text, sheet.path, size)
        if len(text) > self.room:
            return piece("left out", text), wording.left_out(sheet.path)
        self.room -= len(text)
        return piece(state, text, sheet.note), text
