"""Web pages as Markdown: samples, and pages that were made to hurt."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup

from detent.tools.web import html
from detent.tools.web.deadline import Deadline, TooSlow
from detent.tools.web.html import MOST_CHARACTERS, readable
from detent.tools.web.trimming import LONGEST_TAG, trimmed

URL = "https://docs.test/guide/start?x=1"


def text(page: str) -> str:
    return readable(page, URL).text


SAMPLES = [
    ("<h1>One</h1><h3>Two <em>x</em></h3>", "# One\n\n### Two *x*"),
    ("<p>One<p>Two<br>three", "One\n\nTwo\nthree"),
    ("<p>a <b>b</b> <i>c</i> <code>d_e</code> f*g_h</p>", "a **b** *c* `d_e` f*g_h"),
    ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"),
    ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
    ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
    ("<blockquote>q</blockquote>", "> q"),
    ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
    (
        '<pre><code class="hljs language-python">def f():\n    pass</code></pre>',
        "```python\ndef f():\n    pass\n```",
    ),
    (
        "<table><tr><th>A<th>B<tr><td>1<td>2</table>",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    ("a<hr>b", "a\n\n---\n\nb"),
    ('<a href="/x">l</a>', "[l](https://docs.test/x)"),
    ('<a href="y#z">l</a>', "[l](https://docs.test/guide/y#z)"),
    ('<a href="//o.test/a b" title="t">l</a>', "[l](https://o.test/a%20b)"),
    ('<a href="#here">l</a>', "l"),
    ('<a href="javascript:evil()">l</a>', "l"),
    ('<a href="data:text/html,x">l</a>', "l"),
    ('<a href="http://[bad">l</a>', "l"),
    (f'<a href="/{"x" * 600}">l</a>', "l"),
    ('<img src="/p.png" alt="A picture">', "![A picture](https://docs.test/p.png)"),
    ('<img src="data:image/png;base64,AAAA" alt="A picture">', "A picture"),
    ('<img src="/p.png">', ""),
    ("&lt;b&gt; &amp; &uuml; &#x20AC;", "<b> & ü €"),
    ("<p>a</p>\n\n\n\n\n<p>b</p>", "a\n\nb"),
    ("no tags at all", "no tags at all"),
    ("<p>never <b>closed", "never **closed**"),
    ("", ""),
]


@pytest.mark.parametrize(("page", "markdown"), SAMPLES)
def test_samples(page: str, markdown: str) -> None:
    assert text(page) == markdown


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>SECRET</script>", "<style>SECRET</style>", "<noscript>SECRET</noscript>",
        "<template>SECRET</template>", "<!-- SECRET -->", "<nav>SECRET</nav>", "<p hidden>SECRET",
        "<footer>SECRET</footer>", '<div style="color: red; DISPLAY : none">SECRET</div>',
        '<i style="visibility:hidden">SECRET</i>', '<p aria-hidden="true">SECRET</p>',
        "<svg><text>SECRET</text></svg>", "<iframe>SECRET</iframe>", "<head><meta a=SECRET></head>",
        "<div hidden><div><p hidden>SECRET</p></div></div>", "<textarea>SECRET</textarea>",
        "<p aria-hidden=TRUE>SECRET</p>", '<p style="font-size:0">SECRET</p>',
        '<p style="font-size: 0px; top: 0">SECRET</p>', '<p style="opacity:0.0!important">SECRET',
        "<style>SECRET", "<script>a<b SECRET", "<!-- <script> --><!-- SECRET -->",
    ],
)  # fmt: skip
def test_what_no_reader_sees_is_left_out(unseen: str) -> None:
    found = text(f"<body><p>before</p>{unseen}</body>")
    assert found == "before"


@pytest.mark.parametrize(
    "style", ["opacity: 0.5", "font-size: 10px", "opacity:01", "display:inline"]
)
def test_what_is_only_pale_or_small_is_seen(style: str) -> None:
    assert text(f'<p style="{style}">seen</p>') == "seen"


def test_what_stands_around_a_page_is_left_out_unless_it_is_all() -> None:
    menu = '<nav><ul><li><a href="/docs">Docs</a></li></ul></nav><footer>Us</footer>'
    assert text(f"<body>{menu}<p>Hi</p></body>") == "Hi"
    assert text(f"<body>{menu}<div> </div></body>") == "- [Docs](https://docs.test/docs)\nUs"


def test_empty_lines_stay_in_code() -> None:
    found = text("<pre><code>a\n\n\n\n  b</code></pre>\n\n\n\n<p>c<pre>d\n\n\ne</pre>")
    assert found == "```\na\n\n\n\n  b\n```\n\nc\n\n```\nd\n\n\ne\n```"


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        ("a<script>x</script >b<STYLE a=b>y</style>c<!-- <p> -->d", "abcd"),
        ("a<script>x", "a<script>x"),
        ("a<scripture>b", "a<scripture>b"),
        ("<!-- <script> -->a", "a"),
        (f'<img src="{"x" * LONGEST_TAG}" alt="y">a', "<img>a"),
        ('<img src="x" alt="y">a', '<img src="x" alt="y">a'),
    ],
)
def test_trimming(page: str, kept: str) -> None:
    assert trimmed(page, Deadline(60)) == kept


def test_scripts_do_not_count_as_length() -> None:
    script = f"<script>{'x' * MOST_CHARACTERS}</script>"
    page = readable(f"{script}<p>after</p>", URL)
    assert (page.text, page.is_cut) == ("after", False)


@pytest.mark.parametrize(
    "page",
    [
        f"<p {'a=b ' * 250_000}>x</p>",
        "<p " + " ".join(f"a{number}=b" for number in range(100_000)) + ">x</p>",
        f"<p {' '.join(f'a{number}=b' for number in range(1_500))}>x</p>" * 80,
    ],
)
def test_attributes_do_not_fill_the_memory(page: str) -> None:
    tracemalloc.start()
    try:
        assert "x" in text(page)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_the_title() -> None:
    page = readable("<head><title> A\n title &amp; more</title></head><body>x", URL)
    assert (page.title, page.text) == ("A title & more", "x")


def test_the_main_part_is_the_page() -> None:
    long = "long text " * 30
    assert text(f"<body><div>menu</div><main>{long}</main></body>") == long.strip()
    assert text(f'<body><div>menu</div><div role="main">{long}</div></body>') == long.strip()
    assert text("<body><div>menu</div><main>short</main></body>") == "menu\n\nshort"


def test_a_page_that_is_too_long_is_cut() -> None:
    page = readable("word " * (MOST_CHARACTERS // 5 + 1), URL)
    assert page.is_cut and len(page.text) < MOST_CHARACTERS
    assert not readable("word", URL).is_cut


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("https://a.test/x", "https://a.test/x"),
        ("notes.txt", "notes.txt"),
        ('<?xml version="1.0"?><html><body>x</body></html>', "x"),
        ('<?xml version="1.0"?><feed><entry>x</entry></feed>', "x"),
        ("<!DOCTYPE html><html><head><title>t</title></head><body><p>x</body></html>", "x"),
    ],
)
def test_nobody_is_warned_of_odd_pages(page: str, found: str) -> None:
    """Warnings are errors here; a user would find them on the terminal."""
    assert text(page) == found


@pytest.mark.parametrize("tag", ["div", "b", "li", "table", "blockquote", "a href=x", "ul"])
def test_what_is_nested_too_deep_still_has_its_text(tag: str) -> None:
    assert "core" in text(f"<{tag}>" * 3_000 + "core")


@pytest.mark.parametrize(
    "page", ["<!--" * 50_000, "<a " * 50_000, "<!" * 50_000, "</" * 50_000, "<p>x" * 50_000]
)
def test_a_page_that_is_made_to_be_slow_is_left(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no time at all each of them is noticed, wherever it hangs."""
    monkeypatch.setattr(html, "SECONDS", -1.0)
    with pytest.raises(TooSlow, match="could not be read"):
        readable(page, URL)


def test_the_clock_is_watched_after_parsing_too() -> None:
    late, soup = Deadline(-1.0), BeautifulSoup("<main><p>x</p><nav>y</nav></main>", "html.parser")
    steps: list[Callable[[], Any]] = [
        lambda: trimmed("<script></script>", late),
        lambda: html._strip(soup, late),
        lambda: html._main(soup, late),
        lambda: html._Writer(URL, late).convert_soup(soup),
    ]
    for step in steps:
        with pytest.raises(TooSlow):
            step()
