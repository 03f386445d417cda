"""The index: what it knows of sessions, and that it is never more than a cache."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from detent.session import reading
from detent.session.facts import SessionCard
from detent.session.index import opening, updating
from detent.session.index.catalogue import Catalogue
from detent.session.index.opening import consult, discard, file_of
from detent.session.index.schema import VERSION
from detent.session.index.searching import Hit, search
from detent.session.log import WHOLE, FileLog, frame
from detent.types.events import Opened, Prompted, Restored
from detent.types.files import Undone
from sessionbench import OVER, Shelf, answer, call, ended, named, prompt, rewound, started


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "home")


def cards(shelf: Shelf, cwd: str | None = None) -> list[SessionCard]:
    return consult(shelf.home, lambda catalogue: catalogue.cards(cwd))


def hits(shelf: Shelf, words: str, **more: Any) -> list[Hit]:
    return consult(shelf.home, lambda catalogue: search(catalogue, words, 20, **more))


def found(shelf: Shelf, words: str) -> list[tuple[str, int, str]]:
    return [(hit.session, hit.entry, hit.kind) for hit in hits(shelf, words)]


# What it knows


def test_cards_newest_first(shelf: Shelf) -> None:
    path = shelf.add(
        "one", prompt("  fix\n the   bug "), answer("done"), OVER, prompt("more"), OVER, parent="x"
    )
    shelf.add("two", prompt("x" * 200), cwd="/q")
    two, one = cards(shelf)
    assert (one.id, one.path, one.cwd, one.title) == ("one", path, "/p", "fix the bug")
    assert (one.turns, one.steps, one.models, one.tokens) == (2, 1, ("m",), 15)
    assert (one.created, one.active, one.parent) == (1000.0, 1100.0, "x")
    assert (one.state, one.damaged, one.is_strange) == ("ended", 0, False)
    assert (two.id, len(two.title), two.state) == ("two", 80, "interrupted")
    assert [card.id for card in cards(shelf, "/p")] == ["one"]
    assert cards(shelf, "/elsewhere") == []


def test_the_last_name_counts(shelf: Shelf) -> None:
    path = shelf.add("one", named("first"), prompt("x"))
    assert cards(shelf)[0].name == "first"
    shelf.grow(path, named("second"))
    assert cards(shelf)[0].name == "second"
    shelf.grow(path, named(""))
    assert cards(shelf)[0].name == ""


def test_a_session_that_somebody_has_open_is_running(shelf: Shelf) -> None:
    path = shelf.add("one", prompt("x"), OVER)
    log = FileLog(path, lambda: 1.0)
    log.lock()
    assert cards(shelf)[0].state == "running"
    log.close()
    assert cards(shelf)[0].state == "ended"


def test_a_lock_on_a_file_of_the_same_number_elsewhere_is_no_lock(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    inode = os.stat(shelf.add("one", prompt("x"), OVER)).st_ino
    monkeypatch.setattr("detent.session.index.catalogue.locked_inodes", lambda: frozenset({inode}))
    assert cards(shelf)[0].state == "ended"


def test_the_same_where_the_system_does_not_tell_of_locks(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.session.index.catalogue.locked_inodes", lambda: None)
    path = shelf.add("one", prompt("x"), OVER)
    log = FileLog(path, lambda: 1.0)
    log.lock()
    assert cards(shelf)[0].state == "running"
    log.close()
    assert cards(shelf)[0].state == "ended"


def test_files_that_are_no_sessions_are_passed_over(shelf: Shelf) -> None:
    folder = Path(shelf.add("one", prompt("x"))).parent
    (folder / "junk.jsonl").write_bytes(b"\0\0\0\n\xff\xfe\n")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "notes.txt").write_text("hi")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "line\nbreak.jsonl").write_bytes(b"")
    (Path(shelf.home) / "sessions" / "file").write_text("no folder")
    assert [card.id for card in cards(shelf)] == ["one"]
    assert [card.id for card in cards(shelf)] == ["one"], "and they stay so"


def test_damaged_lines_are_counted_and_later_versions_told(shelf: Shelf) -> None:
    path = Path(shelf.add("one", prompt("x")))
    later = frame(prompt("new")).replace(b'"v":2', b'"v":9')
    body = b"{" + later[len(b'{"crc":"00000000",') :].rstrip(b"\n")
    from zlib import crc32

    with path.open("ab") as file:
        file.write(b"rubbish\n" + b'{"crc":"%08x",' % crc32(body) + body[1:] + b"\n" + b"torn")
    (card,) = cards(shelf)
    assert (card.damaged, card.is_strange) == (1, True), "a torn tail may still be being written"
    with path.open("ab") as file:
        file.write(b"\n")
    assert cards(shelf)[0].damaged == 2


def test_numbers_to_which_nobody_counts_are_damage(shelf: Shelf) -> None:
    path = shelf.add("one", prompt("apple"))
    with open(path, "ab") as file:
        file.write(frame(prompt("banana", seq=2**70)) + frame(prompt("cherry", seq=3)))
    assert (cards(shelf)[0].damaged, found(shelf, "banana")) == (1, [])
    assert found(shelf, "cherry") == [("one", 3, "prompt")]


# Searching


def test_prompts_answers_calls_results_errors_and_names_are_found(shelf: Shelf) -> None:
    shelf.add(
        "one", named("apple name"), prompt("banana please"), answer("cherry", call("make date")),
        started("make date"), ended("elderberry printed"),
        OVER.__class__(turn=1, reason="api_error", error="fig broke"),
    )  # fmt: skip
    assert found(shelf, "apple") == [("one", 2, "name")]
    assert found(shelf, "banana") == [("one", 3, "prompt")]
    assert found(shelf, "cherry") == [("one", 4, "answer")]
    assert found(shelf, "date") == [("one", 4, "call")], "once, with the answer that it is from"
    assert found(shelf, "elderberry") == [("one", 6, "result")]
    assert found(shelf, "fig") == [("one", 7, "error")]


def test_a_hit_names_the_step(shelf: Shelf) -> None:
    shelf.add(
        "one", prompt("apple"), answer("banana", call("cherry")), started("cherry"),
        ended("date"), answer("elderberry"), OVER, prompt("fig"), answer("grape"),
    )  # fmt: skip
    words = ("apple", "banana", "cherry", "date", "elderberry", "fig", "grape")
    assert [hits(shelf, word)[0].step for word in words] == [1, 1, 1, 1, 2, 3, 3]


def test_a_call_that_began_before_its_answer_was_whole(shelf: Shelf) -> None:
    path = shelf.add("one", prompt("x"), answer("first"), started("apple", "c9"))
    assert [(hit.entry, hit.step) for hit in hits(shelf, "apple")] == [(4, 2)]
    shelf.grow(path, ended("banana", "c9"), answer("second", call("apple", "c9")))
    assert [(hit.entry, hit.step) for hit in hits(shelf, "apple")] == [(4, 2)], "told once"
    assert hits(shelf, "banana")[0].step == 2


def test_what_was_said_counts_for_more_than_what_was_printed(shelf: Shelf) -> None:
    shelf.add("printed", prompt("x"), ended("walrus"))
    shelf.add("said", prompt("walrus"), answer("y"))
    shelf.add("other", prompt("z"), answer("z"))
    assert [hit.session for hit in hits(shelf, "walrus")] == ["said", "printed"]


def test_where_several_are_as_good_the_newest_comes_first(shelf: Shelf) -> None:
    ids = [f"s{n}" for n in (4, 1, 3, 0, 2)]
    for id in ids:
        shelf.add(id, prompt("the same walrus"))
    assert [hit.session for hit in hits(shelf, "walrus")] == ids[::-1]


def test_all_words_must_be_there_and_each_may_go_on(shelf: Shelf) -> None:
    shelf.add("one", prompt("the failing tests of the parser"))
    shelf.add("two", prompt("the parser"))
    assert {hit.session for hit in hits(shelf, "pars")} == {"one", "two"}
    assert [hit.session for hit in hits(shelf, "parser fail")] == ["one"]
    assert [hit.session for hit in hits(shelf, '"failing tests"')] == ["one"]
    assert hits(shelf, '"tests failing"') == hits(shelf, '"failing test"') == []


def test_a_snippet_says_where_the_words_stand(shelf: Shelf) -> None:
    shelf.add("one", prompt("before\n\nthe naïve   WALRUS behind"))
    (hit,) = hits(shelf, "walrus naive")
    assert hit.snippet == "before the naïve WALRUS behind"
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["naïve", "WALRUS"]


@pytest.mark.parametrize(
    ("words", "marked"), [("日本", "日本"), ("語テ", "語テ"), ("テスト", "テスト")]
)
def test_scripts_without_blanks_are_found_anywhere(shelf: Shelf, words: str, marked: str) -> None:
    shelf.add("one", prompt("これは日本語テストです"))
    (hit,) = hits(shelf, words)
    assert hit.snippet == "これは日本語テストです"
    assert "".join(hit.snippet[a:b] for a, b in hit.marks) == words
    assert hits(shelf, "本日") == []


@pytest.mark.parametrize("words", [
    "ガラス", "ラス", '"人々"', "오류", "오류를", "野家", "𠮷", "한국", "été", "スト"
])  # fmt: skip
def test_however_it_is_composed_and_wherever_it_stands(shelf: Shelf, words: str) -> None:
    """As file names of macOS are: letters and their marks apart."""
    apart = normalize("NFD", "ガラス 한국어파서오류를 ÉTÉ")
    shelf.add("one", prompt(f"{apart} 人々は 𠮷野家 ﾃｽﾄスト"))
    assert len(hits(shelf, words)) == len(hits(shelf, normalize("NFD", words))) == 1
    assert hits(shelf, "ガララ") == []


@pytest.mark.parametrize(
    "words",
    ['"', '""', "'", "*", "a*", "^a", "a AND", "OR", "NOT a", "NEAR(a b", "(", ")", "said:a", "-a",
     "a\0b", "\0", "{a}", "a + b", ":", "\ud800", "a\u202eb", "said : done", "%", "_", '"a',
     "é\u0301", "a" * 10_000, " ".join("abc" for _ in range(300))],
)  # fmt: skip
def test_no_question_is_a_mistake(shelf: Shelf, words: str) -> None:
    shelf.add("one", prompt("a b"))
    assert all(hit.session == "one" for hit in hits(shelf, words))


@pytest.mark.parametrize(
    "text",
    ["nul \0 walrus", "\x1b[31mwalrus", "\x02walrus\x03", "\u202ewalrus\u202c",
     "walrus" + "\u0301" * 99, "walrus " * 30_000, "\ufeffwalrus", "walrus\r\n\x85\u2028",
     "walrus 👩‍👩‍👧 🏴"],
)  # fmt: skip
def test_hostile_texts_are_found_and_shown_whole(shelf: Shelf, text: str) -> None:
    shelf.add("one", prompt(text), ended(text), named(text))
    found = hits(shelf, "walrus")
    assert {hit.kind for hit in found} == {"prompt", "result", "name"}
    for hit in found:
        assert hit.marks and len(hit.snippet) < 2_000
        assert not set(hit.snippet) & set("\0\x02\x03\x1b\n")


def test_of_long_texts_the_beginning_and_the_end_are_found(shelf: Shelf) -> None:
    shelf.add("one", ended(f"apple {'x ' * 20_000} banana {'y ' * 20_000} cherry"))
    assert len(hits(shelf, "apple")) == len(hits(shelf, "cherry")) == 1
    assert hits(shelf, "banana") == []


def test_a_long_result_in_the_blob_store_is_found(shelf: Shelf) -> None:
    shelf.add("one", ended(f"walrus {'x' * WHOLE}"))
    assert os.path.isdir(os.path.join(shelf.home, "blobs"))
    assert len(hits(shelf, "walrus")) == 1


def test_what_was_rewound_is_left_out_until_that_is_taken_back(shelf: Shelf) -> None:
    path = shelf.add("one", prompt("apple"), OVER, prompt("banana"), OVER)
    assert found(shelf, "banana")
    shelf.grow(path, rewound(3))
    assert not found(shelf, "banana") and found(shelf, "apple")
    shelf.grow(path, prompt("banana again"))
    assert found(shelf, "banana") == [("one", 7, "prompt")]
    shelf.grow(path, Restored(entries=(6,)))
    assert len(found(shelf, "banana")) == 2


def test_hits_of_one_folder_and_few_of_one_session(shelf: Shelf) -> None:
    shelf.add("many", *(prompt(f"walrus {n}") for n in range(9)))
    shelf.add("there", prompt("walrus"), cwd="/q")
    assert sorted(hit.session for hit in hits(shelf, "walrus")) == ["many"] * 3 + ["there"]
    assert [hit.session for hit in hits(shelf, "walrus", cwd="/q")] == ["there"]
    assert len(hits(shelf, "walrus", of_one=1)) == 2


# Only what is new is read


def count_lines(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    read: list[bytes] = []

    def unframe(line: bytes, *more: Any) -> Any:
        read.append(line)
        return reading.unframe(line, *more)

    monkeypatch.setattr(updating, "unframe", unframe)
    return read


def test_a_log_that_has_grown_is_read_from_where_it_ended(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shelf.add("one", prompt("apple"), answer("x"), OVER)
    shelf.add("other", prompt("y"))
    cards(shelf)
    read = count_lines(monkeypatch)
    cards(shelf)
    assert read == []
    shelf.grow(path, prompt("banana"), OVER)
    assert cards(shelf)[0].turns == 2
    assert len(read) == 2
    assert found(shelf, "banana") and found(shelf, "apple")


def test_half_a_line_waits_for_its_other_half(shelf: Shelf) -> None:
    path = Path(shelf.add("one", prompt("apple")))
    line = frame(Prompted(seq=9, turn=1, content=prompt("banana").content))
    with path.open("ab") as file:
        file.write(line[:30])
    assert not found(shelf, "banana")
    with path.open("ab") as file:
        file.write(line[30:])
    assert found(shelf, "banana") == [("one", 9, "prompt")]
    assert cards(shelf)[0].damaged == 0


def test_a_line_that_comes_again_is_damage(shelf: Shelf) -> None:
    path = Path(shelf.add("one", prompt("apple")))
    with path.open("ab") as file:
        file.write(path.read_bytes())
    assert found(shelf, "apple") == [("one", 2, "prompt")]
    assert cards(shelf)[0].damaged == 2


@pytest.mark.parametrize("how", ["shorter", "longer", "same size", "another file"])
def test_another_file_of_the_name_is_read_from_its_beginning(
    shelf: Shelf, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "discard", None)  # the index itself is sound all the time
    path = Path(shelf.add("one", prompt("apple"), prompt("more")))
    assert found(shelf, "apple")
    entries = [Opened(seq=1, session="one", cwd="/p", version="0")]
    texts = {"shorter": ["banana"], "longer": ["banana"] * 9}.get(how, ["grape", "more"])
    new = [
        Prompted(seq=n, at=1000.0, turn=1, content=prompt(text).content)
        for n, text in enumerate(texts, 2)
    ]
    data = b"".join(frame(entry) for entry in [*entries, *new])
    if how == "same size":
        data = path.read_bytes().replace(b"apple", b"mango")  # whose checksum is wrong, then
    if how == "another file":
        path.unlink()
    path.write_bytes(data)
    os.utime(path, (5_000, 5_000))
    assert not found(shelf, "apple")
    if how != "same size":
        assert found(shelf, texts[0])


def test_deleted_logs_are_forgotten(shelf: Shelf) -> None:
    path = shelf.add("one", prompt("apple"))
    shelf.add("two", prompt("apple"))
    assert len(found(shelf, "apple")) == 2
    os.unlink(path)
    assert [hit[0] for hit in found(shelf, "apple")] == ["two"]
    assert [card.id for card in cards(shelf)] == ["two"]
    with closing(sqlite3.connect(file_of(shelf.home))) as db:
        assert db.execute("SELECT count(*) FROM passages").fetchone() == (1,)
        db.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")


def test_a_log_that_goes_while_it_is_looked_at(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = shelf.add("one", prompt("apple"))
    shelf.add("two", prompt("apple"))
    real = updating.update

    def update(*args: Any) -> None:
        os.unlink(gone)
        real(*args)

    monkeypatch.setattr(updating, "update", update)
    assert [card.id for card in cards(shelf)] == ["two"]


# The file


def fill(shelf: Shelf) -> None:
    shelf.add("one", prompt("apple"))
    assert found(shelf, "apple")


def test_the_index_is_for_the_user_alone(shelf: Shelf) -> None:
    fill(shelf)
    assert os.stat(file_of(shelf.home)).st_mode & 0o777 == 0o600


def test_without_sessions_no_file_is_made(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "none")
    assert cards(shelf) == [] and hits(shelf, "x") == []
    assert not os.path.exists(shelf.home)


def spoil_header(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 500)


def spoil_pages(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))


def cut_in_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def of_version(version: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute("DROP TABLE passages")
            db.execute(f"PRAGMA user_version = {version}")
            db.commit()

    return change


def somebody_elses(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE sessions (mine TEXT)")
        db.commit()


def of_our_version_and_yet_not(path: Path) -> None:
    somebody_elses(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {VERSION}")


def without_words(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM words_data")
        db.commit()


def strange_value(column: str, value: str) -> Callable[[Path], None]:
    """Damage that SQLite does not see."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"UPDATE sessions SET {column} = {value}")
            db.commit()

    change.__qualname__ = f"{column}_{value}"
    return change


def schema_that_is_no_text(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = CAST(x'435245415445ff20ff' AS TEXT)")
        db.commit()


STRANGE = (
    ("place", "CAST(x'ff41' AS TEXT)"), ("facts", "'{'"), ("facts", "'{\"turns\":\"x\"}'"),
    ("facts", "5"), ("changed", "'x'"), ("facts", "x'ff'"),
)  # fmt: skip


@pytest.mark.parametrize("is_writable", [True, False], ids=["writable", "read-only"])
@pytest.mark.parametrize(
    "spoil",
    [spoil_pages, schema_that_is_no_text, *(strange_value(*one) for one in STRANGE)],
    ids=lambda spoil: spoil.__qualname__,
)
def test_damage_that_is_not_told_by_sqlite_either(
    shelf: Shelf,
    spoil: Callable[[Path], None],
    is_writable: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(shelf)
    spoil(Path(file_of(shelf.home)))
    if not is_writable:
        monkeypatch.setattr(opening, "discard", lambda *_: None)
    assert [card.id for card in cards(shelf)] == ["one"]
    assert found(shelf, "apple") == [("one", 2, "prompt")]


@pytest.mark.parametrize(
    "spoil",
    [spoil_header, spoil_pages, cut_in_half, empty, of_version(VERSION - 1 or 99),
     of_version(VERSION + 1), somebody_elses, of_our_version_and_yet_not, without_words],
    ids=lambda spoil: spoil.__qualname__,
)  # fmt: skip
def test_a_file_that_is_no_use_is_made_anew(
    shelf: Shelf, spoil: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shelf)
    path = Path(file_of(shelf.home))
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    spoil(path)
    assert [card.id for card in cards(shelf)] == ["one"]
    assert found(shelf, "apple") == [("one", 2, "prompt")]
    monkeypatch.setattr(opening, "_in_memory", None)
    assert found(shelf, "apple"), "the file is of use again"


def test_a_sound_file_that_another_process_has_just_made_stays(shelf: Shelf) -> None:
    fill(shelf)
    inode = os.stat(file_of(shelf.home)).st_ino
    discard(shelf.home, inode + 1)
    assert os.stat(file_of(shelf.home)).st_ino == inode
    discard(shelf.home, inode)
    assert not os.path.exists(file_of(shelf.home))


def test_where_nothing_can_be_written_all_is_done_in_memory(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user may write anything, so the file is not one that SQLite could open."""
    path = Path(file_of(shelf.home))
    shelf.add("one", prompt("apple"))
    path.mkdir()
    assert found(shelf, "apple") == [("one", 2, "prompt")]
    assert path.is_dir()


def test_a_file_that_can_only_be_read_saves_reading_the_logs(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shelf)
    shelf.add("two", prompt("apple"))

    def read_only(home: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{file_of(home)}?mode=ro&immutable=1", uri=True, isolation_level=None
        )

    monkeypatch.setattr(opening, "_on_file", read_only)
    read = count_lines(monkeypatch)
    before = Path(file_of(shelf.home)).read_bytes()
    assert len(found(shelf, "apple")) == 2
    assert len(read) == 2, "of the new one"
    assert Path(file_of(shelf.home)).read_bytes() == before


def test_a_full_disk(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(shelf)
    on_file = opening._on_file

    def full(home: str) -> sqlite3.Connection:
        db = on_file(home)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    monkeypatch.setattr(opening, "_on_file", full)
    shelf.add("two", prompt("apple"), *(ended(f"{n} banana " * 300) for n in range(50)))
    assert len(found(shelf, "apple")) == 2
    monkeypatch.setattr(opening, "_on_file", on_file)
    assert len(found(shelf, "apple")) == 2


def test_another_process_that_writes_for_ever(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shelf)
    monkeypatch.setattr(opening, "PATIENCE", 0.01)
    with closing(sqlite3.connect(file_of(shelf.home), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        shelf.add("two", prompt("apple"))
        assert len(found(shelf, "apple")) == 2


@pytest.mark.parametrize("throws", [False, True])
def test_processes_that_make_and_use_it_at_once(shelf: Shelf, throws: bool) -> None:
    """Each finds everything, nothing twice; also when one throws the file away again and again.
    Without that, none has to do the work of another."""
    for n in range(30):
        shelf.add(f"s{n}", prompt("walrus"), *(ended(f"walrus {m}") for m in range(20)))
    code = """if True:
        import sys
        from detent.session.index import opening
        from detent.session.index.opening import consult, discard
        from detent.session.index.searching import search
        home, throws = sys.argv[1], sys.argv[2] == "True"
        if sys.argv[2] == "False":
            opening._in_memory = None
        for n in range(8):
            if throws and n % 3 == 2:
                discard(home)
            cards = consult(home, lambda c: c.cards())
            assert len(cards) == 30, len(cards)
            hits = consult(home, lambda c: search(c, "walrus", 1000, of_one=100))
            assert len(hits) == 30 * 21, len(hits)
    """
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, shelf.home, who], stderr=subprocess.PIPE, text=True
        )
        for who in (str(throws), "no matter" if throws else "False", str(throws))
    ]
    told = [process.communicate(timeout=50)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], told


def test_a_python_without_full_text_search_says_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.add("one", prompt("apple"))

    def prepare(db: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(opening, "prepare", prepare)
    with pytest.raises(opening.NoIndex, match="fts5"):
        cards(shelf)


def test_mistakes_of_ours_are_not_hidden(shelf: Shelf) -> None:
    shelf.add("one", prompt("apple"))

    def ask(catalogue: Catalogue) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        consult(shelf.home, ask)


def test_an_entry_without_words_leaves_no_passage(shelf: Shelf) -> None:
    shelf.add("one", prompt(" \n "), answer(""), Undone(of=(1,)))
    with_all = consult(shelf.home, lambda c: c.db.execute("SELECT * FROM passages").fetchall())
    assert with_all == []
