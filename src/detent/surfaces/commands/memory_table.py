"""Memory files as a table: what each costs, whether it is read, and why."""

from collections.abc import Iterator

from detent.sdk.memory import MOST_OF_ALL, Memory, Piece


def listed(found: Memory) -> Iterator[str]:
    if found.files:
        yield f"{'tokens':>8}  {'state':<10}  file"
    elif found.off:
        yield f"No memory is read: {found.off}."
    else:
        yield "No memory files here. CLAUDE.md or AGENTS.md in this folder would be one."
    for piece in found.files:
        cost = f"{piece.tokens:,}" if piece.tokens else ""
        yield f"{cost:>8}  {piece.state:<10}  {piece.path}"
        yield f"{'':>22}{_why(piece)}"
    read = [piece for piece in found.files if piece.state in ("loaded", "cut")]
    if read:
        characters = sum(piece.characters for piece in read)
        tokens = sum(piece.tokens for piece in read)
        yield f"{tokens:>8,}  in all: {characters:,} of at most {MOST_OF_ALL:,} characters"
    if found.files and found.off:
        yield f"Besides, {found.off}."
    yield from (f"Note: {text}" for text in found.notices)


def _why(piece: Piece) -> str:
    why = f"imported by {piece.imported_by}" if piece.imported_by else piece.why
    about = f"; for {', '.join(piece.paths)}" if piece.paths else ""
    return why + about + (f"; {piece.note}" if piece.note else "")
