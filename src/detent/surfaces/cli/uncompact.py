"""`detent uncompact`: brings back what compactions and trims had left out of a session."""

from detent.sdk.compaction import Uncompacted, uncompact
from detent.surfaces.arguments import Arguments
from detent.surfaces.counting import counted
from detent.surfaces.wishes import options_from
from detent.types.codec import encode
from detent.types.errors import BadInput


def run_uncompact(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) > 1:
        raise BadInput(f"detent uncompact takes one SESSION; not {' '.join(words)!r}")
    done = uncompact(options_from(arguments), "".join(words), last=arguments.on("--last"))
    if arguments.on("--json"):
        print(encode(done).decode())
        return 0
    for line in told(done):
        print(line)
    return 0


def told(done: Uncompacted) -> list[str]:
    if not done.undone:
        return [f"Session {done.session}: nothing was left out, so there is nothing to undo."]
    back = [f"{counted(len(done.undone), 'shortening')} undone"]
    if done.came_back:
        back.append(f"{counted(done.came_back, 'message')} came back")
    if done.whole_again:
        whole = counted(
            done.whole_again, "shortened result or answer", "shortened results or answers"
        )
        back.append(f"{whole} whole again")
    lines = [
        f"Session {done.session}: {', '.join(back)}; "
        f"it has {counted(done.messages, 'message')} now, some {done.tokens:,} tokens."
    ]
    if done.window and done.fits:
        lines.append(f"They fit into the window of {done.model} ({done.window:,}).")
    elif done.window:
        lines.append(
            f"That is more than the window of {done.model} ({done.window:,}): it will be "
            "shortened again with the next prompt, unless you choose a model with a larger one."
        )
    return lines
