"""No result may flood the window: the head and the tail are kept, the middle is counted."""

from msgspec.structs import replace

from detent.types.content import Text
from detent.types.outcomes import Cut, Done, Failed, Outcome

MOST_CHARACTERS = 30_000


def bounded(outcome: Outcome, most: int = MOST_CHARACTERS) -> Outcome:
    match outcome:
        case Done(content=content):
            if all(len(part.text) <= most for part in content if isinstance(part, Text)):
                return outcome
            cut = (Text(shortened(p.text, most)) if isinstance(p, Text) else p for p in content)
            return replace(outcome, content=tuple(cut))
        case Failed(text=text) | Cut(text=text) if len(text) > most:
            return replace(outcome, text=shortened(text, most))
        case _:
            return outcome


def shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"
