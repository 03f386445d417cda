"""The terminal: however text comes, the screen holds it once, in order, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import normalize

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.surfaces.tables.widths import width_of
from detent.surfaces.tui.drawing import flow, markdown
from detent.surfaces.tui.drawing.flow import Chunk, Flow
from detent.surfaces.tui.editing import text_box
from detent.surfaces.tui.editing.fuzzy import SLICE, best, matches
from detent.surfaces.tui.editing.pasting import Pasted
from detent.surfaces.tui.screen.painter import Painter
from detent.surfaces.tui.screen.spans import Span, clipped, columns, middle_cut, plain, wrapped
from terminalbench import COLOUR, DARK, Glass, raw_in_line

# --- Markdown as it streams

pieces = st.sampled_from([
    "word", "two words ", "  ", "\n", "\n\n", "\n\n\n", "- item", "* ", "1. one", "   - within",
    "# Head", "```", "```python", "~~~~", "\n```\n", "| a | b |", "|---|---|", "    code",
    "> quote", "`x`", "**b**", "&#x202e;", "&NewLine;", "&Tab;", "&shy;", "日本", "\t", "\r",
    "\x1b[31m", "[a](b)", "---", "<b>", "\\", "x" * 30,
])  # fmt: skip
texts = st.lists(pieces, max_size=14).map("".join)


def cut(text: str, places: set[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


places = st.sets(st.integers(0, 400), max_size=12)


def chunks_of(deltas: list[str]) -> list[Chunk]:
    state, found = Flow(), list[Chunk]()
    for delta in deltas:
        state, more = flow.feed(state, delta)
        found += more
    return found + list(flow.end(state)[1])


def squeezed(text: str) -> str:
    return "".join(text.split())


def without_fences(text: str) -> str:
    """All lines but those that begin or end code, and of all others no blanks."""
    kept, fence = list[str](), ""
    for line in text.split("\n"):
        stripped = line.strip()
        if fence:
            if stripped and set(stripped) == {fence[0]} and len(stripped) >= len(fence):
                fence = ""
                continue
        elif opened := flow._FENCE.match(line):
            fence = opened[2]
            continue
        kept.append(line)
    return squeezed("".join(kept))


@given(texts, places)
@settings(max_examples=300)
def test_however_an_answer_is_cut_its_chunks_are_the_same(text: str, places: set[int]) -> None:
    assert chunks_of(cut(text, places)) == chunks_of([text])
    assert chunks_of(list(text)) == chunks_of([text])
    told = "".join(squeezed(chunk.text) for chunk in chunks_of([text]))
    assert told == without_fences(text), "nothing is lost, and nothing comes twice"


@given(texts, st.integers(20, 60), places, st.data())
@settings(max_examples=60)
def test_a_block_without_end_is_cut_at_the_same_places(
    text: str, most: int, places: set[int], data: st.DataObject
) -> None:
    before, flow.LONGEST_OPEN = flow.LONGEST_OPEN, most
    try:
        whole = chunks_of([text])
        assert chunks_of(cut(text, places)) == whole
        assert chunks_of(list(text)) == whole
        state = Flow()
        for delta in cut(text, places):
            state, _ = flow.feed(state, delta)
            assert len(state.open) + len(state.line) <= most, "no more than that is held back"
        if "`" not in text and "~" not in text:
            assert "".join(squeezed(chunk.text) for chunk in whole) == squeezed(text)
    finally:
        flow.LONGEST_OPEN = before


@given(texts, places)
@settings(max_examples=150)
def test_what_is_still_written_looks_as_it_will(text: str, places: set[int]) -> None:
    """Where the answer ended here, what is shown as unfinished would stand there just so."""
    state = Flow()
    for delta in cut(text, places):
        state, _ = flow.feed(state, delta)
    rest = flow.end(state)[1]
    if state.tail is None:
        assert all(not chunk.text.strip() for chunk in rest)
    elif len(rest) == 1 and not flow._FENCE.match(state.line):
        assert [replace(one, text=one.text.rstrip()) for one in (*rest, state.tail)] == [
            replace(rest[0], text=rest[0].text.rstrip())
        ] * 2
    else:
        assert squeezed("".join(chunk.text for chunk in rest)) in squeezed(state.tail.text)


@given(texts, st.integers(24, 90))
@settings(max_examples=200)
def test_markdown_is_drawn_in_lines_that_fit_and_obey_nobody(text: str, width: int) -> None:
    for chunk in chunks_of([text]):
        for line in markdown.drawn(chunk, width, DARK):
            assert raw_in_line(line) == []
            is_code = chunk.kind == "code" or "\t" in chunk.text or "    " in chunk.text
            assert is_code or columns(line) <= width, "of code the terminal breaks long lines"


# --- text in lines

any_letter = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])
letters = st.text(st.sampled_from("abc é\u0301日本한😀—…\n.()/") | any_letter, max_size=60)
roles = st.sampled_from(["", "strong", "bad"])
spans = st.lists(st.builds(Span, letters, roles), max_size=5)


@given(spans, st.integers(2, 30))
@settings(max_examples=300)
def test_wrapped_lines_fit_and_hold_everything(given_spans: list[Span], width: int) -> None:
    lines = wrapped(given_spans, width)
    for line in lines:
        assert sum(width_of(span.text) for span in line) <= width
    told = [(char, span.role) for line in lines for span in line for char in span.text]
    wanted = [(char, span.role) for span in given_spans for char in span.text]
    assert [one for one in told if not one[0].isspace()] == [
        one for one in wanted if not one[0].isspace()
    ]


painted_lines = st.lists(st.tuples(letters, roles), max_size=5).map(
    lambda parts: "".join(DARK.paint(role, text.replace("\n", " ")) for text, role in parts)
)


@given(painted_lines, st.integers(0, 30))
@settings(max_examples=300)
def test_a_clipped_line_fits_and_ends_its_colours(line: str, width: int) -> None:
    found = clipped(line, width)
    assert columns(found) <= width
    codes = COLOUR.findall(found)
    assert not codes or codes[-1] == "\x1b[0m", "no colour outlives its line"
    assert plain(line).startswith(plain(found).removesuffix("…"))
    assert "\x1b" not in plain(found), "no code is cut in two"


@given(letters, st.integers(0, 30))
def test_a_text_that_is_cut_in_the_middle_fits(text: str, width: int) -> None:
    found = middle_cut(text, width)
    assert width_of(found) <= width
    if found != text and width >= 5:
        head, _, tail = found.partition("…") if "…" not in text else ("", "", "")
        assert text.startswith(head) and text.endswith(tail)


@given(letters, st.integers(0, 60), st.integers(6, 40), st.integers(1, 8))
@settings(max_examples=200)
def test_the_cursor_stands_behind_what_is_before_it(
    text: str, place: int, width: int, most: int
) -> None:
    cursor = min(place, len(text))
    lines, (row, column) = text_box.drawn(text, cursor, width, most, DARK)
    assert 0 <= row < max(1, len(lines)) and len(lines) <= most
    assert column < width
    if not text:
        return
    assert all(columns(line) <= width for line in lines)
    marked, (marked_row, _) = text_box.drawn(text[:cursor], cursor, width, 10_000, DARK)
    if marked_row + 1 == len(marked) and plain(lines[row]).startswith(plain(marked[-1])):
        assert column == columns(marked[-1])
    else:
        assert column == 2, "what is at the cursor has no room any more in the line before"


# --- frames

cells = st.builds(
    lambda same, text, role: DARK.paint(role, same) + text,
    st.sampled_from(["", "", "abcdefgh", "日本語日"]),  # often only the end differs
    st.lists(st.sampled_from([*"aeé日😀 .한", "e\u0301"]), max_size=14).map("".join),
    st.sampled_from(["", "", "bad"]),
)
rows = st.lists(cells.map(lambda text: clipped(text, 12)), max_size=7)
frames = st.lists(
    st.tuples(
        st.lists(cells, max_size=4),
        rows,
        st.none() | st.tuples(st.integers(0, 6), st.integers(0, 11)),
        st.sampled_from(["", "", "", "again", "erase", "resize"]),
    ),
    max_size=8,
)


class Watched:
    """A painter, and the glass that it paints on."""

    def __init__(self, width: int, height: int) -> None:
        self.glass = Glass(width, height)
        self.writes = 0
        self.painter = Painter(self._write, width, height)
        self.finished: list[str] = []

    def _write(self, text: str) -> None:
        self.writes += 1
        self.glass.feed(text)

    def holds(self, live: list[str], cursor: tuple[int, int] | None) -> None:
        shown = live[-(self.painter.height - 1) :]
        fresh = Glass(self.painter.width, self.painter.height)
        fresh.feed("\r\n".join([*self.finished, *shown]))
        painted, wanted = self.glass.cells, fresh.cells
        assert painted[: len(wanted)] == wanted, "as if it had been written in one go"
        assert not any(self.glass.past[len(wanted) :]), "nothing of earlier frames is left"
        assert not shown or bool(self.glass.cursor.hidden) == (cursor is None)
        if cursor is not None and shown:
            row = len(self.finished) + max(0, cursor[0] - (len(live) - len(shown)))
            assert self.glass.at == (row, cursor[1])


def as_seen(line: str) -> str:
    return normalize("NFC", plain(line)).rstrip()


def broken(line: str, width: int) -> list[str]:
    """As a terminal does it by itself."""
    found, taken = [""], 0
    for char in line:
        wide = width_of(char)
        if taken + wide > width:
            found.append("")
            taken = 0
        found[-1] += char
        taken += wide
    return found


@given(frames, st.integers(12, 16), st.integers(3, 9))
@settings(max_examples=300)
def test_the_screen_holds_what_is_finished_and_the_last_frame(
    story: list[tuple[list[str], list[str], tuple[int, int] | None, str]], width: int, height: int
) -> None:
    watched = Watched(width, height)
    for finished, live, cursor, then in story:
        finished = [clipped(line, width) for line in finished]
        if cursor is not None:
            cursor = (min(cursor[0], max(0, len(live) - 1)), cursor[1])
        before = watched.writes
        watched.painter.frame(finished, live, cursor)
        assert watched.writes <= before + 1, "a frame is one write"
        watched.finished += finished
        watched.holds(live, cursor if live or cursor is None else (0, cursor[1]))
        before = watched.writes
        watched.painter.frame([], live, cursor)
        assert watched.writes == before, "what has not changed is not written again"
        if then == "erase":
            watched.painter.erase()
            assert [line for line in watched.glass.past if line] == [
                line for line in map(as_seen, watched.finished) if line
            ]
        elif then == "resize":
            watched.painter.resize(width, height)


@given(frames, st.integers(12, 16), st.integers(12, 16), st.integers(8, 10))
@settings(max_examples=150)
def test_another_width_leaves_what_is_above_alone(
    story: list[tuple[list[str], list[str], tuple[int, int] | None, str]],
    width: int,
    other: int,
    height: int,
) -> None:
    watched = Watched(width, height)
    for finished, live, cursor, _ in story:
        finished = [clipped(line, 12) for line in finished]
        if cursor is not None:
            cursor = (min(cursor[0], max(0, len(live) - 1)), cursor[1])
        watched.painter.frame(finished, live, cursor)
        watched.finished += finished
        watched.glass.resize(height, other)
        watched.painter.resize(other, height)
        above = watched.glass.past[: len(watched.finished)]
        assert above == [as_seen(line) for line in watched.finished]
        watched.painter.frame([], live, cursor)
        watched.holds(live, cursor if live or cursor is None else (0, cursor[1]))
        width, other = other, width


@given(st.text("ab ", max_size=40), rows, st.integers(12, 16))
@settings(max_examples=60)
def test_a_finished_line_may_be_longer_than_the_screen_is_wide(
    line: str, live: list[str], width: int
) -> None:
    """The terminal breaks it by itself, so that it is copied as one."""
    watched = Watched(width, 9)
    watched.painter.frame(["above"], live, (0, 0))
    watched.painter.frame([line], live, (0, 0))
    watched.finished = ["above", *broken(line, width)]
    watched.holds(live, (0, 0))


# --- editing

names = st.lists(st.text("abcAB/._-é日", min_size=1, max_size=12), max_size=30, unique=True)


def is_within(typed: str, name: str) -> bool:
    letters = iter(name.lower())
    return all(letter in letters for letter in typed.lower())


@given(st.text("abAB/.é", max_size=4), names, st.integers(1, 40))
@settings(max_examples=200)
def test_names_that_hold_the_letters_in_order_are_found(
    typed: str, given_names: list[str], most: int
) -> None:
    fitting = [name for name in given_names if is_within(typed, name)]
    found = best(typed, given_names, most)
    assert len(found) == min(most, len(fitting)) and set(found) <= set(fitting)
    assert found == best(typed, given_names[::-1], most), "whatever their order was"


@given(st.integers(0, 3 * SLICE))
@settings(max_examples=10)
def test_keys_are_heard_between_slices(count: int) -> None:
    steps = list(matches("a", [f"a{number}" for number in range(count)], 5))
    assert steps[:-1] == [None] * -(-count // SLICE) and len(steps[-1] or ()) == min(5, count)


@given(st.lists(st.text(max_size=1_200) | st.integers(0, 20).map(lambda n: "l\n" * n), max_size=4))
def test_whatever_is_pasted_is_sent(pasted: list[str]) -> None:
    chips = Pasted(lambda path: False)
    for text in pasted:
        assert text in chips.unfolded(f"before {chips.take(text)} behind")
