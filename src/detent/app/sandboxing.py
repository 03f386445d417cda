"""The sandbox of a session: what the user wishes and where the session works, as a profile."""

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from detent.app.grounds import Grounds
from detent.app.repository import git_folder
from detent.app.settings.sandbox import SandboxWishes, full_path, is_pattern
from detent.gate.terms import Rule
from detent.host.sandbox.network.allowed import Hosts
from detent.host.sandbox.network.proxy import NetworkProxy
from detent.host.sandbox.profile import PROTECTED, Backend, Profile, SandboxFailed, Wanted
from detent.host.sandbox.sandbox import Sandbox
from detent.host.sandbox.secrets import secret_places
from detent.types.errors import BadInput

OF_OTHERS = (".claude.json", ".claude/.credentials.json", ".codex/auth.json")
"""Where other agents keep what opens their accounts, below the home folder."""


class SessionSandbox(Sandbox):
    """Tells once what the backend that was found cannot do."""

    tell: Callable[[str], None] = staticmethod(lambda text: None)
    wants_hosts = False
    """The user has named hosts that commands may reach."""
    known: Backend | None = None
    """What holds commands, once one has been tried."""

    async def backend(self) -> Backend:
        found = await super().backend()
        if self.known is not None:
            return found
        self.known = found
        what = ""
        if found == "landlock" and self.wants_hosts:
            what = "No host is reached: with Landlock there is no network."
        elif found == "none":
            what = "Commands run without a sandbox: none works here."
        if what:
            from detent.host.sandbox.choosing import hint

            self.tell(f"{what} {hint()}".rstrip())
        return found


def wishes_of(grounds: Grounds) -> SandboxWishes:
    """The flag's word counts before that of any file."""
    wishes = grounds.settings.sandbox or SandboxWishes()
    flag = grounds.options.sandbox
    if not flag:
        return wishes
    if flag not in ("auto", "bwrap", "landlock", "off"):
        raise BadInput(f"sandbox is one of auto, bwrap, landlock, off; not {flag!r}")
    return replace(wishes, enabled=None, mode=flag)


def sandbox_of(
    grounds: Grounds,
    roots: Sequence[str],
    outputs: Sequence[str] = (),
    deny: Sequence[Rule] = (),
) -> SessionSandbox | None:
    """None when the user wants none. `outputs` are the session's own, which commands may read."""
    wishes = wishes_of(grounds)
    if wishes.backend == "off":
        return None
    hosts = Hosts(wishes.allowed_domains, wishes.denied_domains)
    sandbox = SessionSandbox(
        profile_of(grounds, wishes, roots, outputs, deny),
        wanted=_wanted(wishes),
        record=record_of(grounds),
        proxy=NetworkProxy(hosts, grounds.environ),
    )
    sandbox.wants_hosts = bool(wishes.allowed_domains)
    return sandbox


def _wanted(wishes: SandboxWishes) -> Wanted:
    mode = wishes.backend
    return "none" if mode == "off" else mode


def record_of(grounds: Grounds) -> str:
    """What was tried on this machine is no part of a session: it lies in the cache."""
    cache = grounds.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        cache = os.path.join(grounds.own, ".cache")
    return os.path.join(cache, "detent", "sandbox.json")


def profile_of(
    grounds: Grounds,
    wishes: SandboxWishes,
    roots: Sequence[str],
    outputs: Sequence[str] = (),
    deny: Sequence[Rule] = (),
) -> Profile:
    def full(paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(_full(path, grounds) for path in paths if not is_pattern(path))

    shown = full(wishes.allow_read)
    hidden = (
        *secret_places(grounds.own),
        *(os.path.join(grounds.own, place) for place in OF_OTHERS),
        grounds.home,
        *_denied(deny, grounds),
    )
    denied = (*(path for path in hidden if not _is_shown(path, shown)), *full(wishes.deny_read))
    return Profile(
        roots=tuple(roots),
        kind=wishes.profile,
        writable=(*full(wishes.allow_write), *full(wishes.unix_sockets)),
        repositories=tuple(filter(None, map(git_folder, roots))),
        readable=tuple(outputs),
        denied_reads=denied,
        protected=(*PROTECTED, *full(wishes.deny_write), os.path.dirname(record_of(grounds))),
        network="proxied",
        allow_unix_sockets=wishes.all_unix_sockets or bool(wishes.unix_sockets),
    )


async def checked(sandbox: SessionSandbox | None, wishes: SandboxWishes) -> Backend:
    """What will hold the commands. Raises BadInput when that is not what the user insists on."""
    try:
        backend = "none" if sandbox is None else await sandbox.backend()
    except SandboxFailed as error:
        raise BadInput(error.strerror) from None
    if backend == "none" and wishes.is_required:
        from detent.host.sandbox.choosing import hint

        raise BadInput(f"no sandbox works here, and the settings require one. {hint()}")
    return backend


def _full(path: str, grounds: Grounds) -> str:
    return full_path(path, grounds.cwd, grounds.own)


def _is_shown(path: str, shown: Sequence[str]) -> bool:
    return any(path == place or path.startswith(f"{place.rstrip('/')}/") for place in shown)


def _denied(rules: Sequence[Rule], grounds: Grounds) -> Iterator[str]:
    """Paths of deny rules for Read that are written out: the sandbox can hide these, too."""
    for rule in rules:
        what = rule.what
        if rule.tool != "Read" or not what or is_pattern(what):
            continue
        if what.startswith("//"):
            yield _full(what[1:], grounds)
        elif what.startswith("/"):
            yield _full(os.path.join(rule.origin.folder or grounds.cwd, what[1:]), grounds)
        else:
            yield _full(what, grounds)
