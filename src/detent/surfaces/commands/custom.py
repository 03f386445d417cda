"""Commands that people have written themselves, and files that their prompts name. What is built in
goes before any of them."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from detent.sdk.commands import CustomCommand, TurnWishes
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.commands.table import NAMES, Command
from detent.types.content import PIPED, Text, UserBlock
from detent.types.events import Notice

GROUP = "your own"
"""For lists of commands."""


class Invoked(Struct, frozen=True):
    name: str
    rest: str
    beside: tuple[UserBlock, ...] = ()
    """What came with it: through a pipe, or pictures."""


class Prepared(Struct, frozen=True):
    """A prompt as it is sent."""

    content: tuple[UserBlock, ...]
    wishes: TurnWishes | None = None


def invoked(prompt: Sequence[UserBlock], taken: Collection[str] = NAMES) -> Invoked | None:
    """What would be a custom command, if there is one of this name; the last block holds it."""
    *beside, last = prompt or (None,)
    if not isinstance(last, Text):
        return None
    word, *rest = last.text.split(maxsplit=1) or ("",)
    if not word.startswith("/") or "/" in word[1:] or word[1:] in ("", *taken):
        return None
    return Invoked(word[1:], "".join(rest).strip(), tuple(block for block in beside if block))


def is_there(one: Invoked | None, commands: Sequence[CustomCommand]) -> bool:
    return one is not None and any(one.name in (each.name, each.qualified) for each in commands)


def listed(
    commands: Sequence[CustomCommand], taken: Collection[str] = NAMES
) -> tuple[CustomCommand, ...]:
    """Those that can be called beside the ones whose names are taken."""
    return tuple(command for command in commands if command.name not in taken)


def as_commands(
    commands: Sequence[CustomCommand], taken: Collection[str] = NAMES
) -> tuple[Command, ...]:
    """For help and completion, each with where it comes from."""
    return tuple(
        Command(
            one.name,
            f"{one.description} ({one.origin})".strip(),
            one.argument_hint,
            needs_model=True,
            group=GROUP,
            more=f"From {one.path}",
        )
        for one in listed(commands, taken)
    )


def may_be_more(prompt: Sequence[UserBlock]) -> bool:
    """Whether a prompt may call a command or name a file: loaded only then."""
    texts = [block.text for block in prompt if isinstance(block, Text)]
    return any("@" in text for text in texts) or bool(texts and texts[-1].lstrip()[:1] == "/")


async def prepared(
    session: Session, prompt: Sequence[UserBlock], hear: Hear, *, with_commands: bool = True
) -> Prepared:
    """The command that it calls, or the prompt with the files that it names. `hear` gets what
    happens meanwhile, and why something is not with it. Raises BadInput."""
    one = invoked(prompt) if with_commands else None
    if one is not None and is_there(one, session.custom_commands):
        expanded = await session.expand(one.name, one.rest, hear)
        await _tell(expanded.notices, hear)
        return Prepared((*one.beside, *expanded.content), expanded.wishes)
    content: list[UserBlock] = []
    attached: list[UserBlock] = []
    for block in prompt:
        content.append(block)
        if isinstance(block, Text) and not block.text.startswith(PIPED):
            (_, *further), notices = await session.with_mentions(block.text)
            attached += further
            await _tell(notices, hear)
    return Prepared((*content, *attached))


async def _tell(notices: Sequence[str], hear: Hear) -> None:
    for text in notices:
        await hear(Notice(text, "warning"))
