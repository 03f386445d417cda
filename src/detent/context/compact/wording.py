"""What people say, taken apart: the sentences that bind, those that decide, and names."""

import re
from collections.abc import Iterator

from detent.context.bounds import in_one_line

LONGEST_SENTENCE = 400
LONGEST_NAME = 120

_WRAPPED = re.compile(r"^(.{50,}[^\s.!?:;])\n(?=[a-zäöü(`])", re.MULTILINE)
"""A line that goes on in the next: an editor has broken it."""
_BULLET = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`*_]*[A-ZÄÖÜ0-9a-z/`])|(?<=;)\s+(?=[A-ZÄÖÜ])"
)
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
not stop untouched unchanged intact frozen fixed read-only allowed permitted enough tops
soll(?:te)?[nt]? bleib(?:en|t|e)? weg\ von höchstens mindestens fass
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


_ASKING = re.compile(r"(?:(?:and|but|so|then|ok),? )?(?:what|how|which|why|where|when|who)\b.*\?$")
"""Wants to know something, and nothing kept."""
_BINDING = _any_of(_BINDING_WORDS)
_DECIDING = _any_of(_DECIDING_WORDS)
_MARKED = re.compile(r"`([^`\n]{1,120})`|[“\"]([^\"“”\n]{1,60})[”\"]|(?<!\w)'([^'\n]{1,60})'(?!\w)")
_NAME = re.compile(
    r"""
      ([a-z][a-z0-9+.-]*://\S+)                                     # addresses
    | ([\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | ((?:~|\.{1,2}|\$\w+)?(?:/[\w.@+*-]+)+/?|[\w.@+-]+(?:/[\w.@+*-]+)+/?)  # paths
    | ([A-Z][A-Z0-9]{1,9}-\d+\b|\#\d+\b)                            # tickets
    | ([A-Za-z]:\\\S+)                                                # paths of another system
    | (\b\w+(?:(?:::|[:=])[\w.+-]+)+(?:\(\))?)                        # what belongs to what
    | (\b\d{1,4}(?:[-.:/]\d{1,4}){2,}\b)                           # dates, times, addresses
    | (\b\w+(?:[.:-]+\w+)*\.\w+(?:[-+]\w+)*(?:\(\))?)                # files, dotted names, versions
    | (:\d{2,5}\b|\b\d{3,}\b)                                       # ports and other numbers
    | (--?[A-Za-z][\w-]+(?:=\S+)?)                                  # options
    | (\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?:\(\))?|\b_+[A-Za-z]\w+)    # snake_case
    | (\b[A-Za-z]*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}[a-z]\w*)             # CamelCase
    | (?P<hyphened>\b[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)
    | (?P<shouted>\b[A-Z][A-Z0-9]{3,}\b)
    | (\b(?:[A-Za-z]+\d|\d+[A-Za-z])[A-Za-z0-9]*)                   # hashes and the like
    """,
    re.VERBOSE,
)
_AROUND = ".,;:!?()[]\"'*_"
_COMMON = frozenset({"e.g", "i.e", "etc", "and/or", "either/or", "he/she", "w/o", "n/a"})


def sentences(typed: str) -> Iterator[str]:
    for line in _WRAPPED.sub(r"\1 ", typed).split("\n"):
        rest = _BULLET.sub("", line).strip()
        held = ""
        for piece in _SENTENCE_END.split(rest) if rest else ():
            held = f"{held} {piece}".strip()
            if not _NO_END.search(held):
                yield in_one_line(held, LONGEST_SENTENCE)
                held = ""
        if held:
            yield in_one_line(held, LONGEST_SENTENCE)


def binds(sentence: str) -> bool:
    """What the user wants to be kept to. Rather too many than one too few."""
    if len(sentence.split()) < 2 or _ASKING.match(sentence.lower()):
        return False
    return _BINDING.search(sentence.lower()) is not None


def decides(sentence: str) -> bool:
    is_told = len(sentence.split()) > 2 and not sentence.endswith("?")
    return is_told and _DECIDING.search(sentence.lower()) is not None


def tells(sentence: str) -> bool:
    """More than a word."""
    return len(sentence.split()) > 1


def names(text: str) -> Iterator[str]:
    """Identifiers, paths, addresses, numbers: what cannot be guessed again."""
    for found in _MARKED.finditer(text):
        yield from _named(next(filter(None, found.groups()), ""))
    for word in _MARKED.sub(" ", text).split():
        bare = word.strip(_AROUND)
        if len(word) > LONGEST_NAME or (bare.isalpha() and bare[1:].islower()):
            continue  # data, which would take long to search; or a plain word
        for found in _NAME.finditer(word):
            name = found[0].rstrip(".,;:!?")
            name = name if "(" in name else name.rstrip(")")
            if not _is_word(name, found.lastgroup):
                yield from _named(name)


def _is_word(name: str, kind: str | None) -> bool:
    """One of the language, and nobody's name."""
    if kind == "shouted":
        return _BINDING.search(name.lower()) is not None
    is_joined = kind == "hyphened" and name.islower() and name.count("-") < 2
    return is_joined and not any(map(str.isdigit, name))


def _named(name: str) -> Iterator[str]:
    name = name.strip()
    if len(name) > 1 and name.lower() not in _COMMON:
        yield name
