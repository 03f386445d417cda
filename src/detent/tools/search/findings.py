"""What a search is asked and what it found, whichever engine did it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from detent.tools.base import UNADVERTISED, Arguments
from detent.tools.search.line_ends import holds_line_end

LINE_WIDTH = 500
PAGE = 200

Mode = Literal["files_with_matches", "content", "count"]
Around = Annotated[int, Meta(ge=0)]


class GrepArgs(Arguments, frozen=True):
    pattern: Annotated[str, Meta(description="A regular expression.")]
    path: Annotated[
        str, Meta(description="File or folder to search; the working folder unless given.")
    ] = ""
    glob: Annotated[str, Meta(description="Only files like this, such as `*.{ts,tsx}`.")] = ""
    type: Annotated[str, Meta(description="Only files of this kind: py, js, rust, go ...")] = ""
    output_mode: Annotated[
        Mode, Meta(description="File names (the default), lines, or occurrences per file.")
    ] = "files_with_matches"
    after: Annotated[Around, Meta(description="Lines to show after a match.")] = field(
        default=0, name="-A"
    )
    before: Annotated[Around, Meta(description="Lines to show before a match.")] = field(
        default=0, name="-B"
    )
    both: Annotated[Around, Meta(description="Lines to show on both sides.")] = field(
        default=0, name="-C"
    )
    context: Annotated[Around, UNADVERTISED] = 0
    numbers: Annotated[bool, Meta(description="Line numbers; on unless false.")] = field(
        default=True, name="-n"
    )
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = field(default=False, name="-i")
    only_matching: Annotated[bool, Meta(description="Only the matching parts.")] = field(
        default=False, name="-o"
    )
    head_limit: Annotated[
        int, Meta(description=f"Most lines or files to show, {PAGE} unless given; 0: all.", ge=0)
    ] = PAGE
    offset: Annotated[int, Meta(description="How many of them to skip first.", ge=0)] = 0
    multiline: Annotated[
        bool, Meta(description="Let a match span lines, and `.` match newlines.")
    ] = False

    @property
    def spans_lines(self) -> bool:
        """A pattern with a line end in it can only be meant so."""
        return self.multiline or holds_line_end(self.pattern)

    @property
    def margins(self) -> tuple[int, int]:
        """Lines before and after."""
        sides = self.both or self.context
        return self.before or sides, self.after or sides


class Row(Struct, frozen=True, gc=False):
    """One line of the answer; a gap between places has no path."""

    path: str
    text: str = ""
    number: int = 0
    is_match: bool = True


class Findings(Struct, frozen=True):
    rows: tuple[Row, ...] = ()
    fault: str = ""
    """The search could not be done; told to the model."""
    note: str = ""
    """What is incomplete about it."""
    binary: str = ""
    """A file that matches but has no lines to show."""
