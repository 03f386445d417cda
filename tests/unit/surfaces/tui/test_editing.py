"""What is typed: offers for it, what is pasted, what was typed before, and how it stands there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from prompt_toolkit.input import create_pipe_input

from detent.app.past_prompts import PastPrompts
from detent.surfaces.tui.editing import text_box
from detent.surfaces.tui.editing.completing import MOST, SHOWN, STALE, Completion, Offer
from detent.surfaces.tui.editing.fuzzy import SLICE, best
from detent.surfaces.tui.editing.keyboard import Keyboard
from detent.surfaces.tui.editing.keys import KEYS, listed
from detent.surfaces.tui.editing.pasting import MOST_CHARACTERS, MOST_LINES, Pasted
from detent.surfaces.tui.editing.recalling import Recall
from detent.surfaces.tui.screen.themes import NONE
from terminalbench import look, raw_in_line, settle

# --- offers

COMMANDS = [
    Offer(f"/{name}", f"about {name}", f"/{name}")
    for name in ("clear", "compact", "context", "cost", "resume")
]


class Bench:
    def __init__(self, names: Sequence[str] = (), *, is_whole: bool = True) -> None:
        self.now, self.asked, self.changes = 100.0, list[str](), 0
        self.names, self._is_whole = names, is_whole
        self.commands = COMMANDS
        self.completion = Completion(
            lambda: self.commands, self._names, self._changed, lambda: self.now
        )

    async def _names(self, typed: str) -> tuple[Sequence[str], bool]:
        self.asked.append(typed)
        return self.names, self._is_whole

    def _changed(self) -> None:
        self.changes += 1

    def offered(self, text: str, cursor: int | None = None) -> list[str]:
        self.completion.look(text, len(text) if cursor is None else cursor)
        return [offer.label for offer in self.completion.offers]

    async def found(self, text: str) -> list[str]:
        self.completion.look(text, len(text))
        await settle()
        return [offer.label for offer in self.completion.offers]


def test_commands_that_begin_so_stand_before_those_with_the_letters() -> None:
    bench = Bench()
    assert bench.offered("/co") == ["/compact", "/context", "/cost"]
    assert bench.offered("/c") == ["/clear", "/compact", "/context", "/cost"]
    assert bench.offered("/st") == ["/cost"]
    assert bench.offered("/rsm") == ["/resume"]
    assert bench.offered("/") == sorted(offer.label for offer in COMMANDS)
    assert bench.offered("/zzz") == [] and not bench.completion.is_open


@pytest.mark.parametrize("text", ["", "hello", " /co", "/compact now", "a@b", "mail me@", "/a b"])
def test_nothing_is_offered_for_anything_else(text: str) -> None:
    bench = Bench(["a@b"])
    assert bench.offered("/co")
    assert bench.offered(text) == [], "what was offered before is gone"
    assert bench.completion.take() is None


def test_the_word_at_the_cursor_counts() -> None:
    bench = Bench()
    assert bench.offered("/compact", 3) == ["/compact", "/context", "/cost"]
    assert bench.completion.take() == (3, COMMANDS[1])
    assert not bench.completion.is_open


def test_arrows_go_round() -> None:
    bench = Bench()
    assert not bench.completion.press("down"), "nothing is open"
    bench.offered("/co")
    for key, label in (("down", "/context"), ("up", "/compact"), ("up", "/cost")):
        assert bench.completion.press(key)
        assert bench.completion.offers[bench.completion.at].label == label


def test_who_does_not_want_any_is_left_alone_until_more_is_typed() -> None:
    bench = Bench()
    bench.offered("/co")
    bench.completion.leave("/co")
    assert bench.offered("/co") == []
    assert bench.offered("/com") == ["/compact"]
    assert bench.offered("/co") != [], "that was another time"


def test_files_are_offered_behind_an_at_sign() -> None:
    async def play() -> None:
        bench = Bench(["src/apple.py", "docs/apple pie.md", "src/", "b.txt"])
        assert await bench.found("see @app") == ["@src/apple.py", "@docs/apple pie.md"]
        assert bench.completion.take() == (4, Offer("@src/apple.py", "", "@src/apple.py "))
        await bench.found("see @pie")
        assert bench.completion.take() == (
            4,
            Offer("@docs/apple pie.md", "", '@"docs/apple pie.md" '),
        )
        assert "@src/" in await bench.found("@src")
        folder = next(one for one in bench.completion.offers if one.label == "@src/")
        assert folder.insert == "@src/", "one may go on in it"
        assert bench.changes == 3, "the screen was told"

    asyncio.run(play())


def test_names_are_looked_for_once_and_again_when_they_are_old() -> None:
    async def play() -> None:
        bench = Bench(["a"])
        for text in ("@", "@a", "@ab"):
            await bench.found(text)
        assert bench.asked == [""]
        bench.now += STALE + 1
        bench.names = ["a", "ab"]
        assert await bench.found("@ab ") == []
        assert await bench.found("@ab") == ["@ab"]
        assert len(bench.asked) == 2

    asyncio.run(play())


def test_names_that_somebody_else_has_chosen_stand_as_they_are() -> None:
    async def play() -> None:
        bench = Bench(["zz", "aa"], is_whole=False)
        assert await bench.found("@q") == ["@zz", "@aa"]
        assert await bench.found("@qq") == ["@zz", "@aa"]
        assert bench.asked == ["q", "qq"], "they are for what was typed"

    asyncio.run(play())


def test_a_key_comes_before_the_rest_of_a_long_search() -> None:
    async def play() -> None:
        bench = Bench([f"dir/file{number}" for number in range(4 * SLICE)])
        await bench.found("@x")
        bench.completion.look("@file", 5)
        await asyncio.sleep(0)
        bench.completion.look("plain", 5)
        await settle()
        assert bench.completion.offers == (), "nobody wants to know any more"

    asyncio.run(play())


def test_what_files_and_commands_say_of_themselves_is_not_obeyed() -> None:
    async def play() -> None:
        bench = Bench(["a\x1b[2J\nb"])
        bench.commands = [Offer("/x", "about\x1b[2J\n\u202eit", "/x")]
        await bench.found("@a")
        lines = bench.completion.lines(look(), 30)
        bench.offered("/x")
        assert not [
            line for line in (*lines, *bench.completion.lines(look(), 30)) if raw_in_line(line)
        ]

    asyncio.run(play())


def test_a_long_list_is_seen_around_the_chosen_one() -> None:
    bench = Bench()
    bench.commands = [Offer(f"/c{number:02}", "", "") for number in range(80)]
    bench.offered("/c")
    assert len(bench.completion.offers) == MOST
    for _ in range(30):
        bench.completion.press("down")
    lines = bench.completion.lines(look(), 30)
    assert len(lines) == SHOWN + 1 and lines[-1].strip() == f"31 of {MOST}"
    assert any(line.startswith("❯ /c30") for line in lines)
    assert len(bench.completion.lines(look(), 7)) <= 3, "on a small screen fewer"


def test_letters_close_together_and_in_the_last_part_count_more() -> None:
    names = ["a/b/c/main.py", "main/x/y.txt", "m/a/i/n.txt", "domain.md"]
    assert best("main", names, 9) == ["a/b/c/main.py", "domain.md", "main/x/y.txt", "m/a/i/n.txt"]
    assert best("MAIN", names, 1) == ["a/b/c/main.py"]
    assert best("", names, 2) and best("x", [], 5) == []
    assert best("a.*", ["a.*", "abc"], 5) == ["a.*"], "letters are letters"


def test_a_search_in_vain_is_one_walk_over_each_name() -> None:
    """A pattern with gaps would try every way to fit these: more of them than there are atoms."""
    assert best("a" * 40 + "b", ["a" * 200] * 50, 5) == []


# --- what is pasted


def test_long_texts_are_folded() -> None:
    pasted = Pasted(lambda path: False)
    assert pasted.take("short") == "short"
    assert pasted.take("l\n" * (MOST_LINES - 1)) == "l\n" * (MOST_LINES - 1)
    first = pasted.take("l\n" * MOST_LINES)
    second = pasted.take("x" * (MOST_CHARACTERS + 1))
    assert first == "[Pasted text #1: 9 lines]"
    assert second == f"[Pasted text #2: {MOST_CHARACTERS + 1:,} characters]"
    assert pasted.unfolded(f"{second} {first}") == "x" * (MOST_CHARACTERS + 1) + " " + "l\n" * 8
    assert pasted.unfolded("[Pasted text #9: 3 lines]") == "[Pasted text #9: 3 lines]"


def test_what_stands_in_a_pasted_text_is_not_unfolded_again() -> None:
    pasted = Pasted(lambda path: False)
    first = pasted.take("secret\n" * 20)
    second = pasted.take(f"{first}\n" * 20)
    assert pasted.unfolded(second) == f"{first}\n" * 20


@pytest.mark.parametrize(
    "text", ["/p/a b.png", "'/p/a b.png'", '"/p/a b.png" ', "/p/a\\ b.png", "file:///p/a b.png"]
)
def test_a_picture_that_is_dropped_becomes_one(text: str) -> None:
    pasted = Pasted(lambda path: path == "/p/a b.png")
    assert pasted.take(text) == "[Picture #1]"
    assert pasted.pictures("look at [Picture #1] and [Picture #7]") == ["/p/a b.png"]
    assert pasted.pictures("it was taken out again") == []


def test_a_name_alone_is_no_picture() -> None:
    assert Pasted(lambda path: False).take("/p/a.png") == "/p/a.png"
    assert Pasted(lambda path: True).take("/p/a.txt") == "/p/a.txt"


# --- what was typed before


def recall(tmp_path: object, *texts: str) -> Recall:
    past = PastPrompts(f"{tmp_path}/history", "/work")
    for text in texts:
        past.add(text)
    return Recall(past)


def test_older_and_newer_walk_and_come_back_to_what_was_typed(tmp_path: object) -> None:
    found = recall(tmp_path, "one", "two", "three")
    assert found.newer() is None
    assert [found.older("draft") for _ in range(4)] == ["three", "two", "one", None]
    assert [found.newer() for _ in range(4)] == ["two", "three", "draft", None]
    assert found.older("another draft") == "three"
    assert found.newer() == "another draft"


def test_what_is_sent_is_the_newest(tmp_path: object) -> None:
    found = recall(tmp_path, "one")
    assert found.older("") == "one"
    found.add("two")
    assert [found.older("x"), found.older(""), found.older("")] == ["two", "one", None]
    found.add("two")
    found.add("two")
    assert found.texts == ["one", "two"], "none twice in a row"
    assert Recall(PastPrompts(f"{tmp_path}/history", "/work")).texts == ["one", "two"]


def test_what_is_sent_before_anything_was_read_comes_once(tmp_path: object) -> None:
    found = recall(tmp_path, "one")
    found.add("two")
    assert [found.older("d"), found.older("d"), found.older("d")] == ["two", "one", None]


# --- the text box


def drawn(
    text: str, cursor: int, width: int = 12, most: int = 5
) -> tuple[list[str], tuple[int, int]]:
    return text_box.drawn(text, cursor, width, most, NONE)


def test_the_text_box_breaks_lines_and_follows_the_cursor() -> None:
    assert drawn("abc", 3) == (["❯ abc"], (0, 5))
    assert drawn("ab\ncd", 4) == (["❯ ab", "  cd"], (1, 3))
    assert drawn("abcdefghi", 9) == (["❯ abcdefghi"], (0, 11))
    assert drawn("abcdefghij", 10) == (["❯ abcdefghi", "  j"], (1, 3))
    assert drawn("日本語日本", 2) == (["❯ 日本語日", "  本"], (0, 6))
    assert drawn("日本語日本", 4) == (["❯ 日本語日", "  本"], (1, 2))
    lines, cursor = drawn("\n".join("abcdefgh"), 15)
    assert lines == ["  d", "  e", "  f", "  g", "  h"] and cursor == (4, 3)
    assert drawn("", 0)[0][0].startswith("❯ Describe a task")


def test_what_a_terminal_would_obey_is_a_dot() -> None:
    lines, _ = drawn("a\x1b[2J\u202eb\u200b\x85", 0, width=40)
    assert lines == ["❯ a·[2J·b··"]


# --- keys


def typed(keys: bytes, **more: bool) -> Keyboard:
    """What stands in the text box when these came from a terminal."""

    async def play() -> Keyboard:
        with create_pipe_input() as pipe:
            keyboard = Keyboard(lambda: None, lambda: None, lambda: (80, 24), source=pipe, **more)
            listening = asyncio.ensure_future(keyboard.listen())
            pipe.send_bytes(keys + b"\x04")
            keyboard.act = lambda action: (action == "leave" and bool(keyboard.stop())) or True
            ended = asyncio.Event()
            keyboard.on_change = lambda: keyboard.text.endswith("$") and ended.set()
            await ended.wait()
            keyboard.stop()
            await listening
            return keyboard

    return asyncio.run(play())


def test_bytes_that_are_no_text_are_marked() -> None:
    """A prompt goes into a log, and there only text can stand."""
    text = typed(b"a\xff\xc3b\xc3\xa9$").text
    assert text == "a\ufffd\ufffdbé$"
    text.encode()


def test_every_key_that_is_listed_does_something() -> None:
    from detent.surfaces.tui.controls import Controls

    actions = {key.action for key in KEYS} - {"leave"}
    assert all(callable(getattr(Controls, f"_{action}", None)) for action in actions)
    assert len({key.keys for key in KEYS}) == len(KEYS), "none is bound twice"
    assert all(name and about for name, about in listed())


def test_of_a_long_text_only_what_is_near_the_cursor_is_laid_out() -> None:
    text = "\n".join(f"line {number}" for number in range(100_000))
    at = text.index("line 50000") + 4
    lines, (row, column) = text_box.drawn(text, at, 40, 6, NONE)
    assert len(lines) == 6 and lines[row] == "  line 50000" and column == 6
    start, near = text_box._near(text, at, 200)
    assert len(near) <= 400 and text[start - 1] == "\n", "from the beginning of a line on"
    lines, (row, column) = text_box.drawn(text, 0, 40, 6, NONE)
    assert lines[0] == "❯ line 0" and (row, column) == (0, 2)
