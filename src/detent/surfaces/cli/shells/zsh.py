"""The script for zsh: a file `_detent` in a folder of the fpath, or sourced."""

from collections.abc import Iterable, Iterator

from detent.surfaces.cli.shells.offers import (
    ACTIONS,
    BEHIND,
    Offer,
    Offers,
    Takes,
)
from detent.surfaces.cli.shells.quoting import quoted

SCRIPT = """\
#compdef detent
# Completion of detent for zsh: detent completion zsh > a folder of your fpath/_detent

_detent_sessions() {{
    local -a found
    local id about
    while IFS=$'\\t' read -r id about; do
        found+=("${{id//:/\\\\:}}:$about")
    done < <(detent completion sessions 2>/dev/null)
    _describe -t sessions session found
}}

_detent_subcommands() {{
    local -a found
    found=(
{subcommands}
    )
    _describe -t commands subcommand found
}}

_detent_behind() {{
    case "$1 $2" in
{behind}
        *) _default ;;
    esac
}}

_detent() {{
    local context state state_descr line
    typeset -A opt_args
    local -a flags
    local sub=${{words[(r)({names})]}}
    case $sub in
{flags}
        *) flags=(
{run}
        ) ;;
    esac
    _arguments -s -S : $flags '1: :_detent_subcommands' '*:: :->behind'
    if [[ $state == behind ]]; then
        local action=""
        (( CURRENT > 1 )) && action=${{words[1]}}
        _detent_behind "$sub" "$action"
    fi
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _detent "$@"
else
    compdef _detent detent
fi
"""


def script(found: Offers) -> str:
    return SCRIPT.format(
        names="|".join(found.subcommands),
        subcommands="\n".join(
            f"        {quoted(f'{name}:{about}')}" for name, about in found.subcommands.items()
        ),
        behind="\n".join(_behind()),
        flags="\n".join(
            f"        {name}) flags=(\n{chr(10).join(_specs(offers))}\n        ) ;;"
            for name, offers in found.own.items()
        ),
        run="\n".join(_specs(found.flags)),
    )


def _specs(offers: Iterable[Offer]) -> Iterator[str]:
    """`--flag=[about]:value:completes`, with the aliases as flags of their own."""
    for one in offers:
        about = one.about.translate(str.maketrans("[]", "()"))
        for name in one.names:
            sign = "=" if one.takes != "nothing" and name.startswith("--") else ""
            yield f"            {quoted(f'*{name}{sign}[{about}]{_value(one)}')}"


def _value(one: Offer) -> str:
    if one.takes == "nothing":
        return ""
    colon = "::" if one.is_optional else ":"
    if one.takes == "words":
        return f"{colon}value:({' '.join(one.words)})"
    return f"{colon}{one.takes}:{COMPLETES.get(one.takes, ' ')}"


COMPLETES: dict[Takes, str] = {
    "folder": "_files -/",
    "file": "_files",
    "session": "_detent_sessions",
}


def _behind() -> Iterator[str]:
    for name, actions in ACTIONS.items():
        yield f'        "{name} ") _values action {" ".join(actions)} ;;'
    for takes, places in BEHIND.items():
        patterns = "|".join(f'"{one}"' for one in places)
        yield f"        {patterns}) {COMPLETES[takes]} ;;"
