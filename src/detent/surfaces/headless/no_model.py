"""What a person reads who has no model yet: what was found on this machine, and how to get one."""

from collections.abc import Sequence

from detent.sdk.local_models import INSTALL, Embedded, Found

MOST_NAMED = 3

WAYS = """\
Ways to get a model:

  A key:              export ANTHROPIC_API_KEY=…        (or OPENAI_API_KEY)
  A server of yours:  export OPENAI_BASE_URL=http://127.0.0.1:11434/v1
                      export OPENAI_MODEL=qwen3-coder   (Ollama, vLLM, llama.cpp, LM Studio …)
  The embedded one:   {embedded}
  None, to look on:   detent demo --scripted
"""


PULL = "detent models pull                (small, offline, 1.1 GB)"
USE = "--model embedded                  (small, offline, on this machine)"
SECOND_LINE = "\n                      "


def no_model(problem: str, servers: Sequence[Found], embedded: Embedded) -> str:
    parts = [f"detent: {problem}", *map(_offer, servers)]
    steps = [] if embedded == "ready" else [PULL]
    steps = [INSTALL, *steps] if embedded == "extra missing" else steps
    told = SECOND_LINE.join((*steps, USE))
    return "\n".join(parts) + "\n\n" + WAYS.format(embedded=told)


def _offer(server: Found) -> str:
    named = " or ".join(f"--model {model}" for model in server.models[:MOST_NAMED])
    more = len(server.models) - MOST_NAMED
    return f"found {server.title} on {server.address}: {named}" + (
        f" ({more} more: detent models)" if more > 0 else ""
    )
