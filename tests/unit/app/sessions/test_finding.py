"""Which session is meant; naming, deleting and showing one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.app.options import Options
from detent.app.sessions import finding, without_index
from detent.app.sessions.deleting import delete
from detent.app.sessions.finding import Several, cards, find, hits
from detent.app.sessions.names import newly_named
from detent.app.sessions.naming import name_session
from detent.app.sessions.overview import overview
from detent.session.blobs import Blobs
from detent.session.index.opening import NoIndex
from detent.session.log import WHOLE, FileLog
from detent.session.reading import read_log
from detent.session.sweeping import SPARED
from detent.types.errors import BadInput
from detent.types.events import CallEnded, TurnEnded
from detent.types.files import Change, FileState, Undone
from detent.types.outcomes import done
from detent.types.running import Named
from sessionbench import OVER, Shelf, answer, call, ended, named, prompt, rewound, started


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "home")


# Finding


def test_by_id_or_its_beginning_then_name_then_words(shelf: Shelf) -> None:
    one = shelf.add("abc1", named("walrus"), prompt("something"))
    two = shelf.add("abd2", prompt("about the walrus and the carpenter"))
    assert find(shelf.home, "/p", "abc1") == one
    assert find(shelf.home, "/p", "abd") == two
    assert find(shelf.home, "/p", "walrus") == one, "its name, though another speaks of it"
    assert find(shelf.home, "/p", "the carpenter") == two
    with pytest.raises(BadInput, match="no session 'oyster' was found"):
        find(shelf.home, "/p", "oyster")
    with pytest.raises(BadInput, match="no session 'carpenter' was found"):
        find(shelf.home, "/p", "carpenter", by_words=False)


@pytest.mark.parametrize("wanted", ["", "/", "../p-0/abc1", "/etc/passwd", "."])
def test_nothing_and_paths_are_no_sessions(shelf: Shelf, wanted: str) -> None:
    path = shelf.add("abc1", prompt("x"))
    Path(path).with_name(".jsonl").write_bytes(Path(path).read_bytes())
    if wanted.startswith(".."):
        wanted = f"../{os.path.basename(os.path.dirname(path))}/abc1"
    with pytest.raises(BadInput):
        find(shelf.home, "/p", wanted)


def test_several_are_told_newest_first(shelf: Shelf) -> None:
    shelf.add("abc1", named("same"), prompt("first\x1b[2J"))
    shelf.add("abd2", named("same"), prompt("second \u202e"))
    for wanted in ("ab", "same"):
        with pytest.raises(Several) as several:
            find(shelf.home, "/p", wanted)
        assert [card.id for card in several.value.cards] == ["abd2", "abc1"]
        lines = str(several.value).split("\n")
        assert lines[0].startswith(f"{wanted!r} may be one of several")
        assert [line.split()[0] for line in lines[1:]] == ["abd2", "abc1"]
        assert not {"\x1b", "\u202e"} & set(str(several.value))


def test_words_in_several_sessions(shelf: Shelf) -> None:
    shelf.add("abc1", prompt("walrus"), answer("walrus"))
    shelf.add("abd2", prompt("a walrus"))
    with pytest.raises(Several) as several:
        find(shelf.home, "/p", "walrus")
    assert len(several.value.cards) == 2


def test_words_in_this_folder_come_first(shelf: Shelf) -> None:
    here = shelf.add("abc1", prompt("walrus"))
    there = shelf.add("abd2", prompt("walrus"), cwd="/q")
    assert find(shelf.home, "/p", "walrus") == here
    assert find(shelf.home, "/q", "walrus") == there
    with pytest.raises(Several):
        find(shelf.home, "/elsewhere", "walrus")


def test_an_id_is_not_looked_for_in_what_others_have_said(shelf: Shelf) -> None:
    id = "0b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c"
    shelf.add("abc1", prompt(f"look at session {id}"))
    with pytest.raises(BadInput, match="no session '0b4cf9a2"):
        find(shelf.home, "/p", id)


def test_without_an_index_sessions_are_listed_and_named_all_the_same(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.add("abc1", named("walrus"), prompt("x"), OVER)
    path = shelf.add("abd2", prompt("y"), cwd="/q")
    Path(path).write_bytes(Path(path).read_bytes() + b"rubbish\n")
    with_index = cards(shelf.home), cards(shelf.home, "/p")

    def consult(*args: object) -> None:
        raise NoIndex("no such module: fts5")

    monkeypatch.setattr(finding, "consult", consult)
    assert (cards(shelf.home), cards(shelf.home, "/p")) == with_index
    assert find(shelf.home, "/p", "walrus").endswith("abc1.jsonl")
    with pytest.raises(BadInput, match="was found"):
        find(shelf.home, "/p", "y")
    with pytest.raises(BadInput, match="this Python cannot search: no such module"):
        hits(shelf.home, "y", 5)


def test_a_search_for_nothing_is_told(shelf: Shelf) -> None:
    with pytest.raises(BadInput, match="no word to search for"):
        hits(shelf.home, ' "" !', 5)


def test_a_file_that_is_gone_has_no_card(tmp_path: Path) -> None:
    assert without_index.card_read(str(tmp_path / "missing.jsonl")) is None


# Naming


def test_a_name_is_an_entry(shelf: Shelf) -> None:
    path = shelf.add("abc1", prompt("x"))
    before = Path(path).read_bytes()
    assert name_session(shelf.home, path, "  the  walrus ") == "the walrus"
    assert Path(path).read_bytes().startswith(before)
    last = read_log(path).entries[-1]
    assert isinstance(last, Named) and (last.seq, last.name) == (3, "the walrus")
    assert find(shelf.home, "/p", "the walrus") == path
    name_session(shelf.home, path, "")
    assert cards(shelf.home)[0].name == ""


def test_behind_a_torn_tail_the_name_stands_in_a_line_of_its_own(shelf: Shelf) -> None:
    path = shelf.add("abc1", prompt("x"))
    with open(path, "ab") as file:
        file.write(b'{"crc":"0')
    name_session(shelf.home, path, "walrus")
    assert cards(shelf.home)[0].name == "walrus"


@pytest.mark.parametrize(
    ("name", "why"),
    [(" ", "at least one"), ("x" * 81, "at most 80"), ("a\x1bb", "control"),
     ("a\u202eb", "control"), ("cafe", "beginning of an id"), ("ab-1", "beginning of an id"),
     ("taken", "has that name")],
)  # fmt: skip
def test_names_that_nobody_could_use(shelf: Shelf, name: str, why: str) -> None:
    shelf.add("abd2", named("taken"), prompt("y"))
    path = shelf.add("abc1", prompt("x"))
    before = Path(path).read_bytes()
    with pytest.raises(BadInput, match=why):
        name_session(shelf.home, path, name)
    assert Path(path).read_bytes() == before


def test_a_session_may_keep_its_own_name(shelf: Shelf) -> None:
    path = shelf.add("abc1", named("taken"), prompt("x"))
    assert name_session(shelf.home, path, "taken") == "taken"


def test_a_session_in_use_is_not_named(shelf: Shelf) -> None:
    path = shelf.add("abc1", prompt("x"))
    log = FileLog(path, lambda: 1.0)
    log.lock()
    with pytest.raises(BadInput, match="in use by another process"):
        name_session(shelf.home, path, "walrus")
    log.close()


def test_nothing_is_written_behind_what_a_later_version_wrote(shelf: Shelf) -> None:
    from zlib import crc32

    path = shelf.add("abc1", prompt("x"))
    body = b'{"v":9,"type":"dreamt","seq":9}'
    with open(path, "ab") as file:
        file.write(b'{"crc":"%08x",' % crc32(body) + body[1:] + b"\n")
    before = Path(path).read_bytes()
    with pytest.raises(BadInput, match="a later version has written"):
        name_session(shelf.home, path, "walrus")
    assert Path(path).read_bytes() == before


def test_a_name_for_a_new_session_is_made_to_fit() -> None:
    assert newly_named(" a \x1b[2J\n b ", ()) == Named(name="a [2J b")
    assert newly_named("x" * 99, ()) == Named(name="x" * 80)
    assert newly_named("\0", ()) is None
    assert newly_named("a", (Named(name="a"), Named(name="b"))) == Named(name="a")
    assert newly_named("a", (Named(name="a"), prompt("x"))) is None


# Deleting


def test_deleting_takes_the_outputs_and_what_the_index_knows(shelf: Shelf) -> None:
    path = shelf.add("abc1", prompt("walrus"))
    stays = shelf.add("abd2", prompt("walrus"))
    outputs = Path(path.removesuffix(".jsonl"))
    outputs.mkdir()
    (outputs / "a.txt").write_text("x" * 1000)
    one, two = sorted(cards(shelf.home), key=lambda card: card.id)
    size = os.stat(path).st_size
    done = delete(shelf.home, [one])
    assert (done.sessions, done.kept, done.freed) == (("abc1",), {}, size + 1000)
    assert not os.path.exists(path) and not outputs.exists() and os.path.exists(stays)
    assert [hit.session for hit in hits(shelf.home, "walrus", 9)] == ["abd2"]
    delete(shelf.home, [two])
    assert not os.path.exists(os.path.dirname(stays)), "nor is an empty folder left"


def test_blobs_that_no_other_session_names_go(shelf: Shelf) -> None:
    alone, shared = f"alone {'x' * WHOLE}", f"shared {'x' * WHOLE}"
    shelf.add("abc1", ended(alone), ended(shared))
    shelf.add("abd2", ended(shared))
    root = Path(Blobs(shelf.home).root)
    stored = list(root.glob("??/*"))
    assert len(stored) == 2
    for blob in stored:
        os.utime(blob, (blob.stat().st_mtime - 2 * SPARED,) * 2)
    delete(shelf.home, [card for card in cards(shelf.home) if card.id == "abc1"])
    (left,) = root.glob("??/*")
    assert left.read_text().startswith("shared")
    assert len(hits(shelf.home, "shared", 9)) == 1


def test_what_lies_in_a_folder_that_cannot_be_read_keeps_its_blobs(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = shelf.add("abc1", prompt("x"))
    hidden = os.path.dirname(shelf.add("abd2", ended("y" * WHOLE), cwd="/q"))
    (blob,) = Path(Blobs(shelf.home).root).glob("??/*")
    os.utime(blob, (blob.stat().st_mtime - 2 * SPARED,) * 2)
    meant = [card for card in cards(shelf.home) if card.path == gone]
    listdir = os.listdir

    def refuse(folder: str) -> list[str]:
        if folder == hidden:
            raise PermissionError(13, "no")
        return listdir(folder)

    monkeypatch.setattr(os, "listdir", refuse)
    assert delete(shelf.home, meant).sessions == ("abc1",)
    assert blob.exists()


def test_a_session_in_use_stays(shelf: Shelf) -> None:
    path = shelf.add("abc1", prompt("x"))
    shelf.add("abd2", prompt("y"))
    log = FileLog(path, lambda: 1.0)
    log.lock()
    deleted = delete(shelf.home, cards(shelf.home))
    log.close()
    assert deleted.sessions == ("abd2",)
    assert deleted.kept == {"abc1": "it is in use by another process"}
    assert os.path.exists(path)


def test_a_link_in_place_of_the_outputs_is_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    path = shelf.add("abc1", prompt("x"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("y")
    os.symlink(mine, path.removesuffix(".jsonl"))
    assert delete(shelf.home, cards(shelf.home)).sessions == ("abc1",)
    assert (mine / "precious").exists()


# Showing


def test_a_session_at_a_glance(shelf: Shelf, tmp_path: Path) -> None:
    def changed(path: str) -> CallEnded:
        change = Change(path, FileState(), FileState("file", 0o644, 1, "d"))
        return CallEnded(call_id="c1", name="Bash", outcome=done("x"), changed=(change,))

    shelf.add(
        "abc1", named("walrus"), prompt("first"), answer("one", call("make")), started("make"),
        changed("/p/a"), answer("two"), OVER, prompt("second"), answer("three"), changed("/p/b"),
        Undone(of=(11,)), TurnEnded(turn=2, reason="api_error", error="broke"),
        rewound(8), prompt("third"),
    )  # fmt: skip
    options = Options(cwd=str(tmp_path), environ={"DETENT_HOME": shelf.home, "HOME": shelf.home})
    one = overview(options, "walrus")
    assert one.card == cards(shelf.home)[0]
    assert one.changed == ("/p/a",), "what was undone is not there any more"
    first, second, third = one.turns
    assert (first.entry, first.prompt, first.answer, first.calls) == (3, "first", "two", 1)
    assert (first.steps, first.changed, first.reason) == ((1, 2), ("/p/a",), "end_turn")
    assert (second.steps, second.reason, second.error) == ((3,), "api_error", "broke")
    assert [turn.is_rewound for turn in one.turns] == [False, True, False]
    assert (third.prompt, third.steps, third.reason) == ("third", (), "")
    assert (one.card.tokens, one.spent.calls) == (45, 1)
