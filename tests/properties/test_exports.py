"""Whatever a session holds: an export keeps it in its place, and an import gives it back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from detent.app.export.exporting import rendered
from detent.app.export.mutations import MOST_KEPT, histories, serial_of
from detent.app.importing.own import read_own
from detent.app.importing.storing import import_all
from detent.app.importing.transcript import Transcript
from detent.session.reading import read_log
from detent.session.store import Store
from detent.types.content import Call, Document, Image, Text, Thinking
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Rewound,
    Switched,
    Trim,
    Trimmed,
    TurnEnded,
    Withheld,
)
from detent.types.outcomes import Cut, Done, Failed, Refused
from detent.types.running import Named
from detent.types.usage import Usage
from storybench import ALLOWED, Read

SESSION = "0ab32335-4a19-4532-bb92-3b4d2b001333"

pieces = st.sampled_from(
    [
        "```", "````", "~~~", "# mine", "## You", "---", "===", "<!--", "-->", "<script>", "</pre>",
        "<details>", "> q", "- ", "1. ", "    ", "\t", "a", "`", "``", "|", "[x]: /y", "\\", "&lt;",
        "\x1b[31m", "\x00", "\u202e", "é", "```js", "``` `", '"', "'", "]]>", "{", "*", "_",
    ]
)  # fmt: skip
texts = st.lists(st.tuples(pieces, st.sampled_from(["", "\n", "\n\n", " "])), max_size=8).map(
    lambda found: "".join(piece + end for piece, end in found)
) | st.text(max_size=20)
ids = st.sampled_from(["a", "b", "c"])
seqs = st.integers(0, 20)
media = st.one_of(
    st.builds(Image, st.sampled_from(["image/png", "image/svg+xml", "x"]), texts),
    st.builds(Document, st.just("application/pdf"), texts, texts),
)
outcomes = st.one_of(
    st.builds(Done, st.lists(st.builds(Text, texts) | media, max_size=2).map(tuple)),
    st.builds(Failed, texts),
    st.builds(Refused, texts, st.just("rule")),
    st.builds(Cut, texts, texts),
)
blocks = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts),
    st.builds(Call, ids, texts.filter(bool), texts),
)
trims = st.builds(Trim, seqs, texts, st.integers(-1, 2))
kinds: list[st.SearchStrategy[Entry]] = [
    st.builds(
        Prompted, turn=st.just(1), content=st.lists(st.builds(Text, texts) | media).map(tuple)
    ),
    st.builds(Reminded, text=texts, source=texts, path=texts),
    st.builds(
        Replied,
        turn=st.just(1),
        step=st.just(1),
        model=texts,
        content=st.lists(blocks, max_size=4).map(tuple),
        stop=st.just("end_turn"),
        usage=st.just(Usage(1, 1)),
    ),
    st.builds(CallEnded, call_id=ids, name=texts, outcome=outcomes),
    st.builds(Compacted, summary=texts, keeps_from=seqs),
    st.builds(Trimmed, stage=st.just("micro"), trims=st.lists(trims, max_size=3).map(tuple)),
    st.builds(Restored, entries=st.lists(seqs, max_size=4).map(tuple)),
    st.builds(Withheld, entries=st.lists(seqs, max_size=4).map(tuple), reason=texts),
    st.builds(Switched, model=texts, reason=texts),
    st.builds(Rewound, to=seqs),
    st.builds(Named, name=texts),
    st.builds(TurnEnded, turn=st.just(1), reason=st.just("api_error"), error=texts),
]
opened = st.builds(Opened, session=st.just(SESSION), cwd=st.just("/p"), version=texts)


def numbered(found: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(replace(e, seq=n, at=float(n)) for n, e in enumerate(found, 1))


sessions = st.tuples(opened, st.lists(st.one_of(*kinds), max_size=14)).map(
    lambda found: numbered((found[0], *found[1]))
)


def shown(session: Sequence[Entry], form: str) -> str:
    return rendered(session, form, lambda model, usage: None, lambda digest: None).decode()  # type: ignore[arg-type]


answers = st.builds(
    Replied,
    turn=st.just(1),
    step=st.just(1),
    model=st.just("m"),
    content=texts.map(lambda text: (Text(text),)),
    stop=st.just("end_turn"),
    usage=st.just(Usage(1, 1)),
)


@given(answers)
@settings(max_examples=400, deadline=None)
def test_in_markdown_an_answer_stays_where_it_is(answer: Replied) -> None:
    ended = TurnEnded(turn=1, reason="api_error")
    tokens = MarkdownIt().parse(shown(numbered((answer, ended)), "md"))
    outside = [token for token in tokens if token.level == 0]
    assert [t.tag for t in outside if t.type == "heading_open" and t.tag in ("h1", "h2")] in (
        ["h1"],
        ["h1", "h2"],
    )
    assert not [token for token in outside if token.type == "html_block"]
    assert outside[-1].type == "paragraph_close"
    assert "The turn ended" in (tokens[-2].content or "")


@given(sessions)
@settings(max_examples=100, deadline=None)
def test_in_markdown_every_heading_is_ours(session: tuple[Entry, ...]) -> None:
    """A parser of its own tells: what stands outside of quotations and fences is what we wrote."""
    tokens = MarkdownIt().parse(shown(session, "md"))
    outside = [token for token in tokens if token.level == 0]
    headings = [int(token.tag[1]) for token in outside if token.type == "heading_open"]
    said = sum(
        isinstance(e, Prompted | Reminded) or (isinstance(e, Replied) and bool(e.content))
        for e in session
    )
    assert headings[:1] == [1] and 1 not in headings[1:]
    assert headings.count(2) <= 2 * sum(_pieces(e) for e in session)
    assert not said or 2 in headings or not any(map(_is_read, session))
    assert not [token for token in outside if token.type == "html_block"]
    if isinstance(session[-1], TurnEnded):  # nothing before it has swallowed the last line
        assert outside[-1].type == "paragraph_close"
        assert "The turn ended" in (tokens[-2].content or "")


def _pieces(entry: Entry) -> int:
    return len(entry.content) if isinstance(entry, Replied) else 1


def _is_read(entry: Entry) -> bool:
    return isinstance(entry, Prompted | Reminded | CallEnded)


@given(sessions)
@settings(max_examples=150, deadline=None)
def test_in_html_every_tag_is_ours(session: tuple[Entry, ...]) -> None:
    page = Read(shown(session, "html"))
    assert {tag for tag, _ in page.tags} <= ALLOWED
    names = {name for _, given in page.tags for name in given}
    assert not [name for name in names if name.startswith("on") or name in ("href", "style")]
    assert [tag for tag, _ in page.tags].count("body") == 1


@given(sessions)
@settings(max_examples=60, deadline=None)
def test_what_is_exported_and_imported_is_the_same_session(session: tuple[Entry, ...]) -> None:
    data = shown(session, "json").encode()
    assert read_own(data).entries == session
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "export.json")
        file.write_bytes(data)
        (result,) = import_all([str(file)], folder)
        assert result.status == "imported", result
        reading = read_log(Store(folder).path("/p", SESSION))
        assert (reading.entries, reading.damaged) == (session, 0)
        assert shown(reading.entries, "json").encode() == data
        (again,) = import_all([str(file)], folder)
        assert again.status == "here already"


@given(sessions, st.lists(st.one_of(*kinds), max_size=5))
@settings(max_examples=200, deadline=None)
def test_numbering_goes_on_where_the_snapshot_ends(
    session: tuple[Entry, ...], more: list[Entry]
) -> None:
    found = json.loads(shown(session, "snapshot"))
    serial = found["mutation_serial"]
    last = (message["metadata"]["last_mutation_serial"] for message in found["messages"])
    assert serial == max(last, default=0)
    known = histories(session)
    assert serial == serial_of(known.values()) <= session[-1].seq
    longer = numbered((*session, *more))
    for seq, history in histories(longer).items():
        assert len(history.mutations) <= MOST_KEPT
        assert sum(history.totals.values()) >= len(history.mutations)
        fresh = [one for one in history.mutations if one.serial > session[-1].seq]
        assert all(one.serial > serial for one in fresh)
        serials = [one.serial for one in history.mutations]
        assert serials == sorted(set(serials)) and serials[-1] == history.last_mutation_serial
        if seq in known:
            before = known[seq].totals
            assert all(history.totals.get(kind, 0) >= times for kind, times in before.items())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "attachment", "summary", "odd"])},
    optional={
        "uuid": ids | values,
        "parentUuid": ids | values,
        "logicalParentUuid": ids,
        "isSidechain": st.booleans(),
        "isMeta": st.booleans(),
        "isCompactSummary": st.booleans(),
        "timestamp": st.sampled_from(["2026-01-01T00:00:00Z", "x"]) | values,
        "cwd": st.just("/p") | values,
        "subtype": st.just("compact_boundary"),
        "compactMetadata": values,
        "summary": values,
        "attachment": values,
        "message": st.fixed_dictionaries(
            {},
            optional={
                "id": ids | values,
                "model": st.just("m") | values,
                "usage": values,
                "content": values
                | st.lists(
                    st.fixed_dictionaries(
                        {"type": st.sampled_from(["text", "tool_use", "tool_result", "image"])},
                        optional={
                            "text": texts | values,
                            "id": ids,
                            "name": ids,
                            "input": values,
                            "tool_use_id": ids,
                            "content": values,
                            "source": values,
                        },
                    ),
                    max_size=3,
                ),
            },
        ),
    },
)


@given(st.lists(lines | values, max_size=8), st.binary(max_size=20))
@settings(max_examples=200, deadline=None)
def test_no_transcript_however_odd_does_more_than_fail(found: list[object], rubbish: bytes) -> None:
    """It ends, says what it left out, and what it imports can be sent."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{SESSION}.jsonl")
        text = [json.dumps(line).encode() for line in found]
        file.write_bytes(b"\n".join([*text, rubbish]))
        (result,) = import_all([str(file)], folder)
        assert result.status in ("imported", "failed")
        assert bool(result.why) == (result.status == "failed")
        assert Transcript(text).conversation() is not None
        if result.status == "imported":
            reading = read_log(Store(folder).path(result.cwd, SESSION))
            assert reading.damaged == 0 and reading.entries
