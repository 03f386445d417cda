"""Web pages as Markdown: about what a reader would see of them.

The one place that knows markdownify. Everything here is pure and may take seconds: call it in a
thread. It watches the time itself, for a thread cannot be stopped.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PreformattedString
from markdownify import MarkdownConverter
from msgspec import Struct

from detent.tools.web.deadline import Deadline
from detent.tools.web.trimming import trimmed

MOST_CHARACTERS = 1_000_000
"""Without scripts and styles."""
SECONDS = 15.0
MOST_LINK = 500
SHORT = 200
"""Characters; a main part with less is not taken for the page."""
UNSEEN = (
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed",
    "dialog", "button", "select", "input", "textarea", "head", "title",
)  # fmt: skip
ASIDE = ("nav", "footer")
"""Around what a page has to say; sometimes all that it has."""
USED = (
    "alt", "aria-hidden", "class", "colspan", "hidden", "href", "role", "src", "start", "style",
)  # fmt: skip
"""Attributes; others are not kept."""
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
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden"
    r"|(?:font-size|opacity)\s*:\s*0?\.?0+(?:px|em|rem|pt|%)?\s*(?:[;!]|$)",
    re.IGNORECASE,
)


class Readable(Struct, frozen=True):
    title: str
    text: str
    is_cut: bool = False


def readable(html: str, url: str) -> Readable:
    """Raises TooSlow."""
    deadline = Deadline(SECONDS)
    html = trimmed(html, deadline)
    soup = _Page(html[:MOST_CHARACTERS], deadline)
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    _strip(soup, deadline)
    try:
        text = _Writer(url, deadline).convert_soup(_main(soup, deadline))
    except RecursionError:  # nested deeper than anything that was written to be read
        text = "\n".join(deadline.watched(soup.stripped_strings))
    return Readable(title[:300], _tidy(text), len(html) > MOST_CHARACTERS)


class _Page(BeautifulSoup):
    """Looks at the clock with all that the parser finds: a page may be made to be slow."""

    def __init__(self, html: str, deadline: Deadline) -> None:
        self._deadline = deadline
        # The first element says that it is HTML: otherwise Beautiful Soup warns of what looks like
        # an address or XML, on the terminal.
        super().__init__(f"<html>{html}", "html.parser")

    def handle_starttag(self, name: str, *args: Any, **more: Any) -> Tag | None:
        self._deadline.check()
        if unclosed := self._unclosed(name):
            self.handle_endtag(unclosed)
        namespace, prefix, given, *others = args
        used = {key: given[key] for key in USED if key in given}
        return super().handle_starttag(name, namespace, prefix, used, *others, **more)

    def handle_data(self, data: str) -> None:
        self._deadline.check()
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
    def __init__(self, url: str, deadline: Deadline) -> None:
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
        base: Any = super()  # its types leave most of it out
        self._deadline.check()
        written = base.process_tag(*args, **more)
        self._deadline.check()  # what is nested is written anew on every level
        return written

    def convert_a(self, el: Tag, text: str, parent_tags: Any) -> str:
        """Links lead somewhere from anywhere, or are plain text."""
        href = str(el.get("href") or "")
        link = _absolute(self._url, href)
        if not link or href.startswith("#"):
            return text
        el["href"] = link
        base: Any = super()
        return str(base.convert_a(el, text, parent_tags))

    def convert_img(self, el: Tag, text: str, parent_tags: Any) -> str:
        alt, link = str(el.get("alt") or "").strip(), _absolute(self._url, str(el.get("src") or ""))
        return f"![{alt}]({link})" if alt and link else alt


def _strip(soup: BeautifulSoup, deadline: Deadline) -> None:
    """Takes out what is no text for a reader, and what only stands around it."""
    unseen = [part for part in deadline.watched(soup.descendants) if _is_unseen(part)]
    _take_out(unseen, deadline)
    if any(_speaks(part) for part in deadline.watched(soup.descendants)):
        _take_out(soup.find_all(ASIDE), deadline)


def _take_out(parts: Iterable[Any], deadline: Deadline) -> None:
    for part in deadline.watched(parts):
        if not part.decomposed:  # with one around it
            part.decompose()


def _is_unseen(part: Any) -> bool:
    """What the markup itself hides is not for the model: instructions would stand there. Style
    sheets are not read, so a page that wants to can still say what only a model sees."""
    if not isinstance(part, Tag):
        # Comments, declarations, instructions to programs.
        return isinstance(part, PreformattedString)
    return (
        part.name in UNSEEN
        or part.has_attr("hidden")
        or str(part.get("aria-hidden")).strip().lower() == "true"
        or _HIDDEN.search(str(part.get("style") or "")) is not None
    )


def _speaks(part: Any) -> bool:
    is_text = isinstance(part, NavigableString) and not part.isspace()
    return is_text and part.find_parent(ASIDE) is None


def _main(soup: BeautifulSoup, deadline: Deadline) -> Tag:
    """The part that the page itself calls its main one, if there is much in it."""
    main = soup.find("main") or soup.find(None, {"role": "main"})
    if isinstance(main, Tag):
        length = 0
        for text in deadline.watched(main.stripped_strings):
            length += len(text)
            if length >= SHORT:
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
    """No more than one empty line at a time, but in code."""
    kept: list[str] = []
    is_code = False
    for line in map(str.rstrip, text.splitlines()):
        is_code ^= line.lstrip(" >").startswith("```")
        if line or is_code or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip()
