"""A page without its bulk, before it is parsed: parsed it takes a hundred times its size."""

import re

from detent.tools.web.deadline import Deadline

LONGEST_TAG = 20_000
"""Characters; what is longer carries a picture in it, or was made to hurt."""
_BULK = re.compile(r"<(?:!--|(script|style)(?=[\s/>]))", re.IGNORECASE)
_ENDS = {
    "": re.compile("-->"),
    "script": re.compile(r"</script[^<>]{0,99}>", re.IGNORECASE),
    "style": re.compile(r"</style[^<>]{0,99}>", re.IGNORECASE),
}
_LONG_TAG = re.compile(rf"(<[a-z][a-z0-9-]{{0,30}})\s[^<>]{{{LONGEST_TAG},}}>", re.IGNORECASE)


def trimmed(html: str, deadline: Deadline) -> str:
    """Without scripts, styles and comments; tags of enormous length lose their attributes."""
    kept, at = [], 0
    while found := _BULK.search(html, at):
        deadline.check()
        end = _ENDS[(found[1] or "").lower()].search(html, found.end())
        if end is None:
            break  # it has no end: the parser knows what that means
        kept.append(html[at : found.start()])
        at = end.end()
    kept.append(html[at:])
    return _LONG_TAG.sub(r"\1>", "".join(kept))
