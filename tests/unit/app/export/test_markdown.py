"""A session as Markdown: everything that happened, and nothing that breaks out of its place."""

from __future__ import annotations

import re

import pytest

from detent.app.export.exporting import rendered
from detent.app.export.markdown import fenced, quoted
from detent.types.content import Call, Text
from detent.types.events import CallEnded, Entry, Opened, Prompted
from detent.types.outcomes import Done
from storybench import BLOBS, answer, everything, numbered


def shown(*entries: Entry) -> str:
    found = entries or everything()
    return rendered(found, "md", lambda model, usage: 0.25, BLOBS.get).decode()


def told(text: str) -> str:
    """An answer as it is rendered."""
    return shown(*numbered(answer(Text(text)))).partition("## model-1\n\n")[2].rstrip("\n")


@pytest.mark.parametrize(
    "part",
    [
        "# the edit\n",
        "| folder | /work |",
        "| cost | $0.25 |",
        "| tokens | 15, 5 of them written |",
        "## Told by the program (memory: /work/CLAUDE.md)\n\n> Use tabs.",
        "## You\n\n> do it\n\n*(image/png, 72 bytes: left out here)*",
        "> *Thinking:* let me see",
        "*Here stands something that only the provider understands.*",
        '**Edit**: /work/a.txt *(1.5 s)*\n\n```json\n{\n  "file_path": "a.txt"\n}\n```\n',
        "- changed a.txt\n\n```diff\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO <b>\n",
        "**Bash**: false *(failed)*",
        "**Rm**: not json *(refused)*\n\n```json\nnot json\n```\n\n```\nNot run. no\n```",
        "**Slow** *(cut)*\n\n```\nso far\n\n[timed out]\n```",
        "**Never** *(unanswered)*",
        "*From here on, 1 of the above read shorter to the model (micro).*",
        "*model-1 gave no answer: try later*",
        "**Summed up here:** the model reads this instead of 4 messages.\n\n> They edited a.txt.",
        "*Taken back: entries 15 no longer count.*",
        "## You\n\n*(entry 23, rewound later)*\n\n> never mind",
        "*(entry 24, rewound later)*\n\nA wrong way.",
        "*Rewound to entry 22: what stands between no longer counts.*",
        "*Undone: the file changes of entries 9; left alone: /x*",
        "## You (while it ran)\n\n> again",
        "*The turn ended: user cancelled (by you)*",
    ],
)
def test_everything_that_happened_is_told(part: str) -> None:
    assert part in shown()


def test_what_was_summed_up_still_stands_where_it_was_said() -> None:
    text = shown()
    assert text.index("It is done.") < text.index("**Summed up here:**") < text.index("again")


def test_what_counts_is_not_marked() -> None:
    assert shown().count("rewound later") == 2


def test_a_fence_is_longer_than_any_within() -> None:
    assert fenced("a\n````\nb") == "`````\na\n````\nb\n`````"
    assert fenced("a ``` b", "json") == "````json\na ``` b\n````"


def test_a_quotation_holds_every_line() -> None:
    assert quoted("a\n\n```\nb") == "> a\n>\n> ```\n> b"


@pytest.mark.parametrize(
    "text",
    [
        "fine",
        "```py\nx\n```",
        "~~~\n# no heading\n~~~",
        "### small",
        "a < b",
        "- a\n- b",
        "````\n```\n````",
    ],
)
def test_an_answer_that_stays_in_its_place_stands_as_it_is(text: str) -> None:
    assert told(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "```\nnever closed",
        "```a`\n```",
        "````\n```",
        "# Mine",
        "## You",
        "   ## You",
        "##",
        "You\n---",
        "You\n=",
        "<!-- swallowed",
        "  <script>",
        "- ```\n```",
    ],
)
def test_an_answer_that_would_not_is_quoted(text: str) -> None:
    assert told(text) == quoted(text)


def test_no_escape_sequence_reaches_a_terminal() -> None:
    text = shown(
        *numbered(
            Opened(session="s", cwd="/w\x1b[2J", version="1"),
            Prompted(turn=1, content=(Text("a\x1b]0;title\x07b\r\nc\u202e"),)),
            answer(Text("\x1b[31mred"), Call("c", "T\x1b", '{"a":"\\u001b"}')),
            CallEnded(call_id="c", name="T", outcome=Done((Text("\x9b\x1b[1A"),))),
        )
    )
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "\u202e" not in text
    assert "a␛]0;title␇b\n> c[U+202E]" in text


def test_long_results_are_shortened_from_their_middle() -> None:
    lines = "\n".join(map(str, range(1000)))
    text = shown(
        *numbered(
            answer(Call("c", "T", "{}")),
            CallEnded(call_id="c", name="T", outcome=Done((Text(lines),))),
        )
    )
    assert "\n26\n[… 960 lines left out …]\n987\n" in text and text.endswith("\n999\n```\n")


def test_an_id_that_comes_again_gets_its_own_result() -> None:
    text = shown(
        *numbered(
            answer(Call("c", "First", "{}")),
            CallEnded(call_id="c", name="First", outcome=Done((Text("one"),))),
            answer(Call("c", "Second", "{}")),
            CallEnded(call_id="c", name="Second", outcome=Done((Text("two"),))),
            CallEnded(call_id="c", name="Lost", outcome=Done((Text("three"),))),
        )
    )
    order = [text.index(word) for word in ("First", "one", "Second", "two", "Lost", "three")]
    assert order == sorted(order)
    assert text.count("one") == 1
