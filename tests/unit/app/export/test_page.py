"""A session as HTML: one file that loads nothing, runs nothing and can be trusted with anything."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha256

import pytest

from detent.app.export.exporting import rendered
from detent.app.export.page import STYLE
from detent.types.content import Call, Document, Image, Text, Thinking
from detent.types.events import CallEnded, Compacted, Entry, Opened, Prompted, Reminded, Switched
from detent.types.files import Change
from detent.types.outcomes import Done, Failed
from detent.types.running import Named
from storybench import ALLOWED, BLOBS, PIXEL, Read, answer, everything, kept, numbered

EVIL = "</pre></details><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<!--"


def shown(*entries: Entry) -> str:
    found = entries or everything()
    return rendered(found, "html", lambda model, usage: 0.25, BLOBS.get).decode()


def evil_session() -> tuple[Entry, ...]:
    """Whoever can say anything says that."""
    path = f"/work/{EVIL}"
    return numbered(
        Opened(session=EVIL, cwd=path, version=EVIL, parent=EVIL),
        Reminded(text=EVIL, source=EVIL, path=EVIL),
        Prompted(
            turn=1,
            content=(
                Text(EVIL),
                Image("image/png", f'"><script>{EVIL}'),
                Image("image/svg+xml", "PHN2Zz4="),
                Image(EVIL, "AAAA"),
                Document(EVIL, "AAAA", EVIL),
            ),
        ),
        answer(
            Text(EVIL), Thinking(EVIL), Call("c", EVIL, EVIL), Call("d", "x", f'{{"a":"{EVIL}"}}')
        ),
        CallEnded(
            call_id="c",
            name=EVIL,
            outcome=Done((Text(EVIL),)),
            changed=(
                Change(path, kept(b"one\ntwo\n"), kept(b"one\nTWO <b>\n")),
                Change(path),
            ),
        ),
        CallEnded(call_id="d", name=EVIL, outcome=Failed(EVIL)),
        CallEnded(call_id="gone", name=EVIL, outcome=Failed(EVIL)),
        Switched(model=EVIL, reason=EVIL),
        Compacted(summary=EVIL, keeps_from=1),
        Named(name=EVIL),
    )


def test_nothing_hostile_becomes_a_tag() -> None:
    page = Read(shown(*evil_session()))
    assert {tag for tag, _ in page.tags} <= ALLOWED
    attributes = {name for _, given in page.tags for name in given}
    assert attributes <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "id", "open", "alt", "src"
    }  # fmt: skip
    assert page.text.count(EVIL) >= 15, "and all of it can still be read"


def test_it_loads_and_runs_nothing() -> None:
    for entries in (everything(), evil_session()):
        page = Read(shown(*entries))
        sources = [given["src"] for tag, given in page.tags if tag == "img"]
        assert all(
            re.fullmatch(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+", s or "") for s in sources
        )
    assert "url(" not in STYLE and "@import" not in STYLE


def test_the_browser_is_told_to_load_and_run_nothing() -> None:
    policy = next(
        given["content"]
        for tag, given in Read(shown()).tags
        if given.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    digest = re.fullmatch(r"'sha256-(.*)'", rules["style-src"])
    assert digest and b64decode(digest[1]) == sha256(STYLE.encode()).digest()
    assert f"<style>{STYLE}</style>" in shown(), "the policy is of this very text"


def test_pictures_are_in_the_file_where_they_are_ones() -> None:
    page = shown()
    assert f'src="data:image/png;base64,{PIXEL}"' in page
    evil = Read(shown(*evil_session()))
    assert not [tag for tag, _ in evil.tags if tag == "img"]


@pytest.mark.parametrize(
    "part",
    [
        "<title>the edit</title>",
        "<del>-two</del>\n<ins>+TWO &lt;b&gt;</ins>",
        '<section class="user"><header>You · 2026-09-21 14:13:26 UTC · #6</header>',
        '<section class="user gone">',
        "rewound later</header>",
        "Summed up here: the model reads this instead of 4 messages",
        "<b>Edit</b> <code>/work/a.txt</code> · 1.5 s",
        "<summary>Thinking</summary>",
        "application/pdf (6 bytes, left out here)",
    ],
)
def test_everything_that_happened_is_told(part: str) -> None:
    assert part in shown()


def test_control_characters_are_shown_and_not_obeyed() -> None:
    page = shown(*numbered(Prompted(turn=1, content=(Text("a\x00\x1b\u202eb"),))))
    assert "a␀␛[U+202E]b" in page
