"""Web pages as Markdown: what a reader would see of them, and nothing else.

The one place that knows markdownify. Everything here is pure and may take seconds: call it in a
thread. It watches the time itself, for a thread cannot be stopped.
"""

import re
import time
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString
from markdownify import MarkdownConverter
from msgspec import Struct

MOST_CHARACTERS = 2_000_000
SECONDS = 15.0
MOST_LINK = 500
SHORT = 200
"""Characters; a main part with less is not taken for the page."""
UNSEEN = (
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed",
    "nav", "footer", "dialog", "button", "select", "input", "textarea", "head", "title",
)  # fmt: skip
MOST_OPEN = 20
"""How far up an element is looked for that lacks its end."""
_CELLS = (("td", "th"), ("tr", "table"))
_ENDS = {
    "li": (("li",), ("ul", "ol")),
    "p": (("p",), ("div", "section", "article", "main", "body", "li", "td", "th", "blockquote")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "td": _CELLS,
    "th": _CELLS,
    "tr": (("td", "th", "tr"), ("table",)),
}
"""An element, which ones end where it begins, and what they never end in."""
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class Readable(Struct, frozen=True):
    title: str
    text: str
    is_cut: bool = False


class TooSlow(Exception):
    """The page takes more time than it is worth."""


def readable(html: str, url: str) -> Readable:
    """Raises TooSlow."""
    deadline = time.monotonic() + SECONDS
    soup = _Page(html[:MOST_CHARACTERS], deadline)
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    for element in soup.find_all(_is_unseen):
        element.decompose()
    for marked in [part for part in soup.descendants if isinstance(part, PreformattedString)]:
        marked.extract()  # comments, declarations, instructions to programs
    try:
        text = _Writer(url, deadline).convert_soup(_main(soup))
    except RecursionError:  # nested deeper than anything that was written to be read
        text = soup.get_text("\n", strip=True)
    return Readable(title[:300], _tidy(text), len(html) > MOST_CHARACTERS)


class _Page(BeautifulSoup):
    """Looks at the clock with all that the parser finds: a page may be made to be slow."""

    def __init__(self, html: str, deadline: float) -> None:
        self._deadline = deadline
        # The first element says that it is HTML: otherwise Beautiful Soup warns of what looks like
        # an address or XML, on the terminal.
        super().__init__(f"<html>{html}", "html.parser")

    def handle_starttag(self, name: str, *args: Any, **more: Any) -> Tag | None:
        _check(self._deadline)
        if unclosed := self._unclosed(name):
            self.handle_endtag(unclosed)
        return super().handle_starttag(name, *args, **more)

    def handle_data(self, data: str) -> None:
        _check(self._deadline)
        super().handle_data(data)

    def _unclosed(self, name: str) -> str:
        """The open element that ends where this one begins; many writers leave its end out."""
        ended, outer = _ENDS.get(name, ((), ()))
        found = ""
        for element in self.tagStack[: -MOST_OPEN - 1 : -1] if ended else ():
            if element.name in outer:
                break
            if element.name in ended:
                found = element.name
        return found


class _Writer(MarkdownConverter):
    def __init__(self, url: str, deadline: float) -> None:
        super().__init__(
            heading_style="atx",
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            escape_misc=False,
            code_language_callback=_language,
        )
        self._url = url
        self._deadline = deadline

    def process_tag(self, *args: Any, **more: Any) -> Any:
        _check(self._deadline)
        base: Any = super()  # its types leave most of it out
        return base.process_tag(*args, **more)

    def convert_a(self, el: Tag, text: str, parent_tags: Any) -> str:
        """Links lead somewhere from anywhere, or are plain text."""
        href = str(el.get("href") or "")
        link = _absolute(self._url, href)
        if not link or href.startswith("#"):
            return text
        el["href"] = link
        del el["title"]
        base: Any = super()
        return str(base.convert_a(el, text, parent_tags))

    def convert_img(self, el: Tag, text: str, parent_tags: Any) -> str:
        alt, link = str(el.get("alt") or "").strip(), _absolute(self._url, str(el.get("src") or ""))
        return f"![{alt}]({link})" if alt and link else alt


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TooSlow(f"the page could not be read within {SECONDS:g} seconds")


def _is_unseen(element: Tag) -> bool:
    """What no reader sees is not for the model either: it is where instructions would hide."""
    return (
        element.name in UNSEEN
        or element.has_attr("hidden")
        or element.get("aria-hidden") == "true"
        or _HIDDEN.search(str(element.get("style") or "")) is not None
    )


def _main(soup: BeautifulSoup) -> Tag:
    """The part that the page itself calls its main one, if there is much in it."""
    main = soup.find("main") or soup.find(None, {"role": "main"})
    if isinstance(main, Tag) and len(main.get_text(strip=True)) >= SHORT:
        return main
    return soup.body or soup


def _absolute(base: str, link: str) -> str:
    try:
        found = urljoin(base, link.strip())
    except ValueError:
        return ""
    is_web = found.startswith(("http://", "https://", "mailto:"))
    return found.replace(" ", "%20") if is_web and len(found) <= MOST_LINK else ""


def _language(pre: Tag) -> str:
    """`<pre><code class="language-python">`"""
    code = pre.find("code")
    classes = [*(pre.get("class") or ()), *((code.get("class") or ()) if code else ())]
    named = (name for name in classes if name.startswith(("language-", "lang-")))
    return next(named, "").partition("-")[2]


def _tidy(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
