"""Git, and whether this is a repository that it can read."""

from detent.app.git_state import Git
from detent.app.surroundings import repository_root
from detent.sdk.health.programs import find, version_of
from detent.sdk.health.record import Check, Place

NONE = "not found: the model is told nothing of the repository, and there are no worktrees"


async def look(place: Place) -> list[Check]:
    program = find("git", place)
    if not program:
        return [Check("git", "warning", NONE, "install git")]
    version = await version_of(program, place) or "of an unknown version"
    root = repository_root(place.cwd)
    repository = await Git(place.environ).look(root, place.cwd)
    if repository is None:
        return [Check("git", "ok", f"{version}; this folder is in no repository")]
    if repository.trouble:
        advice = f"see what it says: git -C {repository.root} status"
        return [Check("git", "warning", f"{version}; the state is {repository.trouble}", advice)]
    branch = f", branch {repository.branch}" if repository.branch else ", no branch"
    return [Check("git", "ok", f"{version}; repository {repository.root}{branch}")]
