"""Files as the protocol names them."""

import os
from urllib.parse import quote, unquote, urlsplit


def uri_of(path: str) -> str:
    return "file://" + quote(path)


def path_of(uri: str) -> str:
    parts = urlsplit(uri)
    return os.path.normpath(unquote(parts.path)) if parts.scheme == "file" else uri


def folder(root: str) -> dict[str, str]:
    return {"uri": uri_of(root), "name": os.path.basename(root) or root}
