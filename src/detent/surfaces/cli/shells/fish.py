"""The script for fish: `detent.fish` in its folder of completions."""

from collections.abc import Iterator

from detent.surfaces.cli.shells.offers import (
    ACTIONS,
    BEHIND,
    Offer,
    Offers,
    Takes,
)
from detent.surfaces.cli.shells.quoting import quoted_for_fish as quoted

START = """\
# Completion of detent for fish: detent completion fish > ~/.config/fish/completions/detent.fish

function __detent_sessions
    detent completion sessions 2>/dev/null
end

function __detent_has_sub
    __fish_seen_subcommand_from {names}
end

complete -c detent -f -n 'not __detent_has_sub'
"""


def script(found: Offers) -> str:
    lines = [START.format(names=" ".join(found.subcommands))]
    lines += (
        f"complete -c detent -n 'not __detent_has_sub' -f -a {name} -d {quoted(about)}"
        for name, about in found.subcommands.items()
    )
    lines += (_flag(one, "not __detent_has_sub") for one in found.flags)
    for name, offers in found.own.items():
        lines += (_flag(one, f"__fish_seen_subcommand_from {name}") for one in offers)
    return "\n".join((*lines, *_behind())) + "\n"


def _flag(one: Offer, when: str) -> str:
    names = " ".join(
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in one.names
    )
    value = _value(one)
    return f"complete -c detent -n {quoted(when)} {names}{value} -d {quoted(one.about)}"


COMPLETES: dict[Takes, str] = {
    "folder": "-f -a '(__fish_complete_directories)'",
    "file": "-F",
    "session": "-f -a '(__detent_sessions)'",
}


def _value(one: Offer) -> str:
    if one.takes == "nothing":
        return ""
    needs = "" if one.is_optional else " -r"
    if one.takes == "words":
        return f"{needs} -f -a {quoted(' '.join(one.words))}"
    return f"{needs} {COMPLETES.get(one.takes, '-f')}"


def _behind() -> Iterator[str]:
    for name, actions in ACTIONS.items():
        seen = f"__fish_seen_subcommand_from {name}"
        alone = f"{seen}; and not __fish_seen_subcommand_from {' '.join(actions)}"
        yield f"complete -c detent -n {quoted(alone)} -f -a {quoted(' '.join(actions))}"
    for takes, places in BEHIND.items():
        for place in places:
            words = place.split()
            seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
            yield f"complete -c detent -n {quoted(seen)} {COMPLETES[takes]}"
