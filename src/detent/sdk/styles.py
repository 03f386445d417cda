"""Output styles: which there are, and taking another one."""

from msgspec.structs import replace

from detent.app.engine import Engine
from detent.app.fittings import base_of
from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.styles.finding import styles_of
from detent.app.styles.record import OutputStyle, Styles
from detent.types.errors import BadInput

__all__ = ["OutputStyle", "Styles", "found", "restyle", "styles"]


def styles(cwd: str = "", *, options: Options | None = None) -> tuple[OutputStyle, ...]:
    """All that can be chosen here, built-in ones first. Needs no model. Raises BadInput for
    settings that are broken."""
    return found(cwd, options=options).found


def found(cwd: str = "", *, options: Options | None = None) -> Styles:
    """The same, and what is to be said of files that do not count."""
    options = options or Options()
    return styles_of(grounds_of(replace(options, cwd=cwd) if cwd else options))


def restyle(engine: Engine, name: str) -> None:
    """From the next request on. Raises BadInput where there is no such style."""
    known = styles_of(engine.grounds)
    style = known.named(name)
    if style is None:
        names = ", ".join(one.name for one in known.found)
        raise BadInput(f"there is no output style {name[:80]!r}; there are {names}")
    engine.prompt.style = style.name
    engine.kit = replace(engine.kit, system=engine.prompt.text(style.for_prompt))
    engine.kit.conversation.base = base_of(engine.kit)
