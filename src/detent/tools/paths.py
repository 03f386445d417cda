"""Paths as a model writes them."""

import os


def absolute(path: str, cwd: str) -> str:
    """Never raises: rules judge this path before anything is opened.

    A NUL cannot be in a name; replaced, it leads to an honest "no such file".
    """
    joined = os.path.join(cwd, os.path.expanduser(path.replace("\0", "\ufffd")))
    normal = os.path.normpath(joined)
    return normal[1:] if normal.startswith("//") else normal


def shown(path: str, cwd: str) -> str:
    """As short as it can be and still be found from `cwd`."""
    return path.removeprefix(cwd.rstrip("/") + "/")
