"""The servers of a session: started when first needed, one per project and language."""

import asyncio

from detent.ports import Host
from detent.tools.language.client import INITIALIZING, Client
from detent.tools.language.connection import Gone, Refusal
from detent.tools.language.servers import Found, prepared

MOST_STARTS = 2
"""The first, and one after a crash."""
NEUTRAL = "/"


class _Berth:
    """The place of one server, whether it runs or not."""

    def __init__(self) -> None:
        self.starts = 0
        self.starting: asyncio.Task[Client | Gone | LookupError] | None = None
        self.client: Client | None = None
        self.trouble = ""
        self.is_slow = False
        """Somebody has waited for its start in vain."""


class Fleet:
    def __init__(self, host: Host, *, trusted: bool) -> None:
        self._host, self._trusted = host, trusted
        self._berths: dict[tuple[str, str], _Berth] = {}

    async def client(self, found: Found, root: str, *, in_haste: bool = False) -> Client:
        """Raises Gone when it could not be started but may be tried again, else LookupError.
        Cancelling leaves it starting. Who is in haste does not wait for one known to be slow, but
        gets a TimeoutError."""
        berth = self._berths.setdefault((root, found.language), _Berth())
        if berth.client is not None and berth.client.trouble:
            berth.trouble, berth.client, berth.starting = berth.client.trouble, None, None
        if berth.starting is None:
            if berth.starts == MOST_STARTS:
                raise LookupError(
                    f"{found.server.name} has failed twice and is not started again: "
                    f"{berth.trouble}. Use Grep instead"
                )
            berth.starts += 1
            berth.starting = asyncio.create_task(self._start(berth, found, root))
        starting = berth.starting
        if in_haste and berth.is_slow and not starting.done():
            raise TimeoutError
        try:
            started = await asyncio.shield(starting)
        except asyncio.CancelledError:
            berth.is_slow = True
            raise
        if isinstance(started, Client):
            return started
        if berth.starting is starting:
            berth.starting, berth.trouble = None, str(started)
        raise started

    async def _start(self, berth: _Berth, found: Found, root: str) -> Client | Gone | LookupError:
        client = Client(await prepared(found.server, root, self._host), root)
        # Programs look for their settings where they stand: not in a folder nobody trusts.
        stands_inside = self._trusted or found.by_user
        try:
            await client.start(self._host, root if stands_inside else NEUTRAL)
        except TimeoutError:
            return LookupError(f"{found.server.name} did not get ready in {INITIALIZING:.0f} s")
        except (OSError, Gone, Refusal) as error:
            return Gone(f"{found.server.name} could not be started: {error}")
        berth.client = client
        return client

    async def aclose(self) -> None:
        berths, self._berths = self._berths, {}
        starting = [one.starting for one in berths.values() if one.starting is not None]
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        clients = [one.client for one in berths.values() if one.client is not None]
        await asyncio.gather(*(client.aclose() for client in clients), return_exceptions=True)
