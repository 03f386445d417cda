"""Hooks for library users: plain callables, sync or async."""

from detent.gate.hooks import (
    AfterCall,
    BeforeCall,
    Hook,
    HookAnswer,
    Stopping,
    Submitted,
)
from detent.gate.hooks import HookSet as Hooks

__all__ = ["AfterCall", "BeforeCall", "Hook", "HookAnswer", "Hooks", "Stopping", "Submitted"]
