"""What lies near a path: for answers that lead on instead of only saying no."""

import os

from detent.ports import Host
from detent.tools.paths import shown

LISTED = 50
COMPARED = 2_000
SUGGESTED = 3
TMP = "/tmp/"


async def entries_of(host: Host, folder: str, most: int) -> list[str]:
    """Names in a folder, those of folders with a slash. A walk names the folder's own first."""
    names: list[str] = []
    async for facts in host.walk(folder):
        if os.path.dirname(facts.path) != folder or len(names) == most:
            break
        names.append(os.path.basename(facts.path) + ("/" if facts.is_dir else ""))
    return names


async def about_folder(host: Host, path: str) -> str:
    names = await entries_of(host, path, LISTED + 1)
    more = ["... (find the others with Glob)"] if len(names) > LISTED else []
    listing = "\n".join([*names[:LISTED], *more]) or "(empty)"
    return f"{path} is a folder, not a file. It holds:\n{listing}"


async def about_missing(host: Host, path: str, cwd: str) -> str:
    if said := await _only_for_commands(host, path):
        return said
    folder, name = os.path.split(path)
    if await host.facts(folder) is None:
        while folder != "/" and await host.facts(folder) is None:
            folder = os.path.dirname(folder)
        return f"{path} does not exist; of its folders only {folder} does."
    near = _nearest(name, await entries_of(host, folder, COMPARED))
    hint = ", ".join(shown(os.path.join(folder, other), cwd) for other in near)
    said = f"{path} does not exist."
    return f"{said} Names near it: {hint}." if hint else f"{said} Paths are relative to {cwd}."


async def _only_for_commands(host: Host, path: str) -> str:
    """A sandbox has a place of its own for temporary files, which is /tmp to commands."""
    name = path.removeprefix(TMP)
    if not host.temporary or name == path:
        return ""
    if await host.facts(os.path.join(host.temporary, name)) is None:
        return ""
    return (
        f"{path} is not here: commands of Bash have temporary files of their own. Let one copy it "
        f"into the workspace, from $TMPDIR/{name}."
    )


def _nearest(name: str, others: list[str]) -> list[str]:
    from difflib import get_close_matches

    by_lower = {other.rstrip("/").lower(): other for other in others}
    close = get_close_matches(name.lower(), by_lower, n=SUGGESTED, cutoff=0.6)
    return [by_lower[other] for other in close]
