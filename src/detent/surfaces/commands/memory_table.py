"""Memory files as a table: what each costs, whether it is read, and why."""

from collections.abc import Iterator

from detent.sdk.memory import MOST_OF_ALL, Memory, Piece


def listed(found: Memory) -> Iterator[str]:
    if not found.files:
        yield "No memory files here. CLAUDE.md or AGENTS.md in this folder would be one."
    else:
        yield f"{'tokens':>8}  {'state':<10}  file"
    for piece in found.files:
        yield f"{piece.tokens or '':>8}  {piece.state:<10}  {piece.path}"
        yield f"{'':>22}{_why(piece)}"
    read = [piece for piece in found.files if piece.state in ("loaded", "cut")]
    if read:
        characters = sum(piece.characters for piece in read)
        tokens = sum(piece.tokens for piece in read)
        yield f"{tokens:>8}  in all: {characters:,} of at most {MOST_OF_ALL:,} characters"
    yield from (f"Note: {text}" for text in found.notices)


def _why(piece: Piece) -> str:
    why = f"imported by {piece.imported_by}" if piece.imported_by else piece.why
    about = f"; for {', '.join(piece.paths)}" if piece.paths else ""
    return why + about + (f"; {piece.note}" if piece.note else "")
