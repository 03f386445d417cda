"""The model hub as a source: one file over https, from where we stopped. No credentials.

urllib in a thread: it knows proxies and redirects, and the agent's own transport stays small.
"""

import asyncio
import http.client
import os
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator

from detent.models.embedded.pull import SourceFailed
from detent.models.embedded.weights import READ_AT_ONCE, Weights

REACHED_WITHIN = 4.0
"""Seconds until a hub that does not answer counts as out of reach; also for each later read."""


class Hub:
    name = "the model hub"

    async def append(self, weights: Weights, part: str, start: int) -> AsyncGenerator[int, None]:
        if not weights.hub:
            raise SourceFailed("it has no address")
        response = await asyncio.to_thread(_open, weights.hub, start)
        stopped = threading.Event()
        try:
            done = start if response.status == 206 else 0
            if done < start:  # the server begins again, so do we
                os.truncate(part, 0)
            while done < weights.size:
                count = await asyncio.to_thread(_copy, response, part, weights.size - done, stopped)
                if not count:
                    raise SourceFailed(f"it ended after {done:,} bytes")
                done += count
                yield done
        finally:
            stopped.set()  # a read that is still waiting in its thread writes nothing any more
            response.close()


def _open(url: str, start: int) -> http.client.HTTPResponse:
    headers = {"Range": f"bytes={start}-", "Accept-Encoding": "identity"}
    try:
        asked = urllib.request.Request(url, headers=headers)
        response = urllib.request.urlopen(asked, timeout=REACHED_WITHIN)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise SourceFailed(str(getattr(error, "reason", error) or error)) from None
    if response.status not in (200, 206):
        response.close()
        raise SourceFailed(f"it answered {response.status}")
    found: http.client.HTTPResponse = response
    return found


def _copy(
    response: http.client.HTTPResponse, part: str, most: int, stopped: threading.Event
) -> int:
    try:
        chunk = response.read(min(most, READ_AT_ONCE))
    except (OSError, http.client.HTTPException) as error:
        raise SourceFailed(str(error) or type(error).__name__) from None
    if chunk and not stopped.is_set():
        with open(part, "ab") as file:
            file.write(chunk)
    return len(chunk)
