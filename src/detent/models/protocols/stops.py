"""Why a model stopped: the words of all wires → ours. A word that nobody explained is kept."""

from detent.types.errors import ModelFailure

_WORDS = {
    "end_turn": "end_turn stop",
    "max_tokens": "max_tokens length max_output_tokens model_length",
    "refusal": "refusal content_filter safety sensitive recitation blocklist prohibited_content"
    " spii language image_safety image_prohibited_content image_recitation model_armor",
    "tool_use": "tool_use tool_calls function_call",
}
_STOPS = {word: stop for stop, words in _WORDS.items() for word in words.split()}
_BROKEN = ("error", "abort", "insufficient_system_resource", "network_error", "other")
"""The answer did not end but broke off, and the server says so in the place of a reason."""


def stop_of(reason: str, otherwise: str = "") -> str:
    word = reason.lower()
    if word in _BROKEN:
        raise ModelFailure("server", f"the model stopped with {reason}")
    return _STOPS.get(word, otherwise or reason)
