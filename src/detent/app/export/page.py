"""A session as one HTML file that needs nothing else: no network, no script.

Whatever a model or a tool has said is hostile: every text is escaped, every picture checked, and
the browser is told to load nothing and to run nothing.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape

from detent.app.export.changes import Bytes, diff_of, in_words
from detent.app.export.shown import dollars, harmless, shortened, tokens, when
from detent.app.export.story import (
    AnyPiece,
    Called,
    Facts,
    Mark,
    Media,
    Story,
    Summed,
    Talk,
    Thought,
)
from detent.types.content import Document

LINES, CHARACTERS = 5_000, 400_000
"""Of one text: browsers become slow."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Not SVG: it is a document that may hold anything."""
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
WHO = {"user": "You", "model": "Model", "program": "Told by the program"}
STYLE = """
:root { color-scheme: light dark; --soft: #8882; --line: #8884; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #f85149; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .9rem; }
th { text-align: left; font-weight: 500; opacity: .7; padding: .1rem 1rem .1rem 0; }
td { overflow-wrap: anywhere; }
section { border-left: 3px solid var(--line); margin: 1rem 0; padding: .2rem 0 .2rem 1rem; }
section.user { border-color: #0969da; }
section.model { border-color: var(--good); }
section.failed, section.refused, section.cut { border-color: var(--bad); }
section.summed { border-left: 6px double; }
section p { margin: .2rem 0; }
section.gone { opacity: .55; }
header { font-size: .8rem; opacity: .75; }
pre { font: .85rem/1.45 ui-monospace, monospace; margin: .4rem 0; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
pre.text { font: inherit; }
details > pre, pre.diff { background: var(--soft); border-radius: .3rem; padding: .6rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
ins, del { text-decoration: none; }
ins { color: var(--good); } del { color: var(--bad); }
img { display: block; max-width: 100%; }
p.mark { font-style: italic; opacity: .75; }
"""


def page(story: Story, read: Bytes) -> str:
    title = _safe(story.facts.name or f"Session {story.facts.session}")
    body = "\n".join(_section(piece, story.facts.cwd, read) for piece in story.pieces)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
{_table(story.facts)}
{body}
</body>
</html>
"""


def _policy() -> str:
    style = b64encode(sha256(STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _safe(text: str) -> str:
    return escape(harmless(text).encode(errors="replace").decode())


def _table(facts: Facts) -> str:
    spent = facts.spent
    rows = {
        "session": facts.session,
        "folder": facts.cwd,
        "time": " to ".join(dict.fromkeys(filter(None, (when(facts.begun), when(facts.ended))))),
        "models": ", ".join(facts.models),
        "turns": str(facts.turns),
        "tokens": f"{tokens(spent.usage.total)}, {tokens(spent.usage.output)} of them written",
        "cost": dollars(spent.dollars) + (" and models of unknown price" if spent.unpriced else ""),
        "forked from": facts.parent,
    }
    cells = (f"<tr><th>{name}<td>{_safe(value)}" for name, value in rows.items() if value)
    return f"<table>{''.join(cells)}</table>"


def _section(piece: AnyPiece, cwd: str, read: Bytes) -> str:
    match piece:
        case Mark(text=text):
            return f'<p class="mark" id="e{piece.seq}">{_safe(text)}</p>'
        case Talk(who=who, label=label, text=text, media=media):
            title = " · ".join(
                filter(None, (WHO[who] if who != "model" or not label else "", label))
            )
            inner = [*(_text(text) if text.strip() else ()), *map(_medium, media)]
            if who == "program":
                inner = _folded(_safe(title), inner)
                title = ""
            return _framed(piece, who, title, inner)
        case Thought(text=text):
            return _framed(piece, "thought", "", _folded("Thinking", _text(text)))
        case Called():
            return _framed(piece, piece.status, "", _call(piece, cwd, read))
        case Summed(text=text, replaced=replaced):
            what = f"{replaced} messages" if replaced else "what stands above"
            title = f"Summed up here: the model reads this instead of {what}"
            return _framed(piece, "summed", title, _text(text))


def _framed(piece: AnyPiece, kind: str, title: str, inner: Iterable[str]) -> str:
    """Not everything that stands in the log has an id of its own: an answer has many parts."""
    rewound = "rewound later" if piece.gone else ""
    head = " · ".join(filter(None, (_safe(title), when(piece.at), f"#{piece.seq}", rewound)))
    kinds = f"{kind} gone" if piece.gone else kind
    return f'<section class="{kinds}"><header>{head}</header>\n{"".join(inner)}</section>'


def _call(piece: Called, cwd: str, read: Bytes) -> Iterator[str]:
    told = "" if piece.status == "done" else f" · {piece.status}"
    time = f" · {piece.ms / 1000:.1f} s" if piece.ms >= 1000 else ""
    name = f"<b>{_safe(piece.name)}</b> <code>{_safe(piece.about)}</code>{told}{time}"
    inner = list[str]()
    if piece.arguments.strip() not in ("", "{}"):
        inner.append(f"<pre>{_bounded(piece.arguments)}</pre>")
    if piece.result.strip():
        inner.append(f"<pre>{_bounded(piece.result)}</pre>")
    yield from _folded(name, inner) if inner else (f"<p>{name}</p>",)
    yield from map(_medium, piece.media)
    for change in piece.changes:
        words, diff = _safe(in_words(change, cwd)), diff_of(change, cwd, read)
        yield from _folded(words, [_diff(diff)], is_open=True) if diff else (f"<p>{words}</p>",)


def _folded(summary: str, inner: Iterable[str], *, is_open: bool = False) -> list[str]:
    """The summary is HTML."""
    state = " open" if is_open else ""
    return [f"<details{state}><summary>{summary}</summary>{''.join(inner)}</details>\n"]


def _text(text: str) -> list[str]:
    return [f'<pre class="text">{_bounded(text)}</pre>\n']


def _bounded(text: str) -> str:
    return _safe(shortened(text, LINES, CHARACTERS))


def _diff(diff: str) -> str:
    lines = (_diff_line(line) for line in shortened(diff, LINES, CHARACTERS).split("\n"))
    return f'<pre class="diff">{chr(10).join(lines)}</pre>'


def _diff_line(line: str) -> str:
    shown = _safe(line)
    if line.startswith("+"):
        return f"<ins>{shown}</ins>"
    return f"<del>{shown}</del>" if line.startswith("-") else shown


def _medium(medium: Media) -> str:
    if medium.media_type in PICTURES and _BASE64.fullmatch(medium.data):
        data = "".join(medium.data.split())
        return f'<img alt="" src="data:{medium.media_type};base64,{data}">'
    name = medium.name if isinstance(medium, Document) else ""
    words = f"{medium.media_type} {name} ({len(medium.data) * 3 // 4} bytes, left out here)"
    return f'<p class="mark">{_safe(" ".join(words.split()))}</p>'
