"""The harness's side of server.py: start it, load a script, fetch the time stamps."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from scenarios import Tool


@dataclass(frozen=True)
class Times:
    """What the server saw of one run; the names are those of ``server.Script``."""

    received: list[int]
    ended: list[int]
    ended_real: list[int]
    sizes: list[int]
    connections: int
    aside: int
    markers: int

    def gaps_ms(self) -> list[float]:
        """Client time per step: end of answer n to the complete request n + 1."""
        pairs = zip(self.ended, self.received[1:], strict=False)
        return [(received - ended) / 1e6 for ended, received in pairs]


class Model:
    """Context manager around the server process."""

    def __enter__(self) -> Model:
        command = [sys.executable, str(Path(__file__).with_name("server.py"))]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def script(self, scenario: str, wire: str, tool: Tool) -> None:
        self._ask("POST", "/_script", {"scenario": scenario, "wire": wire, "tool": asdict(tool)})

    def times(self) -> Times:
        return Times(**json.loads(self._ask("GET", "/_times")))

    def _ask(self, method: str, path: str, body: object = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body else None)
            return connection.getresponse().read()
        finally:
            connection.close()
