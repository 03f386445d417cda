"""Counts the texts of tests/corpora/tokens/texts.jsonl with real tokenizers, and fits the weights
of `detent.context.tokens` to one half of them.

Needs packages that are no dependency of the project; in an environment of its own:

    pip install tiktoken tokenizers numpy scipy msgspec && pip install --no-deps litellm
    python scripts/count_tokens.py          # writes the counts
    python scripts/count_tokens.py --fit    # prints the weights

`litellm` brings the vocabularies: Anthropic's of an older Claude, the last one that was published,
and OpenAI's o200k_base and cl100k_base.
"""

import json
import os
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TEXTS = ROOT / "tests" / "corpora" / "tokens" / "texts.jsonl"
FAMILIES = ("claude", "o200k", "cl100k")
NEGATIVE = (5, 7, 10)
"""Runs of digits, of signs and of spaces: their weights take back some."""
FOREIGN = 11
"""The first of the weights of what is not ASCII."""
USUAL = (1.0, 0.8, 0.4, 0.6, 0.6, 1.0, 0.9, 1.0, 1.0, 2.0)
"""What they are thought to weigh, before the few texts there are of each are looked at."""


def counted(text: str) -> dict[str, int]:
    tiktoken: Any = import_module("tiktoken")
    tokenizers: Any = import_module("tokenizers")
    claude = tokenizers.Tokenizer.from_file(str(_vocabularies() / "anthropic_tokenizer.json"))
    counts = {"claude": len(claude.encode(text, add_special_tokens=False).ids)}
    for name in FAMILIES[1:]:
        encoding = tiktoken.get_encoding(f"{name}_base")
        counts[name] = len(encoding.encode(text, disallowed_special=()))
    return counts


def _vocabularies() -> Path:
    spec = find_spec("litellm")
    assert spec is not None and spec.origin is not None, "see the top of this file"
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return folder


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in TEXTS.read_text("utf-8").splitlines()]


def write(texts: list[dict[str, Any]]) -> None:
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    TEXTS.write_text("".join(lines), "utf-8")


def fitted(texts: list[dict[str, Any]], family: str) -> list[float]:
    """Least squares of the relative error over every other text of a kind."""
    np: Any = import_module("numpy")
    lsq_linear: Any = import_module("scipy.optimize").lsq_linear
    from detent.context.tokens import features

    seen: Counter[str] = Counter()
    rows: list[list[int]] = []
    true: list[int] = []
    trust: list[float] = []
    for text in texts:
        seen[text["kind"]] += 1
        if seen[text["kind"]] % 2:
            found = features(text["text"])
            rows.append(found + [0] * (FOREIGN + len(USUAL) - len(found)))
            true.append(text["counts"][family])
            trust.append(0.3 if text["kind"] in ("base64", "digits", "spaces") else 1.0)
    matrix, counts, weight = np.array(rows, float), np.array(true, float), np.array(trust)
    prior = np.array([0.0] * FOREIGN + list(USUAL))
    pull = np.abs(matrix / counts[:, None]).mean(axis=0) * 0.02
    pull[:FOREIGN] = 1e-4
    lowest = [-3.0 if place in NEGATIVE else 0.0 for place in range(len(prior))]
    rough = np.ones(len(counts))
    for _ in range(20):
        scale = weight * rough / counts
        left = np.vstack([matrix * scale[:, None], np.diag(pull)])
        right = np.concatenate([counts * scale, pull * prior])
        weights = lsq_linear(left, right, (lowest, [6.0] * len(prior))).x
        error = np.abs(matrix @ weights - counts) * weight / counts
        rough = 1 / np.maximum(error, 0.08) ** 0.25  # what is far off pulls less
    weights *= 1 + (counts.sum() / (matrix @ weights).sum() - 1) / 2
    return [round(float(one), 3) for one in weights]


def main() -> None:
    texts = read()
    if "--fit" in sys.argv:
        sys.path.insert(0, str(ROOT / "src"))
        for family in FAMILIES:
            print(family, fitted(texts, family))
        return
    _vocabularies()
    write([text | {"counts": counted(text["text"])} for text in texts])


if __name__ == "__main__":
    main()
