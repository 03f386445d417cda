"""The model of the terminal's bench, in a process of its own: it does what the last prompt says.

say TOKENS GAP             so many tokens of Markdown, with so many milliseconds between them
run CALLS BYTES TOKENS     so many calls that print so much, with text before each, and after
hang                       begins to say something and never ends
sleep                      a command that takes a minute
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from detent.testing import Reply, Request, Say, call, fault, reply, say, script, serve
from detent.testing.talk import Said

PROSE = """
## What was found

The parser reads **one token** too many when a line ends in a comment, and so the *next* statement
is taken for a part of it. It happens in `read_line`, where the end is looked for before the comment
is skipped, and wherever that is called.

- look for the comment first, then for the end of the line
- keep the place of the token, so that the message can name it
- a test with a comment in the last line of a file, which has no end

```python
def read_line(source: str, at: int) -> tuple[str, int]:
    end = source.find("\\n", at)
    return source[at:end].partition("#")[0], end + 1
```

After that the three tests pass, and nothing else has changed. The other callers hand over lines
that have been cut already; they are slower by a comparison, which does not matter here.

"""
PROMPT = re.compile(r"^(?:say \d+ \d+|run \d+ \d+ \d+|hang|sleep)$", re.MULTILINE)
DONE = b"all done"
"""The last words of an answer."""
LINES = "the quick brown fox jumps over the lazy dog and goes home"
"""What commands print, again and again."""


def pieces(count: int) -> tuple[str, ...]:
    """Tokens as models cut them: a word with the blank before it, or a part of a long one."""
    once: list[str] = []
    word = ""
    for char in PROSE:
        if word and (char in " \n" or len(word) >= 6):
            once.append(word)
            word = ""
        word += char
    once.append(word)
    return tuple(once[number % len(once)] for number in range(count))


def _said(count: int) -> Say:
    return say(*pieces(count), f"\n\n{DONE.decode()}")


def printing(size: int) -> str:
    """A command that prints so many bytes, in lines."""
    return f"yes '{LINES}' | head -c {size}"


def answer(request: Request) -> Reply:
    last, results = _asked(request.talk)
    match last.split():
        case ["say", count, gap]:
            return reply(_said(int(count)), gap=int(gap) / 1000, output=int(count))
        case ["run", calls, size, count] if results < int(calls):
            command = call("Bash", command=printing(int(size)))
            return reply(say(*pieces(int(count))), command, output=int(count))
        case ["run", _, _, count]:
            return reply(_said(int(count)), output=int(count))
        case ["hang"]:
            return reply(say(*pieces(200)), fault=fault(stall_after=40), gap=0.01)
        case ["sleep"]:
            return reply(call("Bash", command="sleep 60"))
        case _:
            return reply("ok")


def _asked(talk: list[Said]) -> tuple[str, int]:
    """The last prompt, and how many results have come since. Other texts may go with either."""
    results = 0
    for said in reversed(talk):
        prompts = PROMPT.findall(said.text) if said.role == "user" else []
        if prompts:
            return prompts[-1], results
        results += len(said.results)
    return "", results


class Model:
    """Context manager around the process; `url` is where it listens."""

    def __enter__(self) -> Model:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate("", timeout=10)


def main() -> None:
    with serve(script(answer, after="repeat_last"), record=False) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        for problem in server.problems:
            print(problem, file=sys.stderr)


if __name__ == "__main__":
    main()
