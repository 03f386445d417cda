"""The environment that child processes get: the user's, without keys, tokens and passwords."""

import re
from collections.abc import Collection, Mapping

_CREDENTIAL = re.compile(
    r"(?:^|_)(?:API_?KEYS?|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|AUTH_?KEY|TOKENS?|SECRETS?|"
    r"PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|CUSTOM_HEADERS|BEARER)(?:_|$)|_KEY$",
    re.IGNORECASE,
)
"""By what it is called. What a command needs of it is named in the settings (`passEnv`)."""
_HARMLESS = re.compile(r"MAX_\w*TOKENS$|_(?:FILE|PATH|DIR)$|^GOOGLE_APPLICATION_CREDENTIALS$")
"""Numbers of tokens, and names of files: those who may read the file need no variable."""

SHELL_START = frozenset({"BASH_ENV", "CDPATH", "ENV", "SHELLOPTS", "BASHOPTS"})
"""What a shell would run, switch or look up otherwise: the command would no longer be what was
judged."""
SHELL_FUNCTION = "BASH_FUNC_"

ALWAYS = {
    "DETENT": "1",
    "CLAUDECODE": "1",  # scripts and test runners in the field look for this name
    # Nobody can answer a question or leave a pager: there is no terminal.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
}
WHEN_UNSET = {"TERM": "dumb"}


def child_environment(
    base: Mapping[str, str],
    *,
    withheld: Collection[str] = (),
    passed: Collection[str] = (),
) -> dict[str, str]:
    """`withheld`: more variables with keys; `passed`: keys that the user wants children to have."""
    kept = {
        name: value
        for name, value in base.items()
        if not _changes_shell(name)
        and (name in passed or not (name in withheld or is_credential(name)))
    }
    return {**WHEN_UNSET, **kept, **ALWAYS}


def _changes_shell(name: str) -> bool:
    return name in SHELL_START or name.startswith(SHELL_FUNCTION)


def is_credential(name: str) -> bool:
    return _CREDENTIAL.search(name) is not None and _HARMLESS.search(name) is None
