"""Read: the text of PDF files."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from detent.tools.files import pdf as module
from detent.tools.files.pdf import is_pdf, page_range
from detent.tools.files.read import ReadArgs
from detent.tools.files.texts import digest
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench
from .pdfs import encrypted, pdf

Memory = Callable[..., Bench]


def told(memory: Memory, data: bytes, **more: Any) -> str:
    return memory({"/p/a.pdf": data}).text("Read", file_path="a.pdf", **more)


def test_pages_with_their_numbers(memory: Memory) -> None:
    bench = memory({"/p/a.pdf": pdf("first words", "", "third")})
    outcome = bench.call("Read", file_path="a.pdf")
    assert text_of(outcome) == (
        "[/p/a.pdf: 3 pages.]\n\n=== page 1\nfirst words\n\n=== page 2\n(no text)\n\n"
        "=== page 3\nthird"
    )
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["type"] == "pdf"
    about = outcome.data["file"]
    assert (about["filePath"], about["totalPages"], about["numPages"]) == ("/p/a.pdf", 3, 3)
    assert bench.known == {"/p/a.pdf": digest(pdf("first words", "", "third"))}


def test_the_pages_asked_for(memory: Memory) -> None:
    data = pdf(*(f"text {n}" for n in range(1, 31)))
    said = told(memory, data, pages="3")
    assert said == '[/p/a.pdf: 30 pages, 3-3 shown; go on with pages="4-23".]\n\n=== page 3\ntext 3'
    assert told(memory, data, pages=3) == said
    said = told(memory, data, pages="28-40")
    assert said.startswith("[/p/a.pdf: 30 pages.]\n\n=== page 28\n")
    assert said.endswith("=== page 30\ntext 30")


def test_a_long_file_begins_and_tells_how_to_go_on(memory: Memory) -> None:
    said = told(memory, pdf(*(f"text {n}" for n in range(1, 31))))
    assert said.startswith('[/p/a.pdf: 30 pages, 1-10 shown; go on with pages="11-30".]')
    assert said.endswith("=== page 10\ntext 10")


def test_only_what_there_is_room_for(memory: Memory) -> None:
    said = told(memory, pdf(*("x" * 12_000 for _ in range(5))))
    assert said.startswith('[/p/a.pdf: 5 pages, 1-2 shown; go on with pages="3-5".]')
    assert len(said) < 28_000
    said = told(memory, pdf("y" * 50_000, "z"))
    assert said.endswith("yyy\n[cut: 22,000 more characters]")
    assert len(said) < 28_200 and "page 2" not in said
    outcome = memory({"/p/a.pdf": pdf("y" * 50_000)}).call("Read", file_path="a.pdf")
    assert isinstance(outcome, Done) and outcome.data is not None
    assert len(outcome.data["file"]["content"]) < 28_200


@pytest.mark.parametrize(
    ("pages", "fault"),
    [
        ("1-21", 'at most 20 pages in one call; begin with pages="1-20".'),
        ("x", 'pages is "x"; send one page or a range: "3" or "1-5".'),
        ("5-3", "send one page or a range"),
        ("0", "send one page or a range"),
        ("1,2", "send one page or a range"),
        ("-3", "send one page or a range"),
        ("9", "/p/a.pdf has 2 pages; there is no page 9."),
    ],
)
def test_wrong_pages(memory: Memory, pages: str, fault: str) -> None:
    outcome = memory({"/p/a.pdf": pdf("a", "b")}).call("Read", file_path="a.pdf", pages=pages)
    assert isinstance(outcome, Failed)
    assert fault in outcome.text


def test_ranges() -> None:
    assert page_range("") == page_range(" ") == (1, 10)
    assert page_range("7") == (7, 7)
    assert page_range(" 2 - 4 ") == (2, 4)
    assert page_range("5-") == (5, 24)


def test_no_text(memory: Memory) -> None:
    said = told(memory, pdf("", ""))
    assert "Pages 1-2 hold no text" in said
    assert "pdftoppm" in said


def test_encrypted_files(memory: Memory) -> None:
    outcome = memory({"/p/a.pdf": encrypted(pdf("secret"), "word")}).call("Read", file_path="a.pdf")
    assert isinstance(outcome, Failed)
    assert "/p/a.pdf is encrypted. Ask for the password" in outcome.text
    assert "secret" in told(memory, encrypted(pdf("secret"), "")), "open to all"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.4\nrubbish",
        b"%PDF-1.4\n",
        pdf("x")[:200],
        pdf("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"),
        pdf("x").replace(b"/Count 1", b"/Count Q"),
        b"%PDF-1.7\n" + b"[" * 100_000,
    ],
)
def test_damaged_files_are_outcomes(
    memory: Memory, data: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    outcome = memory({"/p/a.pdf": data}).call("Read", file_path="a.pdf")
    if isinstance(outcome, Failed):
        assert "is damaged" in outcome.text
        assert len(outcome.text) < 500
    assert capfd.readouterr() == ("", ""), "the library's complaints stay away from the terminal"


def test_told_by_its_first_bytes(memory: Memory) -> None:
    assert "words" in memory({"/p/a.txt": pdf("words")}).text("Read", file_path="a.txt")
    said = memory({"/p/a.pdf": "plain\n"}).text("Read", file_path="a.pdf")
    assert said == "     1\tplain"
    said = memory({"/p/a": "plain\n"}).text("Read", file_path="a", pages="1")
    assert said == "Read: /p/a is no PDF; leave out `pages`, use offset and limit."
    assert is_pdf(b"\xef\xbb\xbf%PDF-1.4", "/p/A.PDF")


def test_a_text_may_speak_of_pdf_files(memory: Memory) -> None:
    bench = memory({"/p/notes.md": "They begin with %PDF-1.7.\n"})
    assert bench.text("Read", file_path="notes.md") == "     1\tThey begin with %PDF-1.7."
    assert isinstance(
        bench.call("Edit", file_path="notes.md", old_string="They", new_string="All"), Done
    )


def test_larger_than_text_may_be(memory: Memory) -> None:
    padded = pdf("words") + b"%" + b"x" * 11_000_000
    assert "words" in told(memory, padded)
    said = told(memory, pdf("words") + b" " * module.LIMIT)
    assert f"the limit is {module.LIMIT:,}" in said


def test_time_is_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdf("one", "two")
    monkeypatch.setattr(module, "SECONDS", -1.0)
    assert "took longer than" in told(memory, data)


def test_the_work_itself_watches_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdf("one", "two", "three")
    with pytest.raises(TimeoutError):
        module._extract(data, (1, 3), 1_000, deadline=0.0)
    clock = itertools.count()  # ticks at every look: five for a page
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    found = module._extract(data, (1, 3), 1_000, deadline=7)
    assert (found.total, found.texts) == (3, ("one",)), "what was done in time is kept"


def test_nobody_waits_for_a_file_that_never_ends(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread is caught; the call ends all the same, and so does the loop."""
    caught, release = threading.Event(), threading.Event()

    def endless(*_: Any) -> None:
        caught.set()
        release.wait(60)

    monkeypatch.setattr(module, "_extract", endless)
    monkeypatch.setattr(module, "SECONDS", -0.99)
    assert "took longer than" in told(memory, pdf("x"))
    assert caught.wait(30)
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "pdf"]
    assert thread.daemon
    release.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_cancelled_read_leaves_nothing_behind(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(*_: Any) -> Any:
        begun.set()
        release.wait(60)
        raise ValueError("too late")

    monkeypatch.setattr(module, "_extract", slow)
    bench = memory({"/p/a.pdf": pdf("x")})

    async def cancelled() -> None:
        task = asyncio.create_task(bench.acall("Read", file_path="a.pdf"))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        for thread in threading.enumerate():
            if thread.name == "pdf":
                await asyncio.to_thread(thread.join, 30)

    asyncio.run(cancelled())


def test_arguments(memory: Memory) -> None:
    tool = memory().registry.find("Read")
    assert tool is not None
    assert tool.parse('{"file_path": "a", "pages": 3}') == ReadArgs("a", pages="3")
    assert tool.parse('{"file_path": "a", "pages": null}') == ReadArgs("a")
