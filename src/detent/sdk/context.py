"""What a session holds for its model: the ledger of a request, without asking anybody."""

from detent.app.looking import look, look_at_prompt
from detent.app.shortened import Shortened, StageTotal, shortened
from detent.types.ledger import ContextLedger, LedgerBlock, LedgerRow

__all__ = [
    "ContextLedger",
    "LedgerBlock",
    "LedgerRow",
    "Shortened",
    "StageTotal",
    "look",
    "look_at_prompt",
    "shortened",
]
