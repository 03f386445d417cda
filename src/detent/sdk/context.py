"""What a session holds for its model: the ledger of a request, without asking anybody."""

from detent.app.looking import look
from detent.types.ledger import ContextLedger, LedgerBlock, LedgerRow

__all__ = ["ContextLedger", "LedgerBlock", "LedgerRow", "look"]
