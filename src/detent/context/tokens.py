"""How many tokens something adds to the context: an estimate, until a provider reports.

A tokenizer cuts a text into words, runs of signs, and pieces of what is rare. So characters are
sorted into kinds and counted, and each kind weighs what it weighed in texts that were counted
(`tests/corpora/tokens`, `scripts/count_tokens.py`). Counting is done by bytes' own methods, and of
a long text only samples are looked at: it takes some microseconds, whatever the length.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    UserBlock,
)
from detent.types.events import CallEnded, Compacted, Entry, Prompted, Reminded, Replied
from detent.types.messages import ToolSpec
from detent.types.outcomes import content_of

Family = Literal["claude", "o200k", "cl100k"]
"""Tokenizers that count alike: Anthropic's, OpenAI's newer one, and its older one, which most open
models resemble."""

IMAGE_TOKENS = 1_600
"""Of a picture whose size cannot be read."""
DOCUMENT_BYTES_PER_TOKEN = 16
"""Of its base64: a page of a PDF has some 50 KB and costs some 3,000 tokens."""
PER_ENTRY = 8
"""Roles, ids and brackets."""
PER_TOOL = 12
LONGEST_WHOLE = 2_048
"""Characters; of longer texts, samples are looked at."""
SAMPLES, SAMPLE = 16, 128

_KINDS = (
    # How many bytes in a row begin a character of the kind, in UTF-8.
    (".", 9), ("n", 2), (".", 2), ("n", 1), (".", 18), (" ", 1), (".", 15), ("0", 10), (".", 7),
    ("A", 26), (".", 6), ("a", 26), (".", 5), ("-", 64), ("l", 12), ("g", 4), ("c", 8), ("s", 8),
    ("i", 1), ("d", 2), ("k", 1), ("h", 6), ("o", 4), ("d", 1), ("k", 1), ("e", 16),
)  # fmt: skip
_SORTED = "".join([kind * count for kind, count in _KINDS]).encode()
_LETTERS = b" " * 65 + b"a" + b" " * 31 + b"a" + b" " * 158
"""Of the kinds: a letter, or none."""

_FOREIGN = b"lgcsidkhoe"
"""Latin beyond ASCII, Greek, Cyrillic, Semitic, Indic, signs, kana and full-width, Han, Hangul, and
what needs four bytes: emoji above all."""
_PATTERNS = (b"0", b"000", b".", b"..", b"n", b" .", b"    ")

_WEIGHTS: dict[Family, tuple[float, ...]] = {
    # a small letter, a large one, a word, what has no breaks; the patterns; what is foreign
    "claude": (0.095, 0.144, 0.684, 0.514, 0.807, -1.148, 0.895, -1.044, 0.963, 0.289, 0.073,
                2.175, 1.338, 0.667, 1.030, 1.431, 0.752, 1.145, 0.867, 1.421, 3.014),
    "o200k": (0.116, 0.172, 0.559, 0.428, 1.148, -2.417, 0.444, -0.231, 0.953, 0.667, 0.195,
               0.514, 0.422, 0.358, 0.368, 0.383, 0.655, 0.748, 0.707, 0.749, 2.356),
    "cl100k": (0.203, 0.256, 0.246, 0.431, 1.240, -2.670, 0.356, -0.062, 0.815, 0.649, 0.170,
                1.393, 1.061, 0.635, 0.864, 1.315, 0.662, 1.110, 0.981, 1.335, 3.172),
}  # fmt: skip
_NEWER = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt", "o1", "o3", "o4", "codex")


def family_of(model: str) -> Family:
    """By its name: an estimate need not know more of a model."""
    name = model.lower().rpartition("/")[2]
    if "claude" in name:
        return "claude"
    return "o200k" if name.startswith(_NEWER) else "cl100k"


def features(text: str) -> list[int]:
    """What of a text counts, in the order of the weights."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_SORTED)
    small, large = kinds.count(b"a"), kinds.count(b"A")
    letters = kinds.translate(_LETTERS)
    found = [small, large, letters.count(b" a") + letters.startswith(b"a"), 0]
    found += map(kinds.count, _PATTERNS)
    solid = small + large + found[4]
    found[3] = max(0, solid - 3 * found[5] - 10 * (len(kinds) - solid))
    if len(kinds) > len(text):
        found += [kinds.count(kind) for kind in _FOREIGN]
    return found


def of_text(text: str, family: Family = "claude") -> int:
    length = len(text)
    if length <= LONGEST_WHOLE:
        return _weighed(text, family) if text else 0
    step = (length - SAMPLE) / (SAMPLES - 1)
    places = (int(number * step) for number in range(SAMPLES))
    sample = "".join([text[place : place + SAMPLE] for place in places])
    return round(_weighed(sample, family) * length / len(sample))


def _weighed(text: str, family: Family) -> int:
    # As many weights as features: a text in ASCII has no foreign ones.
    pairs = zip(features(text), _WEIGHTS[family], strict=False)
    return max(1, round(sum([count * weight for count, weight in pairs])))


def of_system(parts: Iterable[str], family: Family = "claude") -> int:
    return sum(of_text(part, family) for part in parts)


def of_tools(specs: Sequence[ToolSpec], family: Family = "claude") -> int:
    """All at once: they come before the first request, which must not wait."""
    return PER_TOOL * len(specs) + of_text("".join(map(_as_text, specs)), family)


def of_tool(spec: ToolSpec, family: Family = "claude") -> int:
    return PER_TOOL + of_text(_as_text(spec), family)


def _as_text(spec: ToolSpec) -> str:
    return f"{spec.name} {spec.description} {bytes(spec.schema).decode()}\n"


def of_blocks(blocks: Iterable[UserBlock | AssistantBlock], family: Family = "claude") -> int:
    return sum(of_block(block, family) for block in blocks)


def of_block(block: UserBlock | AssistantBlock, family: Family = "claude") -> int:
    match block:
        case Image():
            return _of_picture(block, family)
        case Document(data=data):
            return IMAGE_TOKENS + len(data) // DOCUMENT_BYTES_PER_TOKEN
        case Call(name=name, arguments=arguments):
            return of_text(name, family) + of_text(arguments, family)
        case Redacted(data=data) | Opaque(data=data):
            return of_text(data, family)
        case Result(content=parts):
            return of_blocks(parts, family)
        case _:
            return of_text(block.text, family)


def estimate(entry: Entry, family: Family = "claude") -> int:
    blocks = _blocks(entry)
    if blocks is not None:
        return PER_ENTRY + of_blocks(blocks, family)
    if isinstance(entry, Reminded):
        return PER_ENTRY + of_text(entry.text, family)
    return PER_ENTRY + of_text(entry.summary, family) if isinstance(entry, Compacted) else 0


def _blocks(entry: Entry) -> Sequence[UserBlock | AssistantBlock] | None:
    match entry:
        case Prompted(content=asked):
            return asked
        case Replied(content=said):
            return said
        case CallEnded(outcome=outcome):
            return content_of(outcome)
        case _:
            return None


def _of_picture(image: Image, family: Family) -> int:
    """Loaded when there is one."""
    from detent.context.pictures import tokens_of

    return tokens_of(image, family) or IMAGE_TOKENS


class Sizes:
    """Of entries as they read now, estimated."""

    def __init__(self, family: Family) -> None:
        self._family: Family = family
        self._known: dict[int, tuple[Entry, int]] = {}

    def of(self, entry: Entry) -> int:
        """Looked at once: a rebuild of a long conversation must not take long."""
        known = self._known.get(entry.seq)
        if known is None or known[0] is not entry:
            known = self._known[entry.seq] = entry, estimate(entry, self._family)
        return known[1]

    def together(self, entries: Iterable[Entry]) -> int:
        return sum(map(self.of, entries))


class Column:
    """Entries in a row, and what they take up to any. Added up only as far as somebody asks:
    of a long session that was compacted, most is never looked at."""

    def __init__(self, sizes: Sizes, entries: Iterable[Entry] = ()) -> None:
        self._sizes = sizes
        self._entries = list(entries)
        self._sums = [0]

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, entry: Entry) -> None:
        self._entries.append(entry)

    def until(self, place: int) -> int:
        for entry in self._entries[len(self._sums) - 1 : place]:
            self._sums.append(self._sums[-1] + self._sizes.of(entry))
        return self._sums[place]

    def amend(self, before: Entry, after: Entry) -> int:
        """Where it stood. Looked for from the end, where it is."""
        place = len(self._entries) - 1
        while self._entries[place].seq != before.seq:
            place -= 1
        self._entries[place] = after
        del self._sums[place + 1 :]
        return place


class Gauge:
    """A size as it was reported last, and how what was counted is estimated."""

    def __init__(self, reported: int, place: int, early: int, estimated: Callable[[], int]) -> None:
        self.reported = reported
        self.place = place
        """How many entries there were."""
        self.early = early
        """What of them was not in the count: results that came before their answer was whole."""
        self._estimate = estimated
        self._estimated = -1

    @property
    def estimated(self) -> int:
        if self._estimated < 0:
            self._estimated = self._estimate() - self.early
        return self._estimated
