"""Whether two patterns could name the same path: a glob of the shell and the pattern of a rule.

Each is a path whose parts may hold `*`, `?` and `[…]`; `**` as a part is any number of parts.
In doubt the answer is yes.
"""

from functools import lru_cache


def may_meet(one: str, other: str) -> bool:
    return _parts_meet(_parts(one), _parts(other))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


@lru_cache(4096)
def _parts_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if not one or not other:
        return all(part == "**" for part in (*one, *other))
    if one[0] == "**":
        return _parts_meet(one[1:], other) or _parts_meet(one, other[1:])
    if other[0] == "**":
        return _parts_meet(one, other[1:]) or _parts_meet(one[1:], other)
    return _names_meet(_signs(one[0]), _signs(other[0])) and _parts_meet(one[1:], other[1:])


def _signs(name: str) -> tuple[str, ...]:
    """The characters of a name; a set of characters is one sign, two stars are one."""
    signs: list[str] = []
    at = 0
    while at < len(name):
        end = name.find("]", at + 2) if name[at] == "[" else -1
        sign = name[at : end + 1] if end > 0 else name[at]
        at += len(sign)
        if not (sign == "*" and signs[-1:] == ["*"]):
            signs.append(sign)
    return tuple(signs)


def _names_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Row by row over the first name: which beginnings of the second one it can be."""
    reached = _past_stars({0}, other)
    for sign in one:
        if sign == "*":
            reached = set(range(min(reached), len(other) + 1)) if reached else set()
        else:
            stepped = {at + 1 for at in reached if at < len(other) and _same(sign, other[at])}
            stayed = {at for at in reached if at < len(other) and other[at] == "*"}
            reached = _past_stars(stepped | stayed, other)
        if not reached:
            return False
    return len(other) in reached


def _past_stars(reached: set[int], signs: tuple[str, ...]) -> set[int]:
    """A star may also stand for nothing."""
    return reached | {at + 1 for at in reached if at < len(signs) and signs[at] == "*"}


def _same(one: str, other: str) -> bool:
    """Two signs that stand for one character each; sets of several count as any."""
    if other == "*":
        return False
    fixed = {sign[1] if len(sign) == 3 else sign for sign in (one, other) if _is_fixed(sign)}
    return len(fixed) < 2


def _is_fixed(sign: str) -> bool:
    return sign != "?" and len(sign) in (1, 3)
