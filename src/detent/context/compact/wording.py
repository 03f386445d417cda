"""What people say, taken apart: the sentences that bind, those that decide, and names."""

import re
from collections.abc import Iterator

LONGEST_SENTENCE = 400
LONGEST_NAME = 120
LONGEST_LINE = 20_000

_FENCED = re.compile(r"^(```|~~~).*?(?:^\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"')\]]*\s+(?=[\"'(\[`*_]*[A-ZÄÖÜ0-9a-z/`])")
_NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|bzw|ca|no|nr)|\bz\.\s?B)\.$", re.IGNORECASE)

_BINDING_WORDS = r"""
must mustn['’]?t never always don['’]?t doesn['’]?t shall should(?:n['’]?t)? ought
need(?:s|ed)?\ to ha(?:s|ve)\ to only solely exclusively no none nothing without except unless
make\ sure ensure be\ sure be\ careful take\ care remember mind\ that keep stay stick\ to leave
preserve retain respect honou?r avoid refrain forbidden prohibited banned off[\ -]limits hands\ off
can(?:no|['’])t mandatory require[sd]? at\ most at\ least maximum
minimum limit(?:ed)?\ to until before\ you under\ no\ circumstances non-negotiable insist prefer
rather\ than instead\ of important(?:ly)? critical(?:ly)? rule constraint requirement policy
muss müssen darf dürfen nie(?:mals)? immer nicht nur kein(?:e[nrsm]?)? ohne vermeide[nt]? achte
stelle\ sicher behalte lass unbedingt
not stop untouched unchanged intact
"""
_DECIDING_WORDS = r"""
decid(?:e[sd]?|ing) decision
(?:we|i)(?:['’]ll|\ will|\ shall)\ (?:use|take|keep|go|switch|adopt|move)
(?:we|i)(?:['’]re|['’]m|\ are|\ am)\ (?:using|taking|keeping|switching|moving) (?:we|i)\ use
let['’]?s\ (?:use|go|keep|take|do|stick|switch|stay|make) (?:go(?:es|ing)?|went|gone)\ (?:with|for)
cho(?:ose|se|sen|osing) opt(?:ed|ing)?\ for settl(?:ed?|ing)\ (?:on|for) settled
agreed? pick(?:ed|ing)? instead\ of rather\ than in\ favou?r\ of switch(?:ed|ing)?\ to
stick(?:ing)?\ (?:with|to)
adopt(?:ed|ing)? the\ plan\ is final conclu(?:sion|ded) resolved preferred commit(?:ted|ting)?\ to
entschieden entscheidung wir\ nehmen wir\ verwenden statt(?:dessen)?
"""


def _any_of(words: str) -> re.Pattern[str]:
    """Words by blanks; one within an expression is written with a backslash before it. For text in
    small letters: to pass over them while searching takes several times as long."""
    found = re.split(r"(?<!\\)\s+", words.strip())
    return re.compile(rf"\b(?:{'|'.join(found)})\b")


_BINDING = _any_of(_BINDING_WORDS)
_DECIDING = _any_of(_DECIDING_WORDS)
_MARKED = re.compile(r"`([^`\n]{1,120})`|[“\"]([^\"“”\n]{1,60})[”\"]|(?<!\w)'([^'\n]{1,60})'(?!\w)")
_NAME = re.compile(
    r"""
      ([a-z][a-z0-9+.-]*://\S+)                                     # addresses
    | ([\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | ((?:~|\.{1,2})?(?:/[\w.@+*-]+)+/?|[\w.@+-]+(?:/[\w.@+*-]+)+/?)  # paths
    | ([A-Z][A-Z0-9]{1,9}-\d+\b|\#\d+\b)                            # tickets
    | (\b\w+(?:[.:-]+\w+)*\.\w+(?:[-+]\w+)*(?:\(\))?)                # files, dotted names, versions
    | (:\d{2,5}\b|\b\d{3,}\b)                                       # ports and other numbers
    | (--?[A-Za-z][\w-]+(?:=\S+)?)                                  # options
    | (\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?:\(\))?|\b_+[A-Za-z]\w+)    # snake_case
    | (\b[A-Za-z]*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}[a-z]\w*)             # CamelCase
    | (\b[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)                            # hyphened
    | (\b(?:[A-Za-z]+\d|\d+[A-Za-z])[A-Za-z0-9]*)                   # hashes and the like
    """,
    re.VERBOSE,
)
_HYPHENED = 10
_AROUND = ".,;:!?()[]\"'*_"
_COMMON = frozenset({"e.g", "i.e", "etc", "and/or", "either/or", "he/she", "w/o", "n/a"})


def prose(text: str) -> str:
    """Without blocks of code: what is pasted is not what is said."""
    return _FENCED.sub("\n", text)


def sentences(text: str) -> Iterator[str]:
    for line in prose(text).split("\n"):
        if len(line) > LONGEST_LINE:  # data, not sentences
            continue
        rest = _BULLET.sub("", line).strip()
        held = ""
        for piece in _SENTENCE_END.split(rest) if rest else ():
            held = f"{held} {piece}".strip()
            if not _NO_END.search(held):
                yield _bounded(held)
                held = ""
        if held:
            yield _bounded(held)


def binding(text: str) -> Iterator[str]:
    """What the user wants to be kept to. Rather too many than one too few."""
    return (one for one in sentences(text) if _BINDING.search(one.lower()) and len(one.split()) > 1)


def deciding(text: str) -> Iterator[str]:
    return (
        one
        for one in sentences(text)
        if _DECIDING.search(one.lower()) and len(one.split()) > 2 and not one.endswith("?")
    )


def names(text: str) -> Iterator[str]:
    """Identifiers, paths, addresses, numbers: what cannot be guessed again."""
    said = prose(text)
    for found in _MARKED.finditer(said):
        yield from _named(next(filter(None, found.groups()), ""))
    for word in _MARKED.sub(" ", said).split():
        bare = word.strip(_AROUND)
        if len(word) > LONGEST_NAME or (bare.isalpha() and bare[1:].islower()):
            continue  # data, which would take long to search; or a plain word
        for found in _NAME.finditer(word):
            name = found[0].rstrip(".,;:!?")
            name = name if "(" in name else name.rstrip(")")
            is_word = found.lastindex == _HYPHENED and name.islower() and name.count("-") < 2
            if not is_word or any(map(str.isdigit, name)):
                yield from _named(name)


def _named(name: str) -> Iterator[str]:
    name = name.strip()
    if len(name) > 1 and name.lower() not in _COMMON:
        yield name


def _bounded(sentence: str) -> str:
    flat = " ".join(sentence.split())
    return flat if len(flat) <= LONGEST_SENTENCE else flat[: LONGEST_SENTENCE - 1] + "…"
