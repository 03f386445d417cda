"""What a person reads who has no model yet."""

NO_MODEL = """\
detent: {problem}

Three ways to get a model:

  1. A key:            export ANTHROPIC_API_KEY=…        (or OPENAI_API_KEY)
  2. A server of yours: export OPENAI_BASE_URL=http://127.0.0.1:11434/v1
                        export OPENAI_MODEL=qwen3-coder  (Ollama, vLLM, llama.cpp, LM Studio …)
  3. A script, to try it without any model:
                        detent demo
"""
