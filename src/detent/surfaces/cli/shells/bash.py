"""The script for bash, which also works in the old one of a Mac."""

from collections.abc import Iterable, Iterator

from detent.surfaces.cli.shells.offers import (
    ACTIONS,
    BEHIND,
    Offer,
    Offers,
    Takes,
    only_there,
)

SCRIPT = """\
# Completion of detent for bash: source <(detent completion bash)

_detent_words() {{
    local IFS=$' \\t\\n'
    COMPREPLY=( $(compgen -W "$1" -- "$cur") )
}}

_detent_paths() {{
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=( $(compgen "$1" -- "$cur") )
}}

_detent_sessions() {{
    local IFS=$'\\n'
    COMPREPLY=( $(compgen -W "$(detent completion sessions 2>/dev/null | cut -f 1)" -- "$cur") )
}}

_detent() {{
    local cur prev word sub action at skips
    cur=${{COMP_WORDS[COMP_CWORD]}}
    prev=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    # --flag=value comes as three words
    if [[ $cur == "=" ]]; then
        cur=""
    elif [[ $prev == "=" && $COMP_CWORD -gt 1 ]]; then
        prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for (( at = 1; at < COMP_CWORD; at++ )); do
        word=${{COMP_WORDS[at]}}
        if [[ -n $skips ]]; then
            [[ $word == "=" ]] || skips=""
            continue
        fi
        case "$sub $word" in
            {valued}) skips=yes ;;
            *" -"*|*" =") ;;
            *) if [[ -z $sub ]]; then sub=$word; elif [[ -z $action ]]; then action=$word; fi ;;
        esac
    done
    case "$sub $prev" in
{values}
    esac
    if [[ $cur == -* ]]; then
        case $sub in
{flags}
        esac
        return
    fi
    case "$sub $action" in
{words}
    esac
}}

complete -F _detent detent
"""


def script(found: Offers) -> str:
    return SCRIPT.format(
        valued="|".join(_valued(found)),
        values="\n".join(_values(found)),
        flags="\n".join(_flags(found)),
        words="\n".join(_words(found)),
    )


def _valued(found: Offers) -> Iterator[str]:
    """Flags that take the word behind them."""
    for start, offers in (
        *((f"{name} ", only_there(found, name)) for name in found.own),
        ("", found.flags),
    ):
        for one in offers:
            if one.takes != "nothing" and not one.is_optional:
                yield from (_pattern(start, name) for name in one.names)


def _pattern(start: str, flag: str) -> str:
    return f'"{start}{flag}"' if start else f'*" {flag}"'


def _values(found: Offers) -> Iterator[str]:
    """What follows a flag; a subcommand's own meaning of it comes first."""
    for name in found.own:
        yield from _branches(f"{name} ", only_there(found, name))
    yield from _branches("", found.flags)


def _branches(start: str, offers: Iterable[Offer]) -> Iterator[str]:
    for one in offers:
        if one.takes == "nothing":
            continue
        names = "|".join(_pattern(start, name) for name in one.names)
        # a value that may be left out need not be one: flags and words may follow, too
        rest = "[[ $cur == -* ]] || { %s; return; }" if one.is_optional else "%s; return"
        yield f"        {names}) {rest % _completes(one.takes, one.words)} ;;"


def _completes(takes: Takes, words: Iterable[str] = ()) -> str:
    match takes:
        case "words":
            return f'_detent_words "{" ".join(words)}"'
        case "folder":
            return "_detent_paths -d"
        case "file":
            return "_detent_paths -f"
        case "session":
            return "_detent_sessions"
        case _:
            return ":"


def _flags(found: Offers) -> Iterator[str]:
    for name, offers in found.own.items():
        names = " ".join(name for one in offers for name in one.names)
        yield f'            {name}) _detent_words "{names} --help" ;;'
    names = " ".join(name for one in found.flags for name in one.names)
    yield f'            *) _detent_words "{names}" ;;'


def _words(found: Offers) -> Iterator[str]:
    yield f'        " ") _detent_words "{" ".join(found.subcommands)}" ;;'
    for name, actions in ACTIONS.items():
        yield f'        "{name} ") _detent_words "{" ".join(actions)}" ;;'
    for takes, places in BEHIND.items():
        patterns = "|".join(f'"{one}"' for one in places)
        yield f"        {patterns}) {_completes(takes)} ;;"
    others = "|".join(f'"{name} "*' for name in found.subcommands)
    yield f"        {others}) ;;"
    yield "        *) _detent_paths -f ;;"
