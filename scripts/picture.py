"""Draws docs/demo.svg: `detent demo`, recorded in a real terminal and rendered as it looked."""

import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(ROOT / ".venv" / "bin" / "detent")
COLUMNS = 104


def recorded() -> str:
    """What a person sees, on a terminal of fixed width, without any key set."""
    parts: list[bytes] = []

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        parts.append(data)
        return data

    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, TERM="xterm-256color", COLUMNS=str(COLUMNS))
    with open(os.devnull, "wb") as nowhere:
        saved = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        try:
            pty.spawn([COMMAND, "demo"], read)
        finally:
            os.dup2(saved, 1)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    return re.sub(r"/[\w/.-]*detent-demo-\w+", "~/scratch", text)


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text("$ detent demo", style="bold"))
    console.print(Text.from_ansi(recorded()))
    target = ROOT / "docs" / "demo.svg"
    console.save_svg(str(target), title="detent demo")
    # The fonts would be fetched from outside when the picture is shown; the local ones will do.
    svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->", "", target.read_text(), flags=re.DOTALL)
    target.write_text(svg)
    sys.stdout.write(f"{target.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
