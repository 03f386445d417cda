"""Which models get the small profile."""

import re

SMALL = "small"
MOST_BILLIONS = 8.0
_SIZE = re.compile(r"(?<![0-9a-z.])(\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
_EXPERTS = re.compile(r"\d+x\d", re.IGNORECASE)


def is_small(model: str, setting: str = "", fact: str = "") -> bool:
    """What the user set counts first, then what the catalog knows, then the size in the name."""
    if setting or fact:
        return (setting or fact) == SMALL
    if _EXPERTS.search(model):
        return False
    sizes = [float(size) for size in _SIZE.findall(model.rpartition("/")[2])]
    return bool(sizes) and max(sizes) <= MOST_BILLIONS
